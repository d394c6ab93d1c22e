import type { ArchiveEntry } from './listing.ts';
import type { Refuse } from './refuse.ts';

/** The content as it comes, held to the size that the archive declares: `wrong_size` at the first byte too many, or at the end. */
export async function* exactly(
  entry: ArchiveEntry,
  content: AsyncIterable<Buffer>,
  refuse: Refuse,
): AsyncGenerator<Buffer> {
  const wrong = (state: string) => refuse('wrong_size', state, { entry: entry.name });
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > entry.size) throw wrong(`has more than the ${entry.size} bytes that it declares`);
    yield chunk;
  }
  if (bytes !== entry.size) throw wrong(`has ${bytes} bytes and declares ${entry.size}`);
}
