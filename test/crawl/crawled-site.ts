import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crawlSite } from '../../src/crawl/crawl-source.ts';
import type { CrawlOptions, CrawlSettings } from '../../src/domain/crawl.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/domain/limits.ts';
import { FileStore } from '../../src/files/file-store.ts';
import { RecordingSink } from '../export/recording-sink.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { egressRulesOf } from '../net/http-client-of.ts';

/** Folders that several crawls share, like several jobs. */
export class CrawlHome {
  readonly dir: string;
  readonly store: FileStore;
  #attempts = 0;

  private constructor(dir: string) {
    this.dir = dir;
    this.store = new FileStore(join(dir, 'files'));
  }

  static async make(): Promise<CrawlHome> {
    const dir = newFolder();
    await mkdir(join(dir, 'records'));
    return new CrawlHome(dir);
  }

  /** Opens existing folders. */
  static at(dir: string): CrawlHome {
    return new CrawlHome(dir);
  }

  async crawl(
    settings: CrawlSettings,
    more: { paths?: string[]; options?: Partial<CrawlOptions>; job?: string; signal?: AbortSignal } = {},
  ): Promise<RecordingSink> {
    const sink = new RecordingSink(this.store);
    const request = { domain: 'acme', version: null, paths: more.paths ?? null };
    const job = more.job ?? `job-${this.#attempts}`;
    this.#attempts += 1;
    const options: CrawlOptions = {
      settings,
      hosts: [],
      limits: ARCHIVE_LIMITS,
      browser: { sandbox: 'off', tabs: 2, pageTimeoutMs: 20_000, verify: 'off' },
      egress: egressRulesOf(),
      filesDir: join(this.dir, 'files'),
      workDir: join(this.dir, `work-${process.pid}-${this.#attempts}`),
      journalDir: join(this.dir, `journal-${job}`),
      recordsDir: join(this.dir, 'records'),
      pageThreads: 1,
      ...more.options,
    };
    await crawlSite(options, request, sink, more.signal ?? new AbortController().signal);
    return sink;
  }
}

export function crawlOf(url: string, settings: Partial<CrawlSettings> = {}): CrawlSettings {
  return {
    kind: 'crawl',
    url,
    allowAddresses: ['127.0.0.0/8'],
    robots: 'respect',
    cookieFile: null,
    bearerFile: null,
    headersFile: null,
    concurrency: 16,
    rateMax: 0,
    render: null,
    ...settings,
    limits: {
      pagesMax: 10_000,
      depthMax: 100,
      queryVariantsMax: 100,
      pageBytesMax: 1024 ** 2,
      requestTimeoutMs: 30_000,
      ...settings.limits,
    },
  };
}

export const TIGHT: ArchiveLimits = { ...ARCHIVE_LIMITS, fileBytesMax: 2 * 1024 ** 2 };
