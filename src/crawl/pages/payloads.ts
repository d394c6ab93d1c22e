/**
 * Files that a framework's scripts ask for beside a page when a reader goes on within the site, by the shapes that the
 * frameworks are known to use. No markup names them; one that is not there is missed by nobody.
 */
export function payloadsOf(pageUrl: string, bytes: Uint8Array): string[] {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!page.includes(IN_ALL_MARKS)) return [];
  const url = new URL(pageUrl);
  const names = SHAPES.flatMap(({ mark, namesOf }) => (page.includes(mark) ? namesOf(url.pathname, page) : []));
  return names.map((path) => url.origin + path);
}

/** Looked for first: most pages have none of the marks, and need not be searched for each. */
const IN_ALL_MARKS = '__';

interface Shape {
  /** Stands in every page that the framework made. */
  readonly mark: string;
  /** Paths of the files beside the page at `path`. */
  readonly namesOf: (path: string, page: Buffer) => string[];
}

const SHAPES: readonly Shape[] = [
  {
    // Next.js, app router: server components of the page, whole and by segment.
    mark: 'self.__next_f',
    namesOf: (path) => {
      const folder = folderOf(path);
      const whole = path.endsWith('/') ? `${path}index.txt` : `${stemOf(path)}.txt`;
      return [whole, ...['_tree', '_full', '_head', '_index'].map((name) => `${folder}__next.${name}.txt`)];
    },
  },
  {
    // Next.js, pages router.
    mark: '__NEXT_DATA__',
    namesOf: (path, page) => {
      const buildId = /"buildId":"([\w-]{1,64})"/.exec(page.toString('latin1'))?.[1];
      return buildId === undefined
        ? []
        : [`/_next/data/${buildId}${stemOf(path) === '/' ? '/index' : stemOf(path)}.json`];
    },
  },
  // Nuxt.
  { mark: '__NUXT', namesOf: (path) => [`${folderOf(path)}_payload.json`] },
  // SvelteKit.
  { mark: '__sveltekit_', namesOf: (path) => [`${folderOf(path)}__data.json`] },
  // React Router and Remix with single fetch.
  {
    mark: '__reactRouterContext',
    namesOf: (path) => [stemOf(path) === '/' ? '/_root.data' : `${stemOf(path)}.data`],
  },
  // Gatsby.
  {
    mark: '___gatsby',
    namesOf: (path) => [
      '/page-data/app-data.json',
      `/page-data${stemOf(path) === '/' ? '/index' : stemOf(path)}/page-data.json`,
    ],
  },
];

/** `/a` for `/a`, `/a/`, `/a.html` and `/a/index.html`; `/` for the root. */
function stemOf(path: string): string {
  const stem = path
    .replace(/\/index\.html?$/i, '/')
    .replace(/\.html?$/i, '')
    .replace(/\/$/, '');
  return stem === '' ? '/' : stem;
}

/** The folder that has the page's name. */
function folderOf(path: string): string {
  return stemOf(path) === '/' ? '/' : `${stemOf(path)}/`;
}
