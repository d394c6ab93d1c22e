import { createHash } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import type { StatusReport } from '../../domain/status.ts';

/** A screen in every office; each holds a connection. */
const STREAMS_MAX = 200;
/** A change is seen by people: within a second or two. */
const LOOK_MS = 1_000;
/** With many sites a look costs more: never over a tenth of a processor. */
const REST_PER_LOOK = 9;
/** Proxies close what is silent for a minute. */
const BEAT_MS = 20_000;

export const EVENT_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

interface StatusEventsOptions {
  readonly status: () => Promise<StatusReport>;
}

/**
 * Server-sent events (HTML standard, section 9.2) that name the state that pages are made of, so that they come for it anew. One look
 * for all who listen, and none where nobody does.
 */
export class StatusEvents {
  readonly #status: StatusEventsOptions['status'];
  readonly #streams = new Set<ReadableStreamDefaultController<string>>();
  #isDue = false;
  #last = '';
  #beatAtMs = 0;

  constructor({ status }: StatusEventsOptions) {
    this.#status = status;
  }

  /** @throws DocshelfError `rate_limited` */
  answer(): Response {
    if (this.#streams.size >= STREAMS_MAX)
      throw new DocshelfError('rate_limited', `Cannot open another stream: ${STREAMS_MAX} pages listen already`, {
        next: 'The page works without it: load it anew to see what has changed.',
        fields: { retryAfterS: 60 },
      });
    let own: ReadableStreamDefaultController<string> | null = null;
    const body = new ReadableStream<string>({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
        controller.enqueue('retry: 3000\n\n');
        if (this.#last !== '') controller.enqueue(this.#last);
        this.#schedule(0);
      },
      cancel: () => {
        if (own !== null) this.#streams.delete(own);
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), { headers: EVENT_HEADERS });
  }

  #schedule(ms: number): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const beganMs = performance.now();
    const found = await this.#status().then(eventOf, () => this.#last);
    const isDue = beganMs - this.#beatAtMs > BEAT_MS;
    if (found !== this.#last) this.#send(found);
    else if (isDue) this.#send(': still here\n\n');
    if (found !== this.#last || isDue) this.#beatAtMs = beganMs;
    this.#last = found;
    this.#isDue = false;
    if (this.#streams.size > 0) this.#schedule(Math.max(LOOK_MS, (performance.now() - beganMs) * REST_PER_LOOK));
    else this.#last = '';
  }

  #send(text: string): void {
    for (const controller of this.#streams) {
      // Who takes nothing keeps no more than a few names of states waiting.
      if ((controller.desiredSize ?? 0) < -8) continue;
      controller.enqueue(text);
    }
  }
}

export function revisionOf(status: StatusReport): string {
  return createHash('sha256').update(JSON.stringify(status)).digest('hex').slice(0, 16);
}

const eventOf = (status: StatusReport): string => `event: state\ndata: ${revisionOf(status)}\n\n`;
