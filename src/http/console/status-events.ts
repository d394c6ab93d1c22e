import { createHash } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import type { StatusReport } from '../../domain/status.ts';
import type { AdminOptions } from '../admin/actions.ts';

/** A screen in every office; each holds a connection. */
const STREAMS_MAX = 200;
/** A change is seen by people: within a second or two. */
const LOOK_MS = 1_000;
/** With many sites a look costs more: never over a tenth of a processor. */
const REST_PER_LOOK = 9;
/** Proxies close what is silent for a minute. */
const BEAT_MS = 20_000;

export const EVENT_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

type StatusEventsOptions = Pick<AdminOptions, 'status' | 'revisions'>;
type Topic = 'state' | 'jobs';

/**
 * Server-sent events (HTML standard, section 9.2) that name the state that pages are made of, so that they come for it anew: `state` for
 * all of them, `jobs` for those of export jobs, which move each second. One look for all who listen, and none where nobody does.
 */
export class StatusEvents {
  readonly #options: StatusEventsOptions;
  readonly #streams = new Set<ReadableStreamDefaultController<string>>();
  #isDue = false;
  readonly #last = new Map<Topic, string>();
  #beatAtMs = 0;

  constructor(options: StatusEventsOptions) {
    this.#options = options;
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
        for (const event of this.#last.values()) controller.enqueue(event);
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
    const { status, revisions } = this.#options;
    // Before the status: a change between them is found by the next look.
    const changes = revisions.changes();
    // Each by itself: the database of jobs may be away. What cannot be had is as it was.
    const told = await Promise.all([
      this.#tell(
        'state',
        status().then((found) => revisionOf(found, changes)),
      ),
      this.#tell('jobs', revisions.jobs().then(digestOf)),
    ]);
    const isTold = told.includes(true);
    const isDue = beganMs - this.#beatAtMs > BEAT_MS;
    if (!isTold && isDue) this.#send(': still here\n\n');
    if (isTold || isDue) this.#beatAtMs = beganMs;
    this.#isDue = false;
    if (this.#streams.size > 0) this.#schedule(Math.max(LOOK_MS, (performance.now() - beganMs) * REST_PER_LOOK));
    else this.#last.clear();
  }

  /** @returns whether it is another one */
  async #tell(topic: Topic, look: Promise<string>): Promise<boolean> {
    const found = await look.catch(() => null);
    const event = `event: ${topic}\ndata: ${found}\n\n`;
    if (found === null || event === this.#last.get(topic)) return false;
    this.#last.set(topic, event);
    this.#send(event);
    return true;
  }

  #send(text: string): void {
    for (const controller of this.#streams) {
      // Who takes nothing keeps no more than a few names of states waiting.
      if ((controller.desiredSize ?? 0) < -8) continue;
      controller.enqueue(text);
    }
  }
}

/** @param changes of `Revisions` */
export function revisionOf(status: StatusReport, changes: string): string {
  return digestOf(JSON.stringify([status, changes]));
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
