import { beforeAll, describe, expect, it } from 'vitest';
import { isPage } from '../../src/domain/release.ts';
import { type ExtractedPage, extractPage } from '../../src/search/extract/extract-page.ts';
import { PageForms, readerUrl } from '../../src/search/extract/reader-url.ts';
import { resolvePath } from '../../src/web/resolve.ts';
import { TrailingSlashVotes } from '../../src/web/trailing-slash.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { readArchive } from '../helpers/read-archive.ts';

/** Known facts about the pages of each real bundle. */
interface Known {
  readonly name: string;
  readonly root: string;
  /** Number of pages with sections: all except errors, listings, indexes, and pages with noindex. */
  readonly pages: number;
  /** Minimum and maximum number of sections: headings in the content, without those that have no text. */
  readonly sections: readonly [min: number, max: number];
  readonly languages: readonly (string | null)[];
  readonly versions: readonly (string | null)[];
  /** Title by the address of a page. */
  readonly titles: Readonly<Record<string, string>>;
  /** Text around the content of each page, which no section may contain. */
  readonly around: readonly string[];
  /** Words by address, from places that extraction might miss. */
  readonly inside: Readonly<Record<string, readonly string[]>>;
}

const NEXT = {
  root: '',
  languages: ['en', 'ja'],
  versions: [null],
  around: [
    'Documentation',
    'Theme',
    '日本語',
    'On this page',
    'Acme Web Docs',
    '⧉',
    'Search docs…',
    'このページの内容',
  ],
};

const BUNDLES: readonly Known[] = [
  {
    ...NEXT,
    name: 'nextjs-a-2024-06-01.tar.gz',
    pages: 84,
    sections: [820, 920],
    titles: {
      '/guides/rpc': 'RPC',
      '/': 'Hono',
      '/api': 'API',
      '/ja/guides/rpc': 'RPC',
      '/getting-started/basic': 'Getting Started',
    },
    inside: { '/guides/rpc': ['zValidator(', 'const res = await client.posts.$post({', 'const client = hc<AppType>('] },
  },
  {
    ...NEXT,
    name: 'mixed-export.zip',
    pages: 90,
    sections: [880, 980],
    titles: { '/guides/rpc/': 'RPC', '/': 'Hono', '/api/': 'API' },
    inside: {},
  },
  {
    name: 'vitepress-docs.zip',
    root: '',
    pages: 282,
    sections: [2_400, 2_700],
    languages: ['en-US', 'es', 'fa-IR', 'ja', 'ko-KR', 'pt-BR', 'ru-RU', 'zh-Hans'],
    versions: [null],
    titles: {
      '/guide/getting-started': 'Getting Started',
      '/zh/guide/markdown': 'Markdown 扩展',
      '/ja/guide/getting-started': 'はじめに',
      '/reference/site-config': 'Site Config',
      '/': 'VitePress Vite & Vue Powered Static Site Generator',
    },
    around: [
      'On this page',
      'Edit this page on GitHub',
      'Previous page',
      'Next page',
      'Skip to content',
      'Return to top',
      'Appearance',
      'Pager',
    ],
    inside: {
      '/guide/getting-started': [
        'pnpm add -D vitepress@next',
        'yarn add -D vitepress@next',
        'VitePress is an ESM-only package',
      ],
    },
  },
  {
    name: 'docusaurus-classic.tar.gz',
    root: '',
    pages: 86,
    sections: [240, 290],
    languages: ['en', 'fr'],
    versions: [null, '1.0', '2.0', 'current'],
    titles: {
      '/docs/intro': 'Tutorial Intro',
      '/docs/1.0/tutorial-basics/markdown-features': 'Markdown Features',
      '/fr/docs/category/tutorial---basics': 'Tutorial - Basics',
      '/blog/mdx-blog-post': 'MDX Blog Post',
      '/': 'Hello from My Site',
    },
    around: [
      'On this page',
      'Edit this page',
      'Previous',
      'Next',
      'Version: 1.0',
      'Skip to main content',
      'Modifier cette page',
      'Tags:',
      'Sébastien Lorber',
    ],
    inside: {
      '/docs/1.0/tutorial-basics/markdown-features': [
        'title: My document title',
        "      borderRadius: '20px',",
        'This action is dangerous',
      ],
    },
  },
  {
    name: 'starlight.tar.zst',
    root: '',
    pages: 216,
    sections: [2_600, 2_850],
    languages: ['de', 'en', 'fa', 'fr', 'ja', 'zh-CN'],
    versions: [null],
    titles: {
      '/getting-started/': 'Getting Started',
      '/ja/guides/authoring-content/': 'Markdownでのコンテンツ作成',
      '/guides/site-search/': 'Site Search',
      '/components/file-tree/': 'File Tree',
      '/': 'Make your docs shine with Starlight',
    },
    around: [
      'On this page',
      'Edit page',
      'Previous',
      'Next',
      'Skip to content',
      'Terminal window',
      'Overview',
      'Auf dieser Seite',
      'Copy to clipboard',
    ],
    inside: {
      '/getting-started/': [
        'pnpm create astro --template starlight',
        'yarn create astro --template starlight',
        'See it in action',
      ],
    },
  },
  {
    name: 'sphinx-manual.tar.gz',
    root: '',
    pages: 94,
    sections: [1_900, 2_100],
    languages: ['en'],
    versions: [null],
    titles: {
      '/usage/configuration.html': 'Configuration',
      '/usage/extensions/autodoc.html': 'sphinx.ext.autodoc – Include documentation from docstrings',
      '/': 'Welcome',
      '/tutorial/': 'Build your first project',
    },
    around: ['Quick search', 'On this page', 'Site navigation', 'Navigation', '¶', '[source]'],
    inside: { '/usage/configuration.html': ['project_copyright', 'An alias of copyright.'] },
  },
  {
    name: 'postgres-15.tar.gz',
    root: 'html/',
    pages: 1_168,
    sections: [5_000, 5_200],
    languages: [null],
    versions: [null],
    titles: {
      '/sql-select.html': 'SELECT',
      '/runtime-config-connection.html': '20.3. Connections and Authentication',
      '/admin.html': 'Part III. Server Administration',
      '/': 'PostgreSQL 15.20 Documentation',
      '/acronyms.html': 'Appendix L. Acronyms',
    },
    around: ['Prev', 'Next', 'Home', 'Up', 'Table of Contents'],
    inside: {
      '/datatype.html': ['bigint · int8 · signed eight-byte integer'],
      '/acronyms.html': ['American National Standards Institute'],
    },
  },
];

