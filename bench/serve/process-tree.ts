import { readFile } from 'node:fs/promises';
import { cpuMsOf } from '../../test/helpers/process-facts.ts';

/** Child processes of a process, and theirs. Linux only. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean).map(Number);
  return (await Promise.all(children.map(async (child) => [child, ...(await childrenOf(child))]))).flat();
}

/** Sum over all processes of a server. */
export async function cpuMsOfAll(pid: number): Promise<number> {
  const each = await Promise.all([pid, ...(await childrenOf(pid))].map(cpuMsOf));
  return each.reduce((sum, ms) => sum + ms, 0);
}
