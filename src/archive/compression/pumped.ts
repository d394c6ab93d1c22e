import { pipeline, Readable } from 'node:stream';

/** The output of a transform. A fault of either side is thrown to the reader, and both are closed when the reader stops. */
export async function* pumped(
  chunks: AsyncIterable<Buffer>,
  transform: NodeJS.ReadWriteStream,
): AsyncGenerator<Buffer> {
  // The callback is asked for so that a fault is not thrown twice: pipeline hands it to the transform, which we read.
  pipeline(Readable.from(chunks, { objectMode: false }), transform, () => {});
  yield* transform as AsyncIterable<Buffer>;
}
