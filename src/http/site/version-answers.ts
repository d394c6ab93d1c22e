import { VERSION_ADDRESSES } from '../../domain/release.ts';
import { isVersion } from '../../domain/version.ts';
import { redirect, type SiteRequest, type SiteServer } from '../../site/index.ts';
import { percentDecode, withoutHost } from '../../web/escape.ts';
import { withoutPass } from './preview-passes.ts';

/** Entry of `versions.json`, in the format of mike (MkDocs). */
export interface ListedVersion {
  readonly version: string;
  readonly title: string;
  readonly aliases: readonly string[];
}

export type OpenedVersion =
  | { readonly kind: 'active' }
  /** The reader opened a valid preview link. `cookie` gives the reader access to all pages of this version. */
  | { readonly kind: 'preview'; readonly cookie: string }
  | {
      readonly kind: 'kept';
      readonly server: Pick<SiteServer, 'respond'>;
      /** True for a staged version, which only readers with a preview link can see. Lists and caches must not contain it. */
      readonly isStaged: boolean;
      /** Percent-encoded address of a page in the active version. Null if the page does not exist there. @param path decoded path */
      readonly canonical: (path: string) => Promise<string | null>;
    };

export interface VersionSource {
  list(): Promise<readonly ListedVersion[]>;
  /** Opens a version for a reader. Null if the version does not exist, or the reader must not know that it exists. */
  open(version: string, request: SiteRequest): Promise<OpenedVersion | null>;
  /** Returns the encoded path of a page in version `to`. Null if a version is hidden. @param path decoded path without leading slash */
  samePage(path: string, from: string, to: string, request: SiteRequest): Promise<string | null>;
}

/** Query parameter of a link to another version. Contains the version from which the reader switches. */
const FROM = 'docshelf-from';

const ADDRESS = /^([^/?#]*)(\/[^?#]*)?(\?[^#]*)?/;

/** Serves pages of a version. Null if the site must respond with its 404. @param request GET or HEAD under the base path */
export async function versionAnswer(
  request: SiteRequest,
  source: VersionSource,
  basePath: string,
  onVersion: (version: string) => void = () => undefined,
): Promise<Response | null> {
  const own = request.target.slice(request.target.indexOf(VERSION_ADDRESSES) + VERSION_ADDRESSES.length);
  const [, written = '', path, query = ''] = ADDRESS.exec(own) ?? [];
  const version = percentDecode(written);
  if (version === null || !isVersion(version)) return null;
  const opened = await source.open(version, request);
  if (opened === null) return null;
  const root = `${basePath}${VERSION_ADDRESSES.slice(1)}${version}`;
  const from = new URLSearchParams(query).get(FROM);
  if (opened.kind !== 'preview' && from !== null) {
    const asked = percentDecode(path ?? '')?.slice(1) ?? '';
    const page = isVersion(from) ? await source.samePage(asked, from, version, request) : null;
    const target = withoutHost(page ?? path ?? '');
    if (opened.kind === 'active') return redirect(302, `${basePath}${target}`);
    return marked(redirect(302, `${root}/${target}`), opened);
  }
  if (opened.kind === 'active') return redirect(302, `${basePath}${withoutHost(path ?? '')}${withoutPass(query)}`);
  if (opened.kind === 'preview') return previewing(redirect(302, `${root}${path ?? '/'}${withoutPass(query)}`), opened);
  // Redirect to the canonical address, because scripts on a page compare the page's address with a base path that they contain.
  if (path === undefined || written !== version) return marked(redirect(308, `${root}${path ?? '/'}${query}`), opened);
  const answer = await opened.server.respond({ ...request, target: `${path}${query}` });
  onVersion(version);
  const isDocument = answer.status === 200 && answer.headers.get('Content-Type')?.startsWith('text/html') === true;
  const canonical = isDocument ? await opened.canonical(percentDecode(path)?.slice(1) ?? '') : null;
  if (canonical !== null) answer.headers.append('Link', `<${canonical}>; rel="canonical"`);
  return marked(answer, opened);
}

function previewing(answer: Response, { cookie }: OpenedVersion & { kind: 'preview' }): Response {
  answer.headers.append('Set-Cookie', cookie);
  answer.headers.set('Cache-Control', 'no-store');
  answer.headers.set('Referrer-Policy', 'no-referrer');
  return answer;
}

function marked(answer: Response, { isStaged }: OpenedVersion & { kind: 'kept' }): Response {
  answer.headers.set('X-Robots-Tag', 'noindex');
  if (isStaged) answer.headers.set('Cache-Control', 'no-store');
  return answer;
}
