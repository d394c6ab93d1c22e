import { pipeline } from 'node:stream/promises';
import { type Pack, pack as tarPack } from 'tar-stream';
import type { OpenedEntry } from './entries.ts';

const EPOCH = new Date(0);

/**
 * Ustar, with pax headers where a name asks for one, without times, owners and modes; one file's chunks wait in memory.
 * @throws what `entries` throws; Error for a path that comes twice
 */
export async function* packTar(
  entries: AsyncIterable<OpenedEntry>,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const tar = tarPack();
  const adding = addAll(tar, entries, onPacked).then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  );
  try {
    yield* tar as AsyncIterable<Buffer>;
  } finally {
    // A reader that stops early ends the adding as well.
    tar.destroy();
    await adding;
  }
}

async function addAll(tar: Pack, entries: AsyncIterable<OpenedEntry>, onPacked: (bytes: number) => void) {
  const paths = new Set<string>();
  for await (const entry of entries) {
    if (paths.has(entry.path)) throw new Error(`"${entry.path}" is packed twice`);
    paths.add(entry.path);
    await addEntry(tar, entry);
    onPacked(entry.size);
  }
}

async function addEntry(tar: Pack, { path, size, content }: OpenedEntry): Promise<void> {
  const header = { name: path, size, mode: 0o644, mtime: EPOCH, uid: 0, gid: 0, type: 'file' as const };
  const gone = Promise.withResolvers<void>();
  const onEnd = (error?: Error | null) => (error ? gone.reject(error) : gone.resolve());
  const entry = Buffer.isBuffer(content)
    ? [tar.entry(header, content, onEnd)]
    : [pipeline(content, tar.entry(header, onEnd))];
  await Promise.all([...entry, gone.promise]);
}
