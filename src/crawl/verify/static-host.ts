import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import type { FileEntry } from '../../domain/release.ts';
import { encodeSegments } from '../../web/escape.ts';
import { percentDecode, resolvePath } from '../../web/index.ts';
import type { FetchedAnswer } from '../fetch/guarded-answer.ts';
import type { AnswerRequest } from '../render/rendered-page.ts';

const HOST = 'written.localhost';
/** Browsers trust such a host as one with a certificate. */
export const WRITTEN_ORIGIN = `http://${HOST}`;

type HostAnswer =
  /** `isPlain`: any static host does it; else it takes docshelf, which finds `a.html` where `a` is asked for. */
  | { readonly kind: 'file'; readonly path: string; readonly isPlain: boolean }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'missing' };

/** As static hosts do: a file, a folder's `index.html`, or its slash; else as docshelf. @param path decoded */
export function resolveOnHost(files: ReadonlyMap<string, unknown>, path: string): HostAnswer {
  if (files.has(path)) return { kind: 'file', path, isPlain: true };
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (files.has(`${folder}index.html`)) {
    if (folder === path) return { kind: 'file', path: `${path}index.html`, isPlain: true };
    return { kind: 'redirect', location: `/${encodeURI(folder)}` };
  }
  const found = resolvePath(files, path, 'always');
  if (found.kind === 'file') return { kind: 'file', path: found.path, isPlain: false };
  return found.kind === 'redirect' ? found : { kind: 'missing' };
}

export class StaticHost {
  readonly #siteDir: string;
  readonly #files: ReadonlyMap<string, FileEntry>;
  readonly #onCleanUrl: (path: string) => void;

  /** @param onCleanUrl hears of paths that only docshelf answers */
  constructor(siteDir: string, files: readonly FileEntry[], onCleanUrl: (path: string) => void) {
    this.#siteDir = siteDir;
    this.#files = new Map(files.map((file) => [file.path, file]));
    this.#onCleanUrl = onCleanUrl;
  }

  readonly answer: AnswerRequest = async ({ url }) => {
    const { hostname, pathname } = new URL(url);
    if (hostname !== HOST) {
      throw new DocshelfError('address_not_allowed', `Cannot fetch "${url}": the network is cut off`);
    }
    const path = percentDecode(pathname)?.slice(1);
    const found = path === undefined ? ({ kind: 'missing' } as const) : resolveOnHost(this.#files, path);
    if (found.kind === 'redirect') return answerOf(301, { location: found.location });
    const file = found.kind === 'missing' ? undefined : this.#files.get(found.path);
    if (found.kind === 'missing' || file === undefined) return answerOf(404, { 'content-type': 'text/plain' });
    if (!found.isPlain) this.#onCleanUrl(pathname);
    return answerOf(200, { 'content-type': file.type }, await readFile(join(this.#siteDir, file.path)));
  };
}

export function addressOf(path: string): string {
  const shown = path.replace(/(^|\/)index\.html$/, '$1');
  return `${WRITTEN_ORIGIN}/${encodeSegments(shown)}`;
}

function answerOf(status: number, headers: Readonly<Record<string, string>>, body = new Uint8Array()): FetchedAnswer {
  return { status, header: (name) => headers[name] ?? null, body };
}
