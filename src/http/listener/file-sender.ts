import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { LargeResponse } from '../../site/index.ts';
import { type HeldAnswer, PART_BYTES } from './client-budget.ts';

/**
 * Bytes of a body part for fast clients. Parts of 64 KiB take 50 % more processor time, and parts of 512 KiB take no less
 * (measured).
 */
const LARGE_BYTES = 256 * 1024;
/** Maximum unused buffers to keep, by buffer size in bytes. The buffers of one size take at most 8 MiB. */
const KEPT = { [PART_BYTES]: 128, [LARGE_BYTES]: 32 };
const FAST_MS = 1_000;

/** Sends a large body in parts. Each part waits until the client has read the previous part and the budget has room. */
export class FileSender {
  /** Unused buffers, by size in bytes. Reuse them, because allocating a buffer takes longer than reading a part into it. */
  readonly #free: { [bytes: number]: Buffer[] } = { [PART_BYTES]: [], [LARGE_BYTES]: [] };

  async send(response: LargeResponse, outgoing: ServerResponse, held: HeldAnswer): Promise<Response> {
    const { source, status, headers } = response;
    const gone = Promise.withResolvers<false>();
    let isGone = false;
    outgoing.once('close', () => {
      isGone = true;
      gone.resolve(false);
    });
    const write = (part: Uint8Array): Promise<boolean> => {
      const taken = new Promise<boolean>((resolve) => outgoing.write(part, () => resolve(!isGone)));
      return Promise.race([taken, gone.promise]);
    };
    try {
      outgoing.writeHead(status, Object.fromEntries(headers));
      for (let isFast = true, isOver = false; !isOver; ) {
        const bytesMax = isFast && held.holdMore(LARGE_BYTES) ? LARGE_BYTES : PART_BYTES;
        const beganMs = performance.now();
        isOver = isGone || !(await this.#sendPart(source, bytesMax, write));
        isFast = performance.now() - beganMs < FAST_MS;
        held.hold(0);
        if (!isOver) await new Promise<void>((resolve) => held.whenRoom(resolve));
      }
      outgoing.end();
    } catch (error) {
      outgoing.destroy(error as Error);
    } finally {
      await source.close();
    }
    return RESPONSE_ALREADY_SENT;
  }

  /** Sends the next part. Returns false at the end of the body, and after the client has disconnected. */
  async #sendPart(
    source: LargeResponse['source'],
    bytesMax: number,
    write: (part: Uint8Array) => Promise<boolean>,
  ): Promise<boolean> {
    const buffer = this.#free[bytesMax]?.pop() ?? Buffer.allocUnsafeSlow(bytesMax);
    const bytes = await source.read(buffer);
    if (bytes === 0) return false;
    const isTaken = await write(buffer.subarray(0, bytes));
    // Do not reuse the buffer after a disconnect, because the socket can still read it.
    const free = this.#free[bytesMax] ?? [];
    if (isTaken && free.length < (KEPT[bytesMax] ?? 0)) free.push(buffer);
    return isTaken;
  }
}
