import type { IncomingHttpHeaders } from 'node:http';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import { isAssetPath } from '../web/media-type.ts';
import { type Body, type BodyCache, StreamCompressor } from './body-cache.ts';
import { type Encoding, FORMS, type Form } from './encoding.ts';
import { type Found, type Missing, requestFactsOf } from './found.ts';
import { NOTICES, type Notice, noticeResponse, protocolLine } from './notice.ts';
import { type ByteRange, evaluatePreconditions, matchesWeakly, requestedRange } from './preconditions.ts';
import { canonicalise, type SiteRequest } from './request.ts';
import type { Sibling } from './sibling.ts';
import {
  bytesResponse,
  type FastAnswer,
  FilePart,
  fileResponse,
  redirect,
  type SiteFileOnDisk,
  streamOf,
  toResponse,
  WHOLE_BYTES_MAX,
} from './site-bytes.ts';
import type { SiteFile } from './site-file.ts';
import type { SiteSnapshot } from './snapshot.ts';
import { LazyTransform } from './transform/make-file.ts';

export type { SearchBoxForm, SwitcherFiles, VersionSurvey } from './additions.ts';
export { BodyCache } from './body-cache.ts';
export { SiteLanguages } from './first-pages.ts';
export { isServiceWorkerScript } from './found.ts';
export { type PageMarkdownText, readMarkdown } from './markdown-pages/markdown-pages.ts';
export * from './notice.ts';
export type { PagePaths } from './page-paths.ts';
export type { SiteRequest } from './request.ts';
export { type FastAnswer, LargeResponse, redirect } from './site-bytes.ts';
export * from './site-switch.ts';
export type { SnapshotOptions, SnapshotSettings } from './snapshot.ts';
export { loadSiteRules, SiteSnapshot } from './snapshot.ts';
export { SamePages } from './versions/same-page.ts';

export interface ServeEvents {
  onCache?(hit: boolean): void;
  /** Called after a 503 response or a broken stream, with the error `cannot_read` or `release_damaged`. */
  onFault?(error: DocshelfError, requestId: string | null): void;
}

interface SnapshotReference {
  readonly current: SiteSnapshot | null;
}

type Answer = Response | Promise<Response>;

export class SiteServer {
  readonly #bodies: BodyCache;
  readonly #compressor: StreamCompressor;
  readonly #events: ServeEvents;
  readonly #site: SnapshotReference;

  constructor(bodies: BodyCache, site: SnapshotReference, events: ServeEvents = {}) {
    this.#bodies = bodies;
    this.#compressor = new StreamCompressor(bodies);
    this.#site = site;
    this.#events = events;
  }

  get current(): SiteSnapshot | null {
    return this.#site.current;
  }

