import { DocshelfError, type PlainError, toDocshelfError } from '../domain/errors.ts';

/** Functions that another thread can call. Each takes one argument. Argument and result are plain data. */
export type CallsOf<Calls> = { readonly [Name in keyof Calls]: (request: never, context: never) => unknown };

export interface CallContext<Progress = never> {
  readonly signal: AbortSignal;
  /** Sends progress at most ten times a second. The caller always gets the last value before the result. */
  readonly progress: (value: Progress) => void;
  flush(): void;
}

type RequestOf<Call> = Call extends (request: infer Request, ...rest: never[]) => unknown ? Request : never;
type ResultOf<Call> = Call extends (...args: never[]) => infer Result ? Awaited<Result> : never;
type ProgressOf<Call> = Call extends (request: never, context: CallContext<infer Progress>) => unknown
  ? Progress
  : never;

export interface CallOptions<Progress = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((value: Progress) => void) | undefined;
  /** True for a call that a thread accepts even if it has `callsMax` pending calls. */
  readonly isUrgent?: boolean;
  readonly task?: string;
}

export type ThreadCall<Calls extends CallsOf<Calls>> = <Name extends keyof Calls & string>(
  name: Name,
  request: RequestOf<Calls[Name]>,
  options?: CallOptions<ProgressOf<Calls[Name]>>,
) => Promise<ResultOf<Calls[Name]>>;

export interface Port {
  postMessage(item: Item): void;
  on(event: 'message', listener: (item: Item) => void): unknown;
}

type Item =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly request: unknown }
  | { readonly kind: 'abort'; readonly id: number; readonly reason: PlainError }
  | { readonly kind: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'stop' };

interface OpenCall {
  readonly answer: PromiseWithResolvers<unknown>;
  readonly onProgress: ((value: never) => void) | undefined;
}

type Task = { readonly context: Context; readonly done: Promise<void> };

type AnyHandler = (request: unknown, context: CallContext<unknown>) => unknown;

/** Maximum total of UTF-16 code units and buffer bytes in one call: four times the memory of the largest crawled page. */
const CALL_BYTES_MAX = 64 * 1024 ** 2;
const PROGRESS_EVERY_MS = 100;

export class Channel<Theirs extends CallsOf<Theirs>> {
  readonly #port: Port;
  readonly #handlers: Readonly<Record<string, AnyHandler>>;
  readonly #onStop: (() => void) | undefined;
  readonly #calls = new Map<number, OpenCall>();
  readonly #tasks = new Map<number, Task>();
  #lastId = 0;

  constructor(port: Port, ours: object, onStop?: () => void) {
    this.#port = port;
    this.#handlers = ours as Readonly<Record<string, AnyHandler>>;
    this.#onStop = onStop;
    port.on('message', (item) => this.#receive(item));
  }

  get waiting(): number {
    return this.#calls.size;
  }

  /** @throws DocshelfError of the handler, or `payload_too_large`; the reason of an aborted signal, after the handler has ended */
  readonly call: ThreadCall<Theirs> = async (name, request, { signal, onProgress } = {}) => {
    signal?.throwIfAborted();
    let bytes = 0;
    for (const value of Object.values(request ?? {})) {
      if (typeof value === 'string') bytes += value.length;
      else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    }
    if (bytes > CALL_BYTES_MAX)
      throw new DocshelfError('payload_too_large', `Cannot ${name}: the request to the thread is too large`);
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#calls.set(id, { answer, onProgress });
    const abort = (): void => {
      this.#port.postMessage({ kind: 'abort', id, reason: toDocshelfError(signal?.reason).toPlain() });
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.#port.postMessage({ kind: 'call', id, name, request });
      return (await answer.promise) as never;
    } catch (error) {
      this.#calls.delete(id);
      throw toDocshelfError(error);
    } finally {
      signal?.removeEventListener('abort', abort);
      signal?.throwIfAborted();
    }
  };

  stop(): void {
    this.#port.postMessage({ kind: 'stop' });
  }

  fail(error: DocshelfError): void {
    for (const { answer } of this.#calls.values()) answer.reject(error);
    this.#calls.clear();
    for (const { context } of this.#tasks.values()) context.abort(error);
  }

  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#tasks.values(), ({ done }) => done));
  }

  #receive(item: Item): void {
    if (item.kind === 'call') this.#handle(item);
    else if (item.kind === 'abort') this.#tasks.get(item.id)?.context.abort(DocshelfError.fromPlain(item.reason));
    else if (item.kind === 'progress') this.#calls.get(item.id)?.onProgress?.(item.value as never);
    else if (item.kind === 'stop') this.#onStop?.();
    else {
      const answer = this.#calls.get(item.id)?.answer;
      this.#calls.delete(item.id);
      if (item.kind === 'answer') answer?.resolve(item.result);
      else answer?.reject(DocshelfError.fromPlain(item.error));
    }
  }

  #handle({ id, name, request }: Item & { kind: 'call' }): void {
    const context = new Context((value) => this.#port.postMessage({ kind: 'progress', id, value }));
    try {
      const result = (this.#handlers[name] as AnyHandler)(request, context);
      if (result instanceof Promise) this.#await(id, result, context);
      else {
        context.flush();
        this.#answer(id, result);
      }
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #await(id: number, result: Promise<unknown>, context: Context): void {
    const done = result
      .finally(() => context.flush())
      .then(
        (value: unknown) => this.#answer(id, value),
        (error: unknown) => this.#refuse(id, error),
      )
      .then(() => void this.#tasks.delete(id));
    this.#tasks.set(id, { context, done });
  }

  /** Sends a result. Data that cannot be cloned is a bug, and rejects the call, so that its caller does not wait forever. */
  #answer(id: number, result: unknown): void {
    try {
      this.#port.postMessage({ kind: 'answer', id, result });
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #refuse(id: number, error: unknown): void {
    this.#port.postMessage({ kind: 'refusal', id, error: toDocshelfError(error).toPlain() });
  }
}

class Context implements CallContext<unknown> {
  readonly #post: (value: unknown) => void;
  readonly #abort = new AbortController();
  readonly signal = this.#abort.signal;
  #pending: { readonly value: unknown } | null = null;
  #postedMs = Number.NEGATIVE_INFINITY;

  constructor(post: (value: unknown) => void) {
    this.#post = post;
  }

  abort(reason: DocshelfError): void {
    this.#abort.abort(reason);
  }

  readonly progress = (value: unknown): void => {
    this.#pending = { value };
    if (performance.now() - this.#postedMs >= PROGRESS_EVERY_MS) this.flush();
  };

  flush(): void {
    if (this.#pending === null) return;
    this.#post(this.#pending.value);
    this.#pending = null;
    this.#postedMs = performance.now();
  }
}
