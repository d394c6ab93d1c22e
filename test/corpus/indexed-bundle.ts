import { readdir, readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type DefaultTreeAdapterTypes as Dom, parse } from 'parse5';
import type { ReleaseInfo } from '../../src/domain/release.ts';
import { EmbeddedEngine, type IndexedRelease, readAnswer, type SearchResult } from '../../src/search/index.ts';
import type { EmbedProgress } from '../../src/search/ports.ts';
import { bundleFile, importBundle, newHome } from '../helpers/corpus.ts';
import type { Bench } from '../helpers/daemon.ts';
import { processorSeconds } from '../helpers/processor-time.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');

/** A page with the title and language of its own head, read without the engine. */
export interface TitledPage {
  /** File in the site. */
  readonly file: string;
  readonly language: string;
  /** Title of the document without the site's name after the last ` | `. */
  readonly title: string;
}

/** A real bundle, imported by the program, and the search engine with its threads in this process. */
export class IndexedBundle {
  /** The folder `data/vectors/`. */
  readonly cacheDir: string;
  readonly release: IndexedRelease;
  readonly #engine: EmbeddedEngine;

  constructor(release: IndexedRelease, cacheDir: string) {
    this.release = release;
    this.cacheDir = cacheDir;
    this.#engine = new EmbeddedEngine({
      model: async () => ({ choice: { kind: 'folder', folder: MODEL }, embedder: null }),
      cacheDir,
      memoryBytesMax: 384 * 1024 ** 2,
    });
  }

  /** Imports a bundle. It ends with the bench. @param name bundle of the corpus, or an absolute path */
  static async importFrom(bench: Bench, name: string): Promise<IndexedBundle> {
    const home = await newHome(bench);
    const { digest } = await importBundle(bench, home, isAbsolute(name) ? name : bundleFile(name));
    const releaseDir = join(home, 'data', 'releases', digest);
    const { trailingSlash } = JSON.parse(await readFile(join(releaseDir, 'release.json'), 'utf8')) as ReleaseInfo;
    const bundle = new IndexedBundle({ digest, releaseDir, trailingSlash }, join(home, 'data', 'vectors'));
    bench.onEnd(() => bundle.stop());
    return bundle;
  }

  /** Builds and opens the keyword index. */
  async build(): Promise<{ sections: number; seconds: number; cpuSeconds: number }> {
    const start = { ms: performance.now(), cpu: processorSeconds(true) };
    const { sections } = await this.#engine.build(this.release, new AbortController().signal);
    const spent = { seconds: (performance.now() - start.ms) / 1000, cpuSeconds: processorSeconds(true) - start.cpu };
    await this.#engine.open(this.release);
    return { sections, ...spent };
  }

  /** Embeds all passages without a vector. */
  async embed(): Promise<void> {
    await this.#engine.embed(this.release, () => undefined, new AbortController().signal);
  }

  /** Embeds for this time, without the loading of the model, and then stops. */
  async embedFor(ms: number): Promise<{ embedded: number; seconds: number; cpuSeconds: number }> {
    const enough = new AbortController();
    let start: { ms: number; cpu: number; embedded: number } | null = null;
    let spent = { embedded: 0, seconds: 0, cpuSeconds: 0 };
    const note = ({ embedded }: EmbedProgress): void => {
      // The first event precedes the first text, the second one follows the first batch.
      if (embedded === 0) return;
      start ??= { ms: performance.now(), cpu: processorSeconds(true), embedded };
      const seconds = (performance.now() - start.ms) / 1000;
      spent = { embedded: embedded - start.embedded, seconds, cpuSeconds: processorSeconds(true) - start.cpu };
      if (seconds * 1000 > ms) enough.abort(new Error('enough'));
    };
    await this.#engine.embed(this.release, note, enough.signal).catch((error: unknown) => {
      if (error !== enough.signal.reason) throw error;
    });
    return spent;
  }

  async search(query: string, language: string | null, pageSize: number): Promise<readonly SearchResult[]> {
    const filter = { version: null, language, tag: null };
    const request = { query, pageSize, scoreThreshold: null, filter, prefixLast: false };
    return readAnswer(await this.#engine.search(this.release, request, 'x')).results;
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  /** Pages without noindex, in the order of their files. */
  async titledPages(): Promise<TitledPage[]> {
    const siteDir = join(this.release.releaseDir, 'site');
    const files = (await readdir(siteDir, { recursive: true })).filter((file) => file.endsWith('.html')).sort();
    const pages: TitledPage[] = [];
    for (const file of files) {
      if (/(?:^|\/)404(?:\/index)?\.html$/.test(file)) continue;
      const page = readHead(await readFile(join(siteDir, file), 'utf8'));
      if (page !== null) pages.push({ file, ...page });
    }
    return pages;
  }
}

/** Null for redirects and pages with noindex. */
function readHead(html: string): { language: string; title: string } | null {
  const root = parse(html).childNodes.find((node) => node.nodeName === 'html') as Dom.Element;
  const head = root.childNodes.find((node) => node.nodeName === 'head') as Dom.Element;
  const elements = head.childNodes.filter((node): node is Dom.Element => 'tagName' in node);
  const metas = elements.filter(({ tagName }) => tagName === 'meta');
  const isRedirect = metas.some((meta) => attribute(meta, 'http-equiv')?.toLowerCase() === 'refresh');
  const isHidden = metas.some((meta) => attribute(meta, 'name') === 'robots' && /noindex/.test(contentOf(meta)));
  const title = elements.find(({ tagName }) => tagName === 'title');
  if (isRedirect || isHidden || title === undefined) return null;
  const text = title.childNodes.map((node) => ('value' in node ? node.value : '')).join('');
  return { language: attribute(root, 'lang') ?? '', title: text.replace(/ \| [^|]*$/, '').trim() };
}

const contentOf = (meta: Dom.Element): string => attribute(meta, 'content') ?? '';

function attribute({ attrs }: Dom.Element, name: string): string | undefined {
  return attrs.find((attr) => attr.name === name)?.value;
}
