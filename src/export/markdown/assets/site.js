// Loaded before the body, so that the first paint already uses the chosen theme.
const root = document.documentElement;
const ICONS = {
  light:
    'M10 3v2m0 10v2m7-7h-2M5 10H3m11.9-4.9-1.4 1.4M6.5 13.5l-1.4 1.4m9.8 0-1.4-1.4M6.5 6.5 5.1 5.1M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  dark: 'M16.5 11.7A6.8 6.8 0 0 1 8.3 3.5a6.8 6.8 0 1 0 8.2 8.2Z',
  system: 'M3.5 4.5h13v9h-13zM7.5 16.5h5M10 13.5v3',
};

function storedTheme() {
  try {
    const theme = localStorage.getItem('theme');
    return theme === 'light' || theme === 'dark' ? theme : 'system';
  } catch {
    return 'system'; // The browser can deny access to the storage.
  }
}

function applyTheme(theme) {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
}

function startThemeButton(button) {
  const order = ['system', 'light', 'dark'];
  let current = storedTheme();
  const show = () => {
    const label = `${button.dataset.label}: ${button.dataset[current]}`;
    button.innerHTML = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[current]}"/></svg>`;
    button.setAttribute('aria-label', label);
    button.title = label;
  };
  show();
  button.hidden = false;
  button.addEventListener('click', () => {
    current = order[(order.indexOf(current) + 1) % order.length];
    try {
      localStorage.setItem('theme', current);
    } catch {
      // Without access to the storage, the theme applies only to this page.
    }
    applyTheme(current);
    show();
  });
}

// Call it only if the clipboard is available: over HTTPS, or on this machine.
function startCopyButton(block) {
  const { copy, copied } = document.body.dataset;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = copy;
  const copyCode = async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
    }, 1600);
  };
  button.addEventListener('click', () => void copyCode());
  block.append(button);
}

// Marks the link to the current heading: the last heading in or above the upper third of the window.
function startContents(links) {
  const entries = links.map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  const mark = () => {
    const passed = entries.filter(([, heading]) => heading.getBoundingClientRect().top < innerHeight / 3);
    const atEnd = innerHeight + scrollY >= root.scrollHeight - 2;
    const [current] = (atEnd ? entries : passed).at(-1) ?? entries[0];
    for (const [link] of entries) link.toggleAttribute('data-current', link === current);
  };
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}

applyTheme(storedTheme());
addEventListener('DOMContentLoaded', () => {
  startThemeButton(document.querySelector('button.theme'));
  if (navigator.clipboard !== undefined) for (const block of document.querySelectorAll('.code')) startCopyButton(block);
  const links = [...document.querySelectorAll('.contents a')];
  if (links.length > 0) startContents(links);
  document.querySelector('.navigation [aria-current]')?.scrollIntoView({ block: 'nearest' });
});
