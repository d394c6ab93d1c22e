import type { Hosting } from './live-site.ts';

/** A site of the corpus as a live origin, and how it is exported. */
export interface CorpusSite extends Hosting {
  /** Of the archive. */
  readonly name: string;
  /** The wrapping folder in the archive, with its slash, or empty. */
  readonly root: string;
  /** Files of the archive that are not part of the site. */
  readonly launchers: readonly string[];
  readonly render: 'none' | 'chromium';
  /** Pages that the export is limited to, evenly over all of them; null: the whole site. */
  readonly pagesMax: number | null;
  /** Addresses of pages that no link, no sitemap and no list of the site leads to: nobody can know of them. */
  readonly orphans: readonly string[];
  /** CI exports its generator's sites the other way. */
  readonly isForSoak?: true;
}

const WHOLE = { root: '', base: '/', launchers: [], render: 'none', pagesMax: null, orphans: [] } as const;
/** A browser takes its time, and so do two of them beside it. */
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
