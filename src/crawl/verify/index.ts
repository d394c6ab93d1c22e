import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/job.ts';
import { type FileEntry, isPage } from '../../domain/release.ts';
import { replaceFile } from '../../files/index.ts';
import type { ChromiumRenderer } from '../browser/chromium-renderer.ts';
import type { AnswerRequest, RenderSession } from '../render/rendered-page.ts';
import { hasText, type LivePage, livePageOf } from '../render/rendered-page.ts';
import { compareText, type Judged, judgePage } from './judge-page.ts';
import { sampleOf } from './sample.ts';
import { addressOf, StaticHost } from './static-host.ts';

export interface LiveSite {
  /** Null where the file is no page of it. */
  urlOf(path: string): string | null;
  seen(path: string): LivePage | null;
  readonly answer: AnswerRequest;
}

export interface VerifySiteOptions {
  readonly renderer: Pick<ChromiumRenderer, 'open'>;
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  /** Null where there is nothing to compare with. */
  readonly live: LiveSite | null;
  /** For pictures of the worst pages; made where there are any. */
  readonly picturesDir: string;
  readonly find: (finding: Finding) => void;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const PAGES_MAX = 200;
const PICTURED_MAX = 5;

/**
 * Opens up to 200 written pages, spread evenly, in a browser that reaches nothing else, and compares them with the live
 * ones: `failed_request`, `console_error` and `changed_text`, each where the live page has it not;
 * `off_origin_request`; `not_rendered`; `clean_url_needed`, a request that not every static host answers; `pictures` of
 * the five worst pages; and `not_verified`, alone, where there is no browser.
 * @throws the system's own errors; the signal's reason
 */
export async function verifySite(options: VerifySiteOptions): Promise<void> {
  try {
    await using verification = await Verification.open(options);
    await verification.run();
  } catch (error) {
    options.signal.throwIfAborted();
    const isBrowsers =
      error instanceof DocshelfError && (error.code === 'browser_missing' || error.code === 'browser_failed');
    if (!isBrowsers) throw error;
    options.find({ kind: 'not_verified', page: '', detail: error.message });
  }
}

class Verification {
  readonly #options: VerifySiteOptions;
  readonly #written: RenderSession;
  readonly #cleanUrls: ReadonlySet<string>;
  #live: Promise<RenderSession> | null = null;

  static async open(options: VerifySiteOptions): Promise<Verification> {
    const cleanUrls = new Set<string>();
    const host = new StaticHost(options.siteDir, options.files, (path) => cleanUrls.add(path));
    return new Verification(options, await options.renderer.open(host.answer), cleanUrls);
  }

  private constructor(options: VerifySiteOptions, written: RenderSession, cleanUrls: ReadonlySet<string>) {
    this.#options = options;
    this.#written = written;
    this.#cleanUrls = cleanUrls;
  }

  async run(): Promise<void> {
    const { files, find, onProgress } = this.#options;
    const paths = files.map(({ path }) => path).filter(isPage);
    const pages = sampleOf(paths, PAGES_MAX);
    const judged = new Map<string, Judged>();
    const waiting = pages[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const path of waiting) {
        judged.set(path, await this.#judge(path));
        onProgress(judged.size, pages.length);
      }
    };
    // A failure ends the browser that the others wait for.
    await Promise.all(Array.from({ length: this.#written.tabs }, work));

    const weightOf = (path: string): number => judged.get(path)?.weight ?? 0;
    for (const path of pages) for (const finding of judged.get(path)?.findings ?? []) find(finding);
    for (const path of [...this.#cleanUrls].sort()) find({ kind: 'clean_url_needed', page: '', detail: path });
    const worst = pages.filter((path) => weightOf(path) > 0).sort((a, b) => weightOf(b) - weightOf(a));
    for (const [at, path] of worst.slice(0, PICTURED_MAX).entries()) await this.#picture(path, at + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written.close();
    const live = await this.#live?.catch(() => null);
    await live?.close();
  }

  async #judge(path: string): Promise<Judged> {
    const { live, signal } = this.#options;
    const written = await this.#written.render(addressOf(path), { signal });
    const seen = live?.seen(path) ?? null;
    // A redirect's page has no text to compare.
    const text = written.dom?.text ?? null;
    const judgedBySeen = judgePage(path, written, seen, null);
    const isSame = text === null || (seen !== null && hasText(seen, text));
    const url = live?.urlOf(path) ?? null;
    if (url === null || (isSame && judgedBySeen.weight === 0)) return judgedBySeen;
    const now = await (await this.#liveSession()).render(url, { signal });
    const change = text === null || now.dom === null ? null : compareText(now.dom.text, text);
    const faults = livePageOf(now);
    const both = {
      failures: [...(seen?.failures ?? []), ...faults.failures],
      consoleErrors: [...(seen?.consoleErrors ?? []), ...faults.consoleErrors],
    };
    return judgePage(path, written, both, isSame ? null : change);
  }

  async #picture(path: string, number: number): Promise<void> {
    const { live, picturesDir, find, signal } = this.#options;
    const url = live?.urlOf(path) ?? null;
    const sides = [
      ...(url === null ? [] : [{ side: 'live', session: await this.#liveSession(), address: url }]),
      { side: 'written', session: this.#written, address: addressOf(path) },
    ];
    const names: string[] = [];
    for (const { side, session, address } of sides) {
      const { screenshot } = await session.render(address, { signal, withScreenshot: true });
      if (screenshot === null) continue;
      await mkdir(picturesDir, { recursive: true });
      const name = `${number}-${side}.png`;
      await replaceFile(join(picturesDir, name), screenshot);
      names.push(name);
    }
    if (names.length > 0) find({ kind: 'pictures', page: path, detail: names.join(', ') });
  }

  #liveSession(): Promise<RenderSession> {
    const { live, renderer } = this.#options;
    if (live === null) throw new Error('there is no live site');
    this.#live ??= renderer.open(live.answer);
    return this.#live;
  }
}