/** Anchors in the markup of a page, without the parser's tree. */
function anchorsOf(html: string): Set<string> {
  const names = [...html.matchAll(/\s(?:id|name)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g)];
  return new Set(
    names.map(([, quoted, apostrophed, bare]) =>
      (quoted ?? apostrophed ?? bare ?? '').replaceAll('&amp;', '&').replaceAll('&#64;', '@'),
    ),
  );
}

describe.skipIf(corpus === undefined).each(BUNDLES)(`the search sections of the site $name${whyNoCorpus}`, (known) => {
  const pages = new Map<string, { readonly extracted: ExtractedPage; readonly path: string; readonly html: string }>();
  const files = new Set<string>();
  let trailingSlash: ReturnType<TrailingSlashVotes['decide']>;

  beforeAll(async () => {
    const archive = await readArchive(bundleFile(known.name));
    for (const path of archive.keys()) files.add(path.slice(known.root.length));
    const markup = new Map(
      [...archive].flatMap(([path, bytes]) =>
        isPage(path) ? [[path.slice(known.root.length), bytes.toString('utf8')]] : [],
      ),
    );
    const slashes = new TrailingSlashVotes(files);
    const forms = new PageForms(files);
    for (const [path, html] of markup) {
      slashes.addPage(path, html);
      // Some pages are enough to find the form of a site's addresses.
      if (path.length % 5 === 0) forms.addPage(path, html);
    }
    trailingSlash = slashes.decide();
    for (const [path, html] of markup) {
      const url = readerUrl(path, { trailingSlash, extension: forms.extension() }, files);
      const extracted = extractPage({ path, html, url });
      if (extracted !== null) pages.set(url, { extracted, path, html });
    }
  });

  const sections = () => [...pages.values()].flatMap(({ extracted }) => extracted.sections);

  it('have the expected number, and all have text', () => {
    const [min, max] = known.sections;
    expect(pages.size).toBe(known.pages);
    expect(sections().length).toBeGreaterThan(min);
    expect(sections().length).toBeLessThan(max);
    expect(sections().filter(({ text, title }) => text.trim() === '' || title === '')).toEqual([]);
  });

  it('have the languages and versions of their pages', () => {
    const distinct = (values: (string | null)[]) =>
      [...new Set(values)].sort((a, b) => (a ?? '').localeCompare(b ?? ''));
    expect(distinct(sections().map(({ language }) => language))).toEqual(known.languages);
    expect(distinct(sections().map(({ version }) => version))).toEqual(known.versions);
  });

  it('have the titles that readers see on their pages', () => {
    const titles = Object.keys(known.titles).map((url) => [url, pages.get(url)?.extracted.title]);
    expect(Object.fromEntries(titles)).toEqual(known.titles);
  });

  it('have the paths of their pages, and fragments that exist on these pages', () => {
    const wrong: string[] = [];
    for (const { extracted, path, html } of pages.values()) {
      const anchors = anchorsOf(html);
      for (const section of extracted.sections) {
        const [page = '', fragment] = section.path.split('#').map(decodeURIComponent);
        const resolution = resolvePath(files, page.slice(1), trailingSlash);
        if (resolution.kind !== 'file' || resolution.path !== path) wrong.push(`${section.path}: not ${path}`);
        if (fragment !== undefined && !anchors.has(fragment)) wrong.push(`${section.path}: no such anchor`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('contain no text of navigation, headers or footers', () => {
    const around = new Set(known.around);
    const leaked = sections().flatMap(({ path, text, headings }) =>
      [...text.split('\n'), ...headings]
        .filter((line) => around.has(line.replace(/^- /, '').trim()))
        .map((line) => `${path}: ${line}`),
    );
    expect(leaked).toEqual([]);
  });

  it('contain code, tabs, tables and notes', () => {
    const lost = Object.entries(known.inside).flatMap(([url, words]) => {
      const text =
        pages
          .get(url)
          ?.extracted.sections.map((section) => section.text)
          .join('\n') ?? '';
      return words.filter((word) => !text.includes(word)).map((word) => `${url}: ${word}`);
    });
    expect(lost).toEqual([]);
  });
});
