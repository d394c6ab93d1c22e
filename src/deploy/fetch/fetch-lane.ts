import { DocshelfError } from '../../domain/errors.ts';
import type { Progress } from '../plan.ts';
import type { SiteContext } from '../site-context.ts';
import type { Intake } from '../take-in/intake.ts';
import type { TakenIn } from '../take-in/take-in.ts';
import { Renewal } from './renew.ts';

export interface FetchTask {
  readonly key: string;
  readonly version: string | null;
  readonly isExport: boolean;
  readonly onTaken: (taken: TakenIn, signal: AbortSignal) => Promise<void>;
  readonly onFailed: (error: unknown, isAborted: boolean) => void;
}

export class FetchLane {
  readonly #renewal: Renewal;
  readonly #context: SiteContext;
  #abort = new AbortController();
  #request: FetchTask | null = null;
  #done: Promise<void> = Promise.resolve();

  constructor(context: SiteContext, intake: Intake) {
    this.#renewal = new Renewal(context, intake);
    this.#context = context;
  }

  get current(): Progress['fetching'] {
    if (this.#request === null) return null;
    const { key, isExport } = this.#request;
    return { key, isExport, isAborted: this.#abort.signal.aborted };
  }

  get done(): Promise<void> {
    return this.#done;
  }

  start(request: FetchTask): void {
    this.#abort = new AbortController();
    this.#request = request;
    this.#done = this.#run(request, AbortSignal.any([this.#abort.signal, this.#context.stopping]));
  }

  abort(): void {
    this.#abort.abort(new DocshelfError('stopping', 'Cannot go on: the settings have changed'));
  }

  end(): void {
    this.#request = null;
  }

  async #run({ version, isExport, onTaken, onFailed }: FetchTask, signal: AbortSignal): Promise<void> {
    const { tracer, store } = this.#context;
    const facts = { 'docshelf.domain': store.domain, 'docshelf.pinned': version };
    try {
      await tracer.span(isExport ? 'renew' : 'deploy', { parent: null, facts }, async () => {
        const taken = await (isExport ? this.#renewal.exportAnew(signal) : this.#renewal.fetch(version, signal));
        await onTaken(taken, signal);
      });
    } catch (error) {
      this.end();
      onFailed(error, signal.aborted);
    }
  }
}
