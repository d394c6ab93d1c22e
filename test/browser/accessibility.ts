import type { Page } from 'playwright-core';

/**
 * What keeps a page from being read by everyone, one line each: rules of WCAG 2.2 that a program can see. Landmarks, heading
 * order, names, labels, ids, languages, contrast (1.4.3, 1.4.11 for inputs), sizes of targets (2.5.8), reflow (1.4.10).
 */
export function tellBreaches(page: Page): Promise<string[]> {
  return page.evaluate(READ);
}

/** Runs in the page. A string, since the tests have no types of the DOM. */
const READ = `(() => {
  const found = [];
  const tell = (element, what) => found.push(element.outerHTML.slice(0, 120).replace(/\\s+/g, ' ') + ': ' + what);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  if (!/^[a-z]{2,3}\\b/.test(document.documentElement.lang)) tell(document.documentElement, 'no language');
  for (const element of all('[lang]')) {
    try { Intl.getCanonicalLocales(element.lang); } catch { tell(element, 'a language that is none'); }
  }
  if (document.title.trim() === '') found.push('no title');
  if (/user-scalable\\s*=\\s*no|maximum-scale/.test(document.querySelector('meta[name=viewport]')?.content ?? '')) found.push('no zoom');
  for (const name of ['main', 'h1']) {
    const count = all(name).filter(isShown).length;
    if (count !== 1) found.push(count + ' times ' + name);
  }
  const ids = all('[id]').map(({ id }) => id);
  for (const id of ids.filter((each, at) => ids.indexOf(each) !== at)) found.push('id twice: ' + id);
  for (const attribute of ['aria-labelledby', 'aria-controls', 'aria-describedby', 'for']) {
    for (const element of all('[' + attribute + ']')) {
      for (const id of element.getAttribute(attribute).split(/\\s+/)) {
        if (document.getElementById(id) === null) tell(element, attribute + ' names no element');
      }
    }
  }
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6').filter(isShown)) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) tell(heading, 'skips a level');
    if (heading.textContent.trim() === '') tell(heading, 'is empty');
    level = next;
  }
  for (const image of all('img')) if (!image.hasAttribute('alt')) tell(image, 'no alternative text');
  for (const part of all('ul > :not(li), ol > :not(li), dl > :not(div, dt, dd), li:not(ul > li, ol > li)')) tell(part, 'breaks its list');
  for (const element of all('a, button, input').filter(isShown)) {
    const labels = [...(element.labels ?? [])].map((label) => label.textContent);
    const name = [element.getAttribute('aria-label'), ...labels, element.localName === 'input' ? '' : element.textContent].join('').trim();
    if (name === '') tell(element, 'no name');
    if (element.tabIndex !== 0) tell(element, 'out of the order of the keyboard');
    const { width, height } = element.getBoundingClientRect();
    const after = getComputedStyle(element, '::after');
    const isCard = after.content !== 'none' && after.position === 'absolute';
    if (!isCard && Math.min(width, height) < 24 && getComputedStyle(element).display !== 'inline') tell(element, 'a small target');
  }

  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return { channels: [red, green, blue], alpha };
  };
  const luminance = (channels) => {
    const [red, green, blue] = channels.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { channels, alpha } = parse(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return channels;
      if (alpha !== 0) tell(at, 'a ground that is half transparent');
    }
    return [255, 255, 255];
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === '' || !isShown(element) || element.localName === 'script') continue;
    const ratio = contrast(parse(getComputedStyle(element).color).channels, groundOf(element));
    if (ratio < 4.5) tell(element, 'contrast ' + ratio.toFixed(2));
    if (element.closest('main, header, footer, nav') === null) tell(element, 'outside of all landmarks');
  }
  for (const input of all('input').filter(isShown)) {
    const ratio = contrast(parse(getComputedStyle(input).borderTopColor).channels, groundOf(input.parentElement));
    if (ratio < 3) tell(input, 'an edge with contrast ' + ratio.toFixed(2));
  }
  if (document.documentElement.scrollWidth > innerWidth) {
    found.push('wider than the window: ' + document.documentElement.scrollWidth + ' of ' + innerWidth);
  }
  return found;
})()`;
