/** These functions run in the page, in an isolated world. Each is sent as text, so it must not use outside names. */

interface SnapshotBounds {
  readonly htmlCharactersMax: number;
  readonly textCharactersMax: number;
  readonly linksMax: number;
}

/** Loads lazy parts: scrolls by screens for intersection observers, and wakes lazy pictures and frames. */
export async function scrollToEnd(stepsMax: number): Promise<void> {
  // A busy machine may take a second per frame. A page that is not drawn has no frames, so wait only once.
  let frameMsMax = 2_000;
  // Observers see only the position at layout, so scroll once per frame.
  const inNextFrame = (act: () => void) =>
    new Promise<void>((resolve) => {
      const run = () => {
        clearTimeout(timer);
        cancelAnimationFrame(frame);
        act();
        resolve();
      };
      const timer = setTimeout(() => {
        frameMsMax = 100;
        run();
      }, frameMsMax);
      const frame = requestAnimationFrame(run);
    });
  const wakeLazy = () => {
    for (const element of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) {
      const written = element.getAttribute('loading') ?? 'lazy';
      element.setAttribute('loading', 'eager');
      element.setAttribute('loading', written);
    }
  };
  wakeLazy();
  for (let step = 0, before = -1; step < stepsMax; step++) {
    const root = document.scrollingElement;
    if (root === null || root.scrollTop === before) break;
    before = root.scrollTop;
    await inNextFrame(() => root.scrollTo({ top: before + innerHeight, behavior: 'instant' }));
  }
  wakeLazy();
  document.scrollingElement?.scrollTo({ top: 0, behavior: 'instant' });
}

export function untilUnchanged(quietMs: number, msMax: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let changedAt = startedAt;
    const observer = new MutationObserver(() => {
      changedAt = performance.now();
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
    const look = () => {
      const now = performance.now();
      if (now - changedAt < quietMs && now - startedAt < msMax) {
        setTimeout(look, quietMs / 4);
        return;
      }
      observer.disconnect();
      resolve();
    };
    setTimeout(look, quietMs);
  });
}

/** Counts the page's own time, because a stalled page is not quiet. */
export const tick = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function snapshot({ htmlCharactersMax, textCharactersMax, linksMax }: SnapshotBounds) {
  const roots: ShadowRoot[] = [];
  const collect = (within: Document | ShadowRoot) => {
    for (const element of within.querySelectorAll('*')) {
      if (element.shadowRoot === null) continue;
      roots.push(element.shadowRoot);
      collect(element.shadowRoot);
    }
  };
  collect(document);

  const { doctype, documentElement, body } = document;
  const start =
    doctype === null
      ? ''
      : `<!DOCTYPE ${doctype.name}${doctype.publicId === '' ? '' : ` PUBLIC "${doctype.publicId}"`}${
          doctype.systemId === '' ? '' : `${doctype.publicId === '' ? ' SYSTEM' : ''} "${doctype.systemId}"`
        }>\n`;
  // outerHTML has the document's tag, which getHTML omits.
  const tag = (documentElement?.cloneNode(false) as Element | undefined)?.outerHTML ?? '';
  const end = tag.lastIndexOf('</');
  const html = `${start}${tag.slice(0, end)}${documentElement?.getHTML({ shadowRoots: roots }) ?? ''}${tag.slice(end)}\n`;

  const texts = [body?.innerText ?? ''];
  for (const root of roots) {
    // Elements without layout return raw text that nobody reads.
    for (const child of root.children)
      if (child instanceof HTMLElement && !child.matches('style, script, template')) texts.push(child.innerText);
  }
  const links = new Set<string>();
  for (const anchor of document.querySelectorAll('a[href], area[href]')) {
    const { href } = anchor as HTMLAnchorElement | HTMLAreaElement;
    if (/^https?:/.test(href)) links.add(href.replace(/#.*$/, ''));
    if (links.size === linksMax) break;
  }
  return {
    html: html.length > htmlCharactersMax ? null : html,
    text: texts.join('\n').slice(0, textCharactersMax),
    links: [...links],
  };
}