  /** Response from memory to a GET request for a file: 200 or 304. Null if only `respond` can handle the request. */
  fastAnswer(target: string, headers: IncomingHttpHeaders): FastAnswer | null {
    if (headers.range !== undefined) return null;
    if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined) return null;
    const file = this.current?.prepared.fileAt(target);
    // Let `respond` handle requests for pages that name Markdown, which few clients do. It compares the weights of Markdown and
    // HTML.
    if (file === undefined || (file.isPage && /text\/markdown/i.test(headers.accept ?? ''))) return null;
    const wanted = FORMS[file.encodingFor(headers['accept-encoding'])];
    const known = headers['if-none-match'];
    if (known !== undefined && matchesWeakly(known, file.etag(wanted))) return file.notModified(wanted);
    const body = this.#bodies.get(file, wanted.encoding);
    if (body === undefined || body.bytes.length > WHOLE_BYTES_MAX) return null;
    this.#events.onCache?.(true);
    const isOther = body.tag !== wanted.tag;
    if (isOther && known !== undefined && matchesWeakly(known, file.etag(body))) return file.notModified(body);
    return file.whole(body);
  }

  /** Responds with 503 if a file cannot be read. @throws DocshelfError `no_bundle` if no version is active */
  respond(request: SiteRequest): Answer {
    const { method } = request;
    const snapshot = this.current;
    if (method !== 'GET' && method !== 'HEAD') {
      // Respond synchronously: if the rest of the request is malformed, the connection ends before a later response.
      return noticeResponse(request, { ...NOTICES.readOnly, language: snapshot?.languages.known('') ?? null });
    }
    if (snapshot === null) throw new DocshelfError('no_bundle', 'Cannot serve the site: no version is active');
    const target = canonicalise(request.target);
    if (target.kind === 'malformed') return this.#notice(NOTICES.malformed, '', request);
    const path = target.kind === 'path' ? target.path : null;
    const query = target.kind === 'path' ? target.query : '';
    const found = snapshot.find(path, requestFactsOf(request, query));
    const answer = (each: Found): Answer => {
      if (path !== null) this.#prepare(snapshot, request.target, path, each);
      return this.#found(each, path ?? '', request, snapshot);
    };
    if (!(found instanceof Promise)) return answer(found);
    return found.then(answer, (error: unknown) => this.#unreadable({ path: path ?? '' }, request, error));
  }

  #found(found: Found, path: string, request: SiteRequest, snapshot: SiteSnapshot): Answer {
    if (found.kind === 'redirect') return redirect(found.status, found.location);
    if (found.kind === 'missing') return this.#missing(found, path, request, snapshot);
    const { file } = found;
    return file instanceof LazyTransform ? this.#unmade(file, request) : this.#file(file, request);
  }

  /** Prepares a file for `fastAnswer`, unless other requests for its path may get another file, or the file is streamed. */
  #prepare(snapshot: SiteSnapshot, target: string, path: string, found: Found): void {
    if (found.kind !== 'file' || found.isPassing || found.file instanceof LazyTransform) return;
    if (this.#isStreamed(found.file)) return;
    snapshot.prepared.keepFile(target, path, found.file);
  }

  async #unmade(file: LazyTransform, request: SiteRequest): Promise<Response> {
    using client = request.client?.();
    try {
      return await this.#file(await file.make(this.#bodies, client?.signal), request);
    } catch (error) {
      return this.#unreadable(file, request, error, client?.signal);
    }
  }

  #file(file: SiteFile, request: SiteRequest): Answer {
    // Ranges apply to the uncompressed file, because a client could not resume a compressed download.
    const range = requestedRange(request, file.validators(FORMS.identity), file.size);
    if (range !== null) return this.#conditional(file, FORMS.identity, request) ?? this.#range(file, range, request);
    const encoding = file.encodingFor(request.header('accept-encoding'));
    // Check first for 304, which needs no body. Check all other conditions when the encoding of the body is certain.
    const conditional = this.#conditional(file, FORMS[encoding], request);
    if (conditional?.status === 304) return conditional;
    const body = this.#cached(file, encoding);
    if (body !== undefined) return this.#whole(file, body, request);
    if (this.#isStreamed(file)) return this.#streamed(file, encoding, request);
    return this.#bodies.load(file, encoding).then(
      (loaded) => this.#whole(file, loaded, request),
      (error: unknown) => this.#unreadable(file, request, error),
    );
  }

  /** Transformed files are never streamed, because they are not on disk. The transformation limits their size. */
  #isStreamed(file: SiteFile): boolean {
    return file.size > this.#bodies.bodyBytesMax && !file.isTransformed;
  }

  #cached(file: SiteFile, encoding: Encoding): Body | undefined {
    const body = this.#bodies.get(file, encoding);
    this.#events.onCache?.(body !== undefined);
    return body;
  }

  #conditional(file: SiteFile, form: Form, request: SiteRequest): Response | null {
    const verdict = evaluatePreconditions(request, file.validators(form));
    if (verdict === 'proceed') return null;
    if (verdict === 'not-modified') return toResponse(file.notModified(form), request.method);
    return protocolLine(request.method, 412, 'Precondition failed');
  }

  #whole(file: SiteFile, body: Body, request: SiteRequest): Response {
    const conditional = this.#conditional(file, body, request);
    if (conditional !== null) return conditional;
    return toResponse(file.whole(body), request.method);
  }

  async #streamed(file: SiteFile, wanted: Encoding, request: SiteRequest): Promise<Response> {
    try {
      const sibling = wanted === 'identity' ? null : await this.#bodies.siblingOf(file, wanted);
      if (sibling !== null) return await this.#sibling(file, sibling, request);
      const conditional = this.#conditional(file, FORMS[wanted], request);
      if (conditional !== null) return conditional;
      const part = request.method === 'HEAD' ? null : await this.#open(file, 0, file.size, request);
      const encoding = this.#compressor.isFull ? 'identity' : wanted;
      const headers = file.headers(FORMS[encoding], encoding === 'identity' ? file.size : null);
      if (part === null || encoding === 'identity') return fileResponse(part, { headers });
      return new Response(this.#compressor.compress(file, streamOf(part), encoding), { headers });
    } catch (error) {
      return this.#unreadable(file, request, error);
    }
  }

  async #sibling(file: SiteFile, sibling: Sibling, request: SiteRequest): Promise<Response> {
    const { onDisk, encoding } = sibling;
    if (onDisk.size <= this.#bodies.bodyBytesMax) {
      return this.#whole(file, await this.#bodies.load(file, encoding), request);
    }
    const conditional = this.#conditional(file, sibling, request);
    if (conditional !== null) return conditional;
    const part = request.method === 'HEAD' ? null : await this.#open(onDisk, 0, onDisk.size, request);
    return fileResponse(part, { headers: file.headers(sibling, onDisk.size) });
  }

  async #range(file: SiteFile, range: ByteRange | 'unsatisfiable', request: SiteRequest): Promise<Response> {
    if (range === 'unsatisfiable') {
      const headers = { 'Content-Range': `bytes */${file.size}`, 'Accept-Ranges': 'bytes' };
      return protocolLine('GET', 416, 'Range not satisfiable', headers);
    }
    const { start, length } = range;
    try {
      const cached =
        this.#cached(file, 'identity') ?? (file.isTransformed ? await this.#bodies.load(file, 'identity') : null);
      const bytes = cached?.bytes.subarray(start, start + length);
      const headers = {
        ...file.headers(FORMS.identity, length),
        'Content-Range': `bytes ${start}-${start + length - 1}/${file.size}`,
      };
      if (bytes !== undefined) return bytesResponse(bytes, { status: 206, headers });
      return fileResponse(await this.#open(file, start, length, request), { status: 206, headers });
    } catch (error) {
      return this.#unreadable(file, request, error);
    }
  }

  #open(file: SiteFileOnDisk, start: number, length: number, request: SiteRequest): Promise<FilePart> {
    const onFault = (fault: DocshelfError): void => this.#events.onFault?.(fault, request.id());
    return FilePart.open(file, { start, end: start + length, onFault });
  }

  async #missing(
    { page, isAsset }: Missing,
    path: string,
    request: SiteRequest,
    { languages, search }: SiteSnapshot,
  ): Promise<Response> {
    const own = async (): Promise<Response> => {
      const notice = { status: 404, words: 'notFound', language: await languages.at(path) } as const;
      return noticeResponse(request, isAsset ? { ...notice, form: 'line' } : { ...notice, form: 'page', search });
    };
    if (isAsset || page === null) return own();
    using client = request.client?.();
    try {
      const file = page instanceof LazyTransform ? await page.make(this.#bodies, client?.signal) : page;
      if (this.#isStreamed(file)) return own();
      const encoding = file.encodingFor(request.header('accept-encoding'));
      const body = this.#cached(file, encoding) ?? (await this.#bodies.load(file, encoding));
      return toResponse(file.missing(body), request.method);
    } catch (error) {
      return this.#unreadable(page, request, error, client?.signal);
    }
  }

  /** Responds to a file that cannot be read. The status is 503, not 404, because the file table lists the file. */
  #unreadable(
    { path }: Pick<SiteFile, 'path'>,
    request: SiteRequest,
    error: unknown,
    client?: AbortSignal,
  ): Promise<Response> {
    if (client?.aborted !== true) this.#events.onFault?.(toDocshelfError(error), request.id());
    const form = isAssetPath(path) ? 'line' : 'page';
    return this.#notice({ ...NOTICES.unavailable, form }, path, request);
  }

  async #notice(notice: Omit<Notice, 'language'>, path: string, request: SiteRequest): Promise<Response> {
    const language = await this.current?.languages.at(path);
    return noticeResponse(request, { ...notice, language: language ?? null });
  }
}
