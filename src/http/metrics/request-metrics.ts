import type { Registry } from 'prom-client';
import type { ListenerName, ServedRequest } from '../listener/served-request.ts';
import { type Cell, CellCounter, CellHistogram } from './cells.ts';

/** Seconds: a file from memory takes under a millisecond, an upload minutes. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** Of one listener and one site of it. */
interface RequestCells {
  /** By the first digit of the status. */
  readonly classes: (Cell | undefined)[];
  readonly bytes: Cell;
}

/** What counts of a request. */
export type CountedRequest = Pick<ServedRequest, 'listener' | 'site' | 'status' | 'bytes' | 'durationMs'>;

export class RequestMetrics {
  readonly #requests: CellCounter<'site' | 'listener' | 'class'>;
  readonly #bytes: CellCounter<'site' | 'listener'>;
  readonly #seconds: CellHistogram<'listener'>;
  readonly #cells = new Map<ListenerName, Map<string | undefined, RequestCells>>();

  constructor(registry: Registry) {
    const requests = {
      name: 'docshelf_http_requests_total',
      help: 'Requests answered, by listener and class of status.',
    };
    const bytes = { name: 'docshelf_http_response_bytes_total', help: 'Bytes written, headers included.' };
    const seconds = {
      name: 'docshelf_http_request_duration_seconds',
      help: 'From the end of the headers of a request to the end of its answer.',
    };
    this.#requests = new CellCounter(registry, requests, ['site', 'listener', 'class']);
    this.#bytes = new CellCounter(registry, bytes, ['site', 'listener']);
    this.#seconds = new CellHistogram(registry, seconds, 'listener', DURATION_BUCKETS);
  }

  count({ listener, status, bytes, durationMs }: CountedRequest, site: string | undefined): void {
    const cells = this.#cells.get(listener)?.get(site) ?? this.#add(listener, site);
    const first = Math.floor(status / 100);
    cells.classes[first] ??= this.#requests.cell({ ...labelOf(site), listener, class: `${first}xx` });
    cells.classes[first].value++;
    cells.bytes.value += bytes;
    this.#seconds.observe(listener, durationMs / 1000);
  }

  #add(listener: ListenerName, site: string | undefined): RequestCells {
    const ofListener = this.#cells.get(listener) ?? new Map<string | undefined, RequestCells>();
    this.#cells.set(listener, ofListener);
    const cells = { classes: [], bytes: this.#bytes.cell({ ...labelOf(site), listener }) };
    ofListener.set(site, cells);
    return cells;
  }
}

const labelOf = (site: string | undefined) => (site === undefined ? {} : { site });
