import type { Hosting } from './live-site.ts';

/** A site of others that is mounted below a base path, and how its generator works in a browser. */
export interface MountedSite extends Omit<Hosting, 'base'> {
  readonly archive: string;
  readonly domain: string;
  /** Pages of every template, as classes and elements tell them apart. The second is where links are clicked. */
  readonly templates: readonly string[];
  /** Expression, true once the page's own scripts have taken it over. */
  readonly hasRun: string;
  /** Function of a path, with the base path, and of the base path, that shows a page as a link does; null: the browser loads documents. */
  readonly go: string | null;
  /** Where links are clicked, and how many. */
  readonly within: string;
  readonly clicks: number;
  /** The link to the first page. */
  readonly home?: string;
  /** Start of the paths of another application of the same site, a language: leading there loads a document. */
  readonly apps?: RegExp;
  /** What the console says at the root, too. */
  readonly known?: readonly string[];
}

export const MOUNTED_SITES: readonly MountedSite[] = [
  {
    archive: 'sphinx-manual.tar.gz',
    domain: 'sphinx',
    addresses: 'file',
    templates: ['', 'usage/configuration.html', 'extdev/appapi.html', 'genindex.html', 'search.html'],
    hasRun: "typeof Documentation === 'object' && typeof jQuery === 'function'",
    go: null,
    within: 'body',
    clicks: 3,
    known: ['file:///usr/share/javascript/mathjax'],
  },
  {
    archive: 'starlight.tar.zst',
    domain: 'starlight',
    addresses: 'slash',
    templates: [
      '',
      'guides/authoring-content/',
      'fa/guides/css-and-tailwind/',
      'zh-cn/guides/sidebar/',
      'zh-cn/resources/community-content/',
    ],
    hasRun: "['site-search', 'starlight-theme-select'].every((name) => customElements.get(name) !== undefined)",
    go: null,
    within: 'nav',
    clicks: 3,
    home: 'a.site-title',
  },
  {
    archive: 'nextjs-a-2024-06-01.tar.gz',
    domain: 'next',
    addresses: 'bare',
    templates: ['', 'middleware/builtin/basic-auth', 'ja', 'ja/guides/rpc'],
    hasRun: "Object.keys(document.querySelector('main')).some((key) => key.startsWith('__reactFiber'))",
    go: '(path, base) => window.next.router.push(path.slice(base.length - 1))',
    within: 'nav',
    clicks: 6,
    home: 'a.brand',
    apps: /^ja(?=\/|$)/,
  },
  {
    archive: 'vitepress-docs.zip',
    domain: 'vitepress',
    addresses: 'bare',
    templates: ['', 'guide/markdown', 'es/', 'es/reference/default-theme-team-page', 'fa/guide/using-vue'],
    hasRun: "document.querySelector('#app').__vue_app__ !== undefined",
    go: `(path) => {
      const link = document.body.appendChild(document.createElement('a'));
      link.href = path;
      link.click();
      link.remove();
    }`,
    within: 'aside',
    clicks: 6,
    home: '.VPNavBarTitle a',
  },
  {
    archive: 'docusaurus-classic.tar.gz',
    domain: 'docusaurus',
    addresses: 'bare',
    templates: [
      '',
      'blog/tags',
      'fr/blog/authors/yangshun',
      'fr/blog/welcome',
      'fr/docs/category/tutorial---extras',
      'fr/docs/next/tutorial-basics/markdown-features',
      'markdown-page',
    ],
    hasRun: "document.documentElement.dataset.hasHydrated === 'true'",
    // Its router follows the address.
    go: `(path) => {
      history.pushState({ key: path }, '', path);
      dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
    }`,
    within: 'body',
    clicks: 4,
    home: '.navbar__brand',
    apps: /^fr(?=\/|$)/,
  },
];
