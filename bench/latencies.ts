import { SiteClient } from '../test/helpers/site-client.ts';

const ASK_EVERY_MS = 5;

/** Sorted latencies in ms of requests every few ms, independent of earlier responses, until the action ends. */
export async function latencies(site: string, paths: readonly string[], act: Promise<unknown>): Promise<number[]> {
  const client = new SiteClient(site, 64);
  const times: number[] = [];
  const asked: Promise<void>[] = [];
  const ask = async (path: string): Promise<void> => {
    const beganMs = performance.now();
    const { status } = await client.get(path);
    if (status !== 200) throw new Error(`${status} for ${path}`);
    times.push(performance.now() - beganMs);
  };
  const timer = setInterval(() => asked.push(ask(paths[asked.length % paths.length] ?? '/')), ASK_EVERY_MS);
  await act.finally(() => clearInterval(timer));
  await Promise.all(asked);
  client.close();
  return times.sort((a, b) => a - b);
}

export const quantile = (values: readonly number[], part: number): number => {
  const rising = values.toSorted((a, b) => a - b);
  return rising[Math.min(rising.length - 1, Math.floor(part * rising.length))] ?? 0;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);
