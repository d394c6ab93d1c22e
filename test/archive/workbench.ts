import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchiveListing, type ExtractedFile, extractArchive, inspectArchive } from '../../src/archive/index.ts';
import { DocshelfError, type ErrorCode } from '../../src/domain/errors.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/domain/limits.ts';
import { newFolder } from '../helpers/new-folder.ts';

export interface Attempt {
  /** `inspected`: rejected before anything is written. `extracted`: rejected while writing to staging. */
  readonly stage: 'inspected' | 'extracted' | 'passed';
  readonly error: DocshelfError | null;
  readonly listing: ArchiveListing | null;
  readonly extracted: readonly ExtractedFile[];
}

/** A temporary folder that contains the staging folder. Files next to the staging folder have escaped. */
export class Workbench {
  readonly dir = newFolder();

  get siteDir(): string {
    return join(this.dir, 'staging', 'site');
  }

  get ownDir(): string {
    return join(this.dir, 'staging', 'own');
  }

  /** Inspects and extracts these bytes. @throws all errors except `DocshelfError` */
  async attempt(
    bytes: Buffer,
    limits: Partial<ArchiveLimits> = {},
    foldsCase = false,
    isVerified = false,
  ): Promise<Attempt> {
    await rm(join(this.dir, 'staging'), { recursive: true, force: true });
    const file = join(this.dir, 'archive');
    await writeFile(file, bytes);
    const options = { name: 'archive', limits: { ...ARCHIVE_LIMITS, ...limits }, foldsCase, isVerified };
    let listing: ArchiveListing | null = null;
    try {
      listing = await inspectArchive(file, options);
      const { siteDir, ownDir } = this;
      const extracted = await extractArchive(file, listing, { ...options, siteDir, ownDir });
      return { stage: 'passed', error: null, listing, extracted: [...extracted] };
    } catch (error) {
      if (!(error instanceof DocshelfError)) throw error;
      return { stage: listing === null ? 'inspected' : 'extracted', error, listing, extracted: [] };
    }
  }

  async codeOf(bytes: Buffer, limits: Partial<ArchiveLimits> = {}): Promise<ErrorCode | null> {
    return (await this.attempt(bytes, limits)).error?.code ?? null;
  }

  /** Names in the temporary folder except the archive: `staging`, and everything that escaped. */
  async written(): Promise<string[]> {
    return (await readdir(this.dir)).filter((name) => name !== 'archive');
  }

  async read(path: string): Promise<string> {
    return readFile(join(this.siteDir, path), 'utf8');
  }
}
