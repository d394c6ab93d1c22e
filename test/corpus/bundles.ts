/** Facts about each real bundle, from its README and from reading it without docshelf. */
export interface KnownBundle {
  readonly name: string;
  /** Top-level folder with its slash, or empty. */
  readonly root: string;
  /** Files of the archive that do not belong to the site. */
  readonly launchers: readonly string[];
  readonly pages: number;
  /** Broken links of the original site, and the number of their targets. */
  readonly unresolved: readonly [links: number, targets: number];
  /** References to `file://` addresses, which work only on the machine that built the site. */
  readonly fileReferences: number;
  /** Minimum number of internal links. */
  readonly linksMin: number;
}

const PLAIN = { root: '', launchers: [], fileReferences: 0 };

export const NEXT_JUNE = 'nextjs-a-2024-06-01.tar.gz';
export const NEXT_JULY = 'nextjs-a-2024-07-15.tar.gz';

/** One site of each generator. The later version of the Next.js site is in `mixed-export.zip`. */
export const SITES: readonly KnownBundle[] = [
  { ...PLAIN, name: NEXT_JUNE, pages: 86, unresolved: [52, 21], linksMin: 5_632 },
  {
    ...PLAIN,
    name: 'mixed-export.zip',
    launchers: ['serve.js', 'Start Docs.bat', 'README.txt'],
    pages: 93,
    unresolved: [50, 20],
    linksMin: 6_368,
  },
  { ...PLAIN, name: 'vitepress-docs.zip', pages: 284, unresolved: [60, 6], linksMin: 14_376 },
  { ...PLAIN, name: 'docusaurus-classic.tar.gz', pages: 106, unresolved: [1, 1], linksMin: 3_328 },
  { ...PLAIN, name: 'starlight.tar.zst', pages: 222, unresolved: [0, 0], linksMin: 12_614 },
  {
    ...PLAIN,
    name: 'sphinx-manual.tar.gz',
    pages: 137,
    unresolved: [698, 23],
    fileReferences: 2,
    linksMin: 10_748,
  },
  {
    ...PLAIN,
    name: 'postgres-15.tar.gz',
    root: 'html/',
    pages: 1_169,
    unresolved: [1_169, 1],
    linksMin: 27_959,
  },
];
