import { pipeline, Readable } from 'node:stream';

export async function* pumped(
  chunks: AsyncIterable<Buffer>,
  transform: NodeJS.ReadWriteStream,
): AsyncGenerator<Buffer> {
  // The callback is asked for so that a fault is not thrown twice: pipeline hands it to the transform, which we read.
  pipeline(Readable.from(chunks, { objectMode: false }), transform, () => {});
  yield* transform as AsyncIterable<Buffer>;
}
