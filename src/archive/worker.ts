import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type Block, deflateBlock } from './deflate-block.ts';

/** The entry of packing's threads: a block in, its compressed bytes out, in the order of asking. */

// Readers come first. On Linux a thread has a niceness of its own (setpriority(2), "C library/kernel differences").
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', (block: Block) => {
  // zlib's answer lies in a buffer with room for the worst case: a copy is what is worth sending.
  const room = deflateBlock(block);
  const deflated = new Uint8Array(room);
  parentPort?.postMessage(deflated, [deflated.buffer]);
  free(block.bytes.buffer);
  free(room.buffer);
});

/** Gives memory back now: with little garbage besides, the collector would let 100 MiB of it gather in each thread. */
function free(buffer: ArrayBuffer): void {
  buffer.transfer(0);
}
