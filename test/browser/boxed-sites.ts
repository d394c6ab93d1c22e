import { MOUNTED_SITES, type MountedSite } from './mounted-sites.ts';

/** A third-party site, a query for its search box, and the expected results. */
export interface BoxedSite extends Pick<MountedSite, 'archive' | 'domain' | 'hasRun' | 'go'> {
  /** First page of the reader, and a page that the site's own scripts open. */
  readonly start: string;
  readonly other: string;
  /** Element that contains the link on a wide screen. On pages of unknown themes, the link precedes the title. */
  readonly room: string;
  readonly query: string;
  /** Paths of the first two results. */
  readonly found: readonly [string, string];
  readonly rightToLeft?: { readonly start: string; readonly query: string; readonly found: string };
}

const mounted = (domain: string): MountedSite => MOUNTED_SITES.find((site) => site.domain === domain) as MountedSite;
const NEXT = mounted('next');
const BASIC_AUTH = 'middleware/builtin/basic-auth';

/** Ordered by size, so that the small ones are indexed first. */
export const BOXED_SITES: readonly BoxedSite[] = [
  {
    ...mounted('docusaurus'),
    start: 'blog/tags',
    other: 'markdown-page',
    room: '.navbar__items--right',
    query: 'start your localized site',
    found: [
      'docs/tutorial-extras/translate-your-site#start-your-localized-site',
      'docs/tutorial-extras/translate-your-site#build-your-localized-site',
    ],
  },
  {
    ...mounted('sphinx'),
    start: 'usage/configuration.html',
    other: 'genindex.html',
    room: ':has(> docshelf-search + h1)',
    query: 'numbered figures',
    found: [
      'usage/restructuredtext/roles.html#role-numref',
      'usage/restructuredtext/roles.html#cross-referencing-figures-by-figure-number',
    ],
  },
  {
    ...NEXT,
    start: 'guides/rpc',
    other: BASIC_AUTH,
    room: ':has(> docshelf-search + h1)',
    query: 'basic auth middleware',
    found: [`${BASIC_AUTH}#basic-auth-middleware`, `${BASIC_AUTH}#import`],
  },
  {
    ...NEXT,
    domain: 'mixed',
    archive: 'mixed-export.zip',
    start: 'guides/rpc/',
    other: `${BASIC_AUTH}/`,
    room: ':has(> docshelf-search + h1)',
    query: 'basic auth middleware',
    found: [`${BASIC_AUTH}/#basic-auth-middleware`, `${BASIC_AUTH}/#import`],
  },
  {
    ...mounted('vitepress'),
    start: 'guide/markdown',
    other: 'reference/site-config',
    room: '.content-body',
    query: 'line highlighting code',
    found: ['guide/markdown#line-highlighting-in-code-blocks', 'guide/markdown#import-code-snippets'],
    rightToLeft: { start: 'fa/guide/using-vue', query: 'cleanurls', found: 'fa/reference/site-config#cleanurls' },
  },
  {
    ...mounted('starlight'),
    start: 'guides/authoring-content/',
    other: '',
    room: '.right-group',
    query: 'code block line markers',
    found: ['guides/authoring-content/#text-markers', 'guides/authoring-content/#expressive-code-features'],
    rightToLeft: {
      start: 'fa/guides/css-and-tailwind/',
      query: 'tailwind',
      found: 'fa/guides/css-and-tailwind/#tailwind-css',
    },
  },
  {
    archive: 'postgres-15.tar.gz',
    domain: 'postgres',
    hasRun: "document.readyState === 'complete'",
    go: null,
    start: 'sql-lock.html',
    other: '',
    room: 'body',
    query: 'row locking deadlock',
    found: ['explicit-locking.html#LOCKING-DEADLOCKS', 'explicit-locking.html#LOCKING-ROWS'],
  },
];
