import { DocshelfError, type PlainError, toDocshelfError } from '../domain/errors.ts';

/** Functions that another thread can call. Each takes one argument. Argument and result are plain data. */
export type CallsOf<Calls> = { readonly [Name in keyof Calls]: (order: never, context: never) => unknown };

export interface CallContext<Progress = never> {
  readonly signal: AbortSignal;
  /** Sends progress at most ten times a second. The caller always gets the last value before the result. */
  readonly progress: (value: Progress) => void;
  flush(): void;
}

type OrderOf<Call> = Call extends (order: infer Order, ...rest: never[]) => unknown ? Order : never;
type ResultOf<Call> = Call extends (...args: never[]) => infer Result ? Unwrapped<Awaited<Result>> : never;
type Unwrapped<Result> = Result extends HandedOver<infer Value> ? Value : Result;
type ProgressOf<Call> = Call extends (order: never, context: CallContext<infer Progress>) => unknown ? Progress : never;

export interface CallOptions<Progress = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((value: Progress) => void) | undefined;
  readonly transfer?: readonly ArrayBuffer[];
  /** True for a call that a thread accepts even if it has `callsMax` pending calls. */
  readonly isUrgent?: boolean;
  readonly task?: string;
}

export type ThreadCall<Calls extends CallsOf<Calls>> = <Name extends keyof Calls & string>(
  name: Name,
  order: OrderOf<Calls[Name]>,
  options?: CallOptions<ProgressOf<Calls[Name]>>,
) => Promise<ResultOf<Calls[Name]>>;

/** A result whose memory is transferred to the caller, not copied. */
export class HandedOver<Value> {
  readonly value: Value;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: Value, buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

export interface ChannelOptions {
  readonly isBatched?: boolean;
  readonly answersAtOnce?: number;
  readonly onStop?: () => void;
}

export interface Port {
  postMessage(items: readonly Item[], transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (items: readonly Item[]) => void): unknown;
}

type Item =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly order: unknown }
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

type AnyHandler = (order: unknown, context: CallContext<unknown>) => unknown;

/** Maximum total of UTF-16 code units and buffer bytes in one call: four times the memory of the largest crawled page. */
const CALL_BYTES_MAX = 64 * 1024 ** 2;
const PROGRESS_EVERY_MS = 100;

export class Channel<Theirs extends CallsOf<Theirs>> {
  readonly #port: Port;
  readonly #handlers: Readonly<Record<string, AnyHandler>>;
  readonly #options: ChannelOptions;
  readonly #calls = new Map<number, OpenCall>();
  readonly #tasks = new Map<number, Task>();
  #lastId = 0;
  #items: Item[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(port: Port, ours: object, options: ChannelOptions = {}) {
    this.#port = port;
    this.#handlers = ours as Readonly<Record<string, AnyHandler>>;
    this.#options = options;
    port.on('message', (items) => {
      for (const item of items) this.#receive(item);
      this.#flush();
    });
  }

  get waiting(): number {
    return this.#calls.size;
  }

  /** @throws DocshelfError of the handler, or `payload_too_large`; the reason of an aborted signal, after the handler has ended */
  readonly call: ThreadCall<Theirs> = async (name, order, { signal, onProgress, transfer } = {}) => {
    signal?.throwIfAborted();
    let bytes = 0;
    for (const value of Object.values(order ?? {})) {
      if (typeof value === 'string') bytes += value.length;
      else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    }
    if (bytes > CALL_BYTES_MAX)
      throw new DocshelfError('payload_too_large', `Cannot ${name}: the request to the thread is too large`);
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#calls.set(id, { answer, onProgress });
    const abort = (): void => {
      this.#items.push({ kind: 'abort', id, reason: toDocshelfError(signal?.reason).toPlain() });
      this.#flush();
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#items.push({ kind: 'call', id, name, order });
    if (transfer !== undefined) this.#transfer.push(...transfer);
    if (this.#options.isBatched !== true) this.#flush();
    else if (this.#items.length === 1) setImmediate(() => this.#flush());
    try {
      return (await answer.promise) as never;
    } finally {
      signal?.removeEventListener('abort', abort);
      signal?.throwIfAborted();
    }
  };

  stop(): void {
    this.#items.push({ kind: 'stop' });
    this.#flush();
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
    else if (item.kind === 'stop') this.#options.onStop?.();
    else {
      const answer = this.#calls.get(item.id)?.answer;
      this.#calls.delete(item.id);
      if (item.kind === 'answer') answer?.resolve(item.result);
      else answer?.reject(DocshelfError.fromPlain(item.error));
    }
  }

  #handle({ id, name, order }: Item & { kind: 'call' }): void {
    const context = new Context((value) => this.#port.postMessage([{ kind: 'progress', id, value }]));
    try {
      const result = (this.#handlers[name] as AnyHandler)(order, context);
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
      .then(() => {
        this.#tasks.delete(id);
        this.#flush();
      });
    this.#tasks.set(id, { context, done });
  }

  #answer(id: number, answer: unknown): void {
    const { value, buffers } = answer instanceof HandedOver ? answer : { value: answer, buffers: [] };
    this.#items.push({ kind: 'answer', id, result: value });
    this.#transfer.push(...buffers);
    if (this.#items.length >= (this.#options.answersAtOnce ?? Number.POSITIVE_INFINITY)) this.#flush();
  }

  #refuse(id: number, error: unknown): void {
    this.#items.push({ kind: 'refusal', id, error: toDocshelfError(error).toPlain() });
  }

  #flush(): void {
    if (this.#items.length === 0) return;
    const [items, transfer] = [this.#items, this.#transfer];
    this.#items = [];
    this.#transfer = [];
    try {
      this.#port.postMessage(items, transfer);
    } catch (error) {
      this.#onUnsendable(items, toDocshelfError(error).toPlain());
    }
  }

  /** Data that cannot be cloned is a bug. Rejects all calls and results of the same batch, so that no caller waits forever. */
  #onUnsendable(items: readonly Item[], error: PlainError): void {
    const refusals: Item[] = [];
    for (const item of items) {
      if (item.kind === 'call') this.#receive({ kind: 'refusal', id: item.id, error });
      else if (item.kind === 'answer') refusals.push({ kind: 'refusal', id: item.id, error });
      else refusals.push(item);
    }
    this.#port.postMessage(refusals);
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
