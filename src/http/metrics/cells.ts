import { Counter, type LabelValues, type Metric, type Registry } from 'prom-client';

/** A series that each request counts in: an addition, where prom-client's own takes labels apart. */
export interface Cell {
  value: number;
}

interface MetricName {
  readonly name: string;
  readonly help: string;
}

/** A counter whose series are summed when they are read. */
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

  /** Begins at 0; several of the same labels are one series. */
  cell(labels: LabelValues<T>): Cell {
    const cell = { labels, value: 0 };
    this.#cells.push(cell);
    return cell;
  }
}

/** Observations of one label, by bucket; prom-client's histogram has no door for counts that are there already. */
export class CellHistogram<T extends string> {
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last is of all that is over them. */
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
