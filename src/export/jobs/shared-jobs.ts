import { hash } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { FileEntry } from '../../domain/release.ts';
import { FileStore } from '../../files/file-store.ts';
import { namesIn, readBytesIfThere } from '../../files/index.ts';
import { Lanes } from '../../files/lanes.ts';
import type { ExportsFolder } from '../exports-folder.ts';
import { ManifestStore, wordsOf } from '../manifest-store.ts';
import type { SharedFiles } from '../ports.ts';
import { readSiteTable } from './collect.ts';

/** Number of concurrent requests to the shared store: enough to hide a latency of about 10 ms per request. */
const LANES = 16;

const manifestName = (contentSha256: string): string => `manifests/${contentSha256}.json`;
const fileName = (sha256: string): string => `files/${sha256}`;

type Files = readonly Pick<FileEntry, 'sha256' | 'size'>[];

export class SharedJobs {
  readonly #shared: SharedFiles;
  readonly #folder: ExportsFolder;
  readonly #files: FileStore;
  readonly #manifests: ManifestStore;

  constructor(shared: SharedFiles, folder: ExportsFolder) {
    this.#shared = shared;
    this.#folder = folder;
    this.#files = new FileStore(folder.files);
    this.#manifests = new ManifestStore(folder.manifests);
  }

  async keepSite(tableSha256: string, last: string | null, signal: AbortSignal): Promise<void> {
    const { files } = await readSiteTable(this.#files, tableSha256);
    await this.#keepFiles(files, last, signal);
    await this.#keep(fileName(tableSha256), this.#files.pathOf(tableSha256), signal);
  }

  async fetchSite(tableSha256: string, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#fetchFile(tableSha256, signal))) return false;
    const { files } = await readSiteTable(this.#files, tableSha256);
    return this.#fetchFiles(files, signal);
  }

  /** Stores a job's manifest and files for all daemons. If a manifest for the same content is already stored, uses that manifest. */
  async keepContent(contentSha256: string, last: string | null, signal: AbortSignal): Promise<void> {
    const own = await this.#manifests.read(contentSha256);
    const theirs = await this.readFile(manifestName(contentSha256), signal);
    if (theirs !== null) await this.#manifests.keep(contentSha256, theirs);
    await this.#keepFiles(filesOf(theirs ?? own), last, signal);
    await this.#keep(manifestName(contentSha256), join(this.#folder.dir, manifestName(contentSha256)), signal);
  }

  async fetchContent(contentSha256: string, signal: AbortSignal): Promise<void> {
    await this.#fetchFiles(filesOf(await this.#manifest(contentSha256, signal)), signal);
  }

  async keepPictures(jobId: string, signal: AbortSignal): Promise<void> {
    for (const name of await namesIn(join(this.#folder.pictures, jobId)))
      await this.keepFile(`pictures/${jobId}/${name}`, signal);
  }

  keepFile(name: string, signal: AbortSignal): Promise<void> {
    return this.#keep(name, join(this.#folder.dir, name), signal);
  }

  async readFile(name: string, signal: AbortSignal): Promise<Buffer<ArrayBuffer> | null> {
    const chunks = await this.#shared.read(name, signal);
    return chunks === null ? null : buffer(chunks);
  }

  remove(name: string): Promise<void> {
    return this.#shared.remove(name);
  }

  async sweep(
    contents: ReadonlySet<string>,
    isGone: (jobId: string) => Promise<boolean>,
    olderThanMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const named = new Set<string>();
    for (const contentSha256 of contents) {
      for (const { sha256 } of filesOf(await this.#manifest(contentSha256, signal))) named.add(sha256);
    }
    const beforeMs = Date.now() - olderThanMs;
    for await (const { name, changedMs } of this.#shared.list('files/')) {
      if (changedMs < beforeMs && !named.has(name)) await this.#shared.remove(fileName(name));
    }
    for await (const { name, changedMs } of this.#shared.list('manifests/')) {
      if (changedMs < beforeMs && !contents.has(name.replace(/\.json$/, ''))) await this.remove(`manifests/${name}`);
    }
    for await (const { name } of this.#shared.list('pictures/')) {
      if (await isGone(name.replace(/\/.*$/s, ''))) await this.remove(`pictures/${name}`);
    }
  }

  async #keepFiles(files: Files, last: string | null, signal: AbortSignal): Promise<void> {
    const known = new Set(last === null ? [] : filesOf(await this.#manifest(last, signal)).map(({ sha256 }) => sha256));
    await using lanes = new Lanes(LANES);
    for (const { sha256, size } of files) {
      if (known.has(sha256)) continue;
      known.add(sha256);
      const bytes = { sha256, sizeBytes: size, file: this.#files.pathOf(sha256) };
      await lanes.run(() => this.#shared.put(fileName(sha256), bytes, signal));
    }
    await lanes.drain();
  }

  async #fetchFiles(files: Files, signal: AbortSignal): Promise<boolean> {
    let isWhole = true;
    await using lanes = new Lanes(LANES);
    for (const { sha256 } of files) {
      await lanes.run(async () => {
        isWhole &&= await this.#fetchFile(sha256, signal);
      });
      if (!isWhole) break;
    }
    await lanes.drain();
    return isWhole;
  }

  async #fetchFile(sha256: string, signal: AbortSignal): Promise<boolean> {
    if (await this.#files.use({ sha256 })) return true;
    const chunks = await this.#shared.read(fileName(sha256), signal);
    return chunks !== null && (await this.#files.put({ chunks })).sha256 === sha256;
  }

  async #manifest(contentSha256: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const own = await this.#manifests.read(contentSha256);
    if (own !== null) return own;
    const theirs = await this.readFile(manifestName(contentSha256), signal);
    if (theirs !== null) await this.#manifests.keep(contentSha256, theirs);
    return theirs;
  }

  async #keep(name: string, file: string, signal: AbortSignal): Promise<void> {
    const bytes = await readBytesIfThere(file);
    if (bytes === null) throw new Error(`"${file}" was removed while its job runs`);
    await this.#shared.put(name, { sha256: hash('sha256', bytes), sizeBytes: bytes.length, file }, signal);
  }
}

const filesOf = (manifest: Uint8Array | null): Files => (manifest === null ? [] : wordsOf(manifest).files);
