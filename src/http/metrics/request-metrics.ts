import { Counter, Gauge, type LabelValues, type Metric, type Registry } from 'prom-client';
import type { ListenerName, ServedRequest } from '../listener/served-request.ts';

/** Bounds in seconds: a file from memory takes under a millisecond, an upload takes minutes. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60];

interface RequestCells {
  readonly classes: (Cell | undefined)[];
  readonly bytes: Cell;
}

export type CountedRequest = Pick<ServedRequest, 'listener' | 'site' | 'status' | 'bytes' | 'durationMs'>;

export class RequestMetrics {
  readonly #requests: CellCounter<'site' | 'listener' | 'class'>;
  readonly #bytes: CellCounter<'site' | 'listener'>;
  readonly #seconds: CellHistogram<'listener'>;
  readonly #cells = new Map<ListenerName, Map<string | undefined, RequestCells>>();

  constructor(registry: Registry) {
    const requests = {
      name: 'docshelf_http_requests_total',
      help: 'Completed requests, by listener and status class.',
    };
    const bytes = { name: 'docshelf_http_response_bytes_total', help: 'Bytes sent, including headers.' };
    const seconds = {
      name: 'docshelf_http_request_duration_seconds',
      help: 'Time from the end of the request headers to the end of the response.',
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

export const labelOf = (site: string | undefined) => (site === undefined ? {} : { site });

/** A series for the hot path. Counting is an addition, while prom-client's counters hash the labels each time. */
export interface Cell {
  value: number;
}

interface MetricName {
  readonly name: string;
  readonly help: string;
}

export class CellCounter<T extends string> {
  readonly #cells: { readonly labels: LabelValues<T>; value: number }[] = [];

  constructor(registry: Registry, { name, help }: MetricName, labelNames: readonly T[]) {
    const cells = this.#cells;
    new Counter<T>({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, value } of cells) this.inc(labels, value);
      },
    });
  }

  cell(labels: LabelValues<T>): Cell {
    const cell = { labels, value: 0 };
    this.#cells.push(cell);
    return cell;
  }
}

/** Has one series per site, which ends with the site. */
export class SiteGauge<T extends string> {
  readonly #series = new Map<object, { readonly labels: LabelValues<T | 'site'>; readonly value: number }>();

  constructor(registry: Registry, { name, help }: MetricName, labelNames: readonly T[]) {
    const series = this.#series;
    new Gauge<T | 'site'>({
      name,
      help,
      labelNames: ['site', ...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, value } of series.values()) this.set(labels, value);
      },
    });
  }

  /** If sites share a series because they have no label, the last call counts. */
  set(site: object, labels: LabelValues<T | 'site'>, value: number): void {
    this.remove(site);
    this.#series.set(site, { labels, value });
  }

  remove(site: object): void {
    this.#series.delete(site);
  }
}

/** Replaces prom-client's histogram, which cannot expose counts from outside. */
class CellHistogram<T extends string> {
  readonly #bounds: readonly number[];
  /** Counts have one entry more than the bounds, for values above the last bound. */
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>();

  constructor(registry: Registry, { name, help }: MetricName, label: T, bounds: readonly number[]) {
    this.#bounds = bounds;
    const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name, label) });
    registry.registerMetric({ name, get } as unknown as Metric<T>);
  }

  observe(label: string, value: number): void {
    let series = this.#series.get(label);
    if (series === undefined) {
      series = { counts: new Array(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(label, series);
    }
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  #values(name: string, label: T) {
    return [...this.#series].flatMap(([key, { counts, sum }]) => {
      const labels = { [label]: key };
      let count = 0;
      const buckets = counts.map((each, at) => {
        count += each;
        return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }
}
