import type { Hosting } from './live-site.ts';

/** A corpus site as a live origin, and settings of its export. */
export interface CorpusSite extends Hosting {
  /** Name of the archive. */
  readonly name: string;
  /** Top-level folder of the archive with a slash, or empty. */
  readonly root: string;
  /** Files of the archive that do not belong to the site. */
  readonly launchers: readonly string[];
  readonly render: 'none' | 'chromium';
  /** Number of exported pages, spread evenly over the site. Null exports all. */
  readonly pagesMax: number | null;
  /** Addresses of pages without a link or sitemap entry, which a crawl cannot find. */
  readonly orphans: readonly string[];
  /** Another site of the same generator is enough for CI. */
  readonly isForSoak?: true;
}

const WHOLE = { root: '', base: '/', launchers: [], render: 'none', pagesMax: null, orphans: [] } as const;
/** A browser is slow, so few pages are rendered. */
const RENDERED = { render: 'chromium', pagesMax: 10 } as const;

const NEXT = { ...WHOLE, name: 'nextjs-a-2024-06-01.tar.gz', addresses: 'bare', orphans: ['/_not-found'] } as const;
const VITEPRESS = {
  ...WHOLE,
  name: 'vitepress-docs.zip',
  addresses: 'bare',
  orphans: ['', 'fa/', 'ko/', 'ru/', 'zh/'].flatMap((language) =>
    ['vitepress-0', 'vuepress'].map((from) => `/${language}guide/migration-from-${from}`),
  ),
} as const;
const DOCUSAURUS = { ...WHOLE, name: 'docusaurus-classic.tar.gz', addresses: 'bare' } as const;

export const CORPUS_SITES: readonly CorpusSite[] = [
  NEXT,
  {
    ...WHOLE,
    name: 'mixed-export.zip',
    addresses: 'slash',
    launchers: ['serve.js', 'Start Docs.bat', 'README.txt'],
    orphans: ['/_not-found/'],
  },
  VITEPRESS,
  { ...DOCUSAURUS, isForSoak: true },
  { ...WHOLE, name: 'starlight.tar.zst', addresses: 'slash' },
  {
    ...WHOLE,
    name: 'sphinx-manual.tar.gz',
    addresses: 'file',
    orphans: ['/development/tutorials/examples/README.html', '/py-modindex.html'],
  },
  { ...WHOLE, name: 'postgres-15.tar.gz', root: 'html/', base: '/docs/15/', addresses: 'file' },
  { ...NEXT, ...RENDERED, isForSoak: true },
  { ...DOCUSAURUS, ...RENDERED },
];
