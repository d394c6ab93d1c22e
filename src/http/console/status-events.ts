import { createHash } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import type { StatusReport } from '../../domain/status.ts';
import type { AdminOptions } from '../admin/actions.ts';

const STREAMS_MAX = 200;
const CHECK_MS = 1_000;
/** Pause after a check for changes, as a multiple of the check's duration. With 9, checks use at most 10 % of a processor core. */
const REST_PER_CHECK = 9;
/** Interval of keep-alive messages. Proxies close streams that are silent for a minute. */
const BEAT_MS = 20_000;

export const EVENT_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

type StatusEventsOptions = Pick<AdminOptions, 'status' | 'revisions'>;
type Topic = 'state' | 'jobs';

/** Sends an event to all open pages of the console after each change of the daemon's status, so that the pages reload. */
export class StatusEvents {
  readonly #options: StatusEventsOptions;
  readonly #streams = new Set<ReadableStreamDefaultController<string>>();
  #isDue = false;
  readonly #last = new Map<Topic, string>();
  #beatAtMs = 0;

  constructor(options: StatusEventsOptions) {
    this.#options = options;
  }

  answer(): Response {
    if (this.#streams.size >= STREAMS_MAX)
      throw new DocshelfError(
        'rate_limited',
        `Cannot open another stream: ${STREAMS_MAX} pages are connected already`,
        {
          next: 'Reload the page to see changes.',
          fields: { retryAfterS: 60 },
        },
      );
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
    setTimeout(() => void this.#check(), ms).unref();
  }

  async #check(): Promise<void> {
    const beganMs = performance.now();
    const { status, revisions } = this.#options;
    // Read `changes` before the status. If a change happens between the two reads, the next check then reports it.
    const changes = revisions.changes();
    // Check state and jobs separately, because the database of jobs can be unavailable. A failed check counts as unchanged.
    const reported = await Promise.all([
      this.#report(
        'state',
        status().then((found) => revisionOf(found, changes)),
      ),
      this.#report('jobs', revisions.jobs().then(digestOf)),
    ]);
    const isReported = reported.includes(true);
    const isDue = beganMs - this.#beatAtMs > BEAT_MS;
    if (!isReported && isDue) this.#send(': still here\n\n');
    if (isReported || isDue) this.#beatAtMs = beganMs;
    this.#isDue = false;
    if (this.#streams.size > 0) this.#schedule(Math.max(CHECK_MS, (performance.now() - beganMs) * REST_PER_CHECK));
    else this.#last.clear();
  }

  async #report(topic: Topic, check: Promise<string>): Promise<boolean> {
    const found = await check.catch(() => null);
    const event = `event: ${topic}\ndata: ${found}\n\n`;
    if (found === null || event === this.#last.get(topic)) return false;
    this.#last.set(topic, event);
    this.#send(event);
    return true;
  }

  #send(text: string): void {
    for (const controller of this.#streams) {
      // Send nothing to slow clients, so that only a few events per client wait in memory.
      if ((controller.desiredSize ?? 0) < -8) continue;
      controller.enqueue(text);
    }
  }
}

export function revisionOf(status: StatusReport, changes: string): string {
  return digestOf(JSON.stringify([status, changes]));
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
