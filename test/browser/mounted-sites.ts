import type { Hosting } from './live-site.ts';

/** A third-party site under a base path, with facts about its generator. */
export interface MountedSite extends Omit<Hosting, 'base'> {
  readonly archive: string;
  readonly domain: string;
  /** One page per template, which differ in classes and elements. Links are clicked on the second one. */
  readonly templates: readonly string[];
  /** Expression that is true after the scripts of the page have started. */
  readonly hasRun: string;
  /**
   * Function of a path with its base path, and of the base path. It shows a page like a link does. Null if the browser loads
   * documents.
   */
  readonly go: string | null;
  /** Selector of the clicked links, and their number. */
  readonly within: string;
  readonly clicks: number;
  /** Link to the first page. */
  readonly home?: string;
  /** Prefix of paths of another application on the site, such as a language. Links to it load a document. */
  readonly apps?: RegExp;
  /** Console errors that also occur at the root. */
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
    // One page is plain HTML, without the app.
    hasRun: "document.querySelector('#app') === null || document.querySelector('#app').__vue_app__ !== undefined",
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
    // The router of the site follows the address.
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
