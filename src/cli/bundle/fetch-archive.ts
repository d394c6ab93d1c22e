import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { fetchBundle } from '../../deploy/index.ts';
import { errnoState, rethrowAs } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { ProgressBar } from '../progress-bar.ts';

/** Gone once `use` has ended. @throws DocshelfError a source code, `wrong_digest`, `cannot_write`; what `use` throws */
export async function fetchArchive<T>(
  config: Config,
  link: Secret,
  use: (file: string, fileName: string | null) => Promise<T>,
): Promise<T> {
  const next = 'Set TMPDIR to a folder that can be written, with room for the bundle.';
  const work = await mkdtemp(join(tmpdir(), 'docshelf-fetch-')).catch(
    rethrowAs('cannot_write', `fetch a bundle into "${tmpdir()}"`, next, errnoState),
  );
  const { network, staticExport } = config;
  const opened = await (await import('../../app/index.ts')).openCommandSources(config);
  const progress = new ProgressBar();
  const shown = linkWithoutSecrets(link.reveal());
  try {
    const file = join(work, 'bundle');
    const { fileName } = await fetchBundle(
      opened.sources,
      {
        link,
        sha256: null,
        signal: new AbortController().signal,
        onProgress: (doneBytes, totalBytes) =>
          progress.update({ kind: 'progress', phase: 'fetching', name: shown, doneBytes, totalBytes }),
      },
      {
        spoolDir: work,
        bundleFile: file,
        bundleBytesMax: staticExport.limits.bundleBytesMax,
        retriesMax: network.retries,
        partMaxAgeMs: Number.MAX_SAFE_INTEGER,
      },
    );
    progress.end();
    return await use(file, fileName);
  } finally {
    progress.end();
    await opened.close();
    await rm(work, { recursive: true, force: true });
  }
}
