import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Load {
  /** Paths with queries. If there are several, each request uses a random one. */
  readonly targets: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each request has another client address, in the header of a proxy. */
  readonly isOfManyClients?: boolean;
  /** Cores of wrk, in the form of taskset. */
  readonly cores?: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly rate: number;
  /** Number of responses that are neither 2xx nor 3xx. */
  readonly refused: number;
}

const run = promisify(execFile);

/** @throws Error if connections break, or without any response */
export async function runWrk(origin: string, load: Load, folder: string): Promise<LoadResult> {
  const { targets, connections, seconds, headers = {}, isOfManyClients = false, cores } = load;
  const isScripted = targets.length > 1 || isOfManyClients;
  const script = join(folder, 'targets.lua');
  if (isScripted) writeFileSync(script, scriptOf(targets, isOfManyClients));
  const fields = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}`, '--timeout', '60s', ...fields];
  args.push(...(isScripted ? ['-s', script, `${origin}/`] : [`${origin}${targets[0]}`]));
  const pinned = cores === undefined ? [] : ['-c', cores, 'wrk'];
  const { stdout } = await run(cores === undefined ? 'wrk' : 'taskset', [...pinned, ...args]);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  if (!(requests > 0) || /Socket errors/.test(stdout)) throw new Error(`${origin}: ${stdout}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { requests, rate, refused: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0) };
}

function scriptOf(targets: readonly string[], isOfManyClients: boolean): string {
  const list = targets.map((target) => JSON.stringify(target)).join(',');
  const address = '{["X-Forwarded-For"] = "10." .. math.random(255) .. "." .. math.random(255) .. ".1"}';
  const headers = isOfManyClients ? address : 'nil';
  return `local targets = {${list}}
math.randomseed(1)
request = function() return wrk.format(nil, targets[math.random(#targets)], ${headers}) end
`;
}
