import { readdir, readFile, readlink } from 'node:fs/promises';
import { cpuMsOf } from '../../test/helpers/process-facts.ts';

/** Of the processes that it has started, and theirs. Linux only. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean).map(Number);
  return (await Promise.all(children.map(async (child) => [child, ...(await childrenOf(child))]))).flat();
}

/** Of all processes of a server. */
export async function cpuMsOfAll(pid: number): Promise<number> {
  const each = await Promise.all([pid, ...(await childrenOf(pid))].map(cpuMsOf));
  return each.reduce((sum, ms) => sum + ms, 0);
}

/** Of those of a server that have any: open connections to its port. */
export async function connectionsOf(pid: number, port: number): Promise<readonly number[]> {
  const all = [pid, ...(await childrenOf(pid))];
  const counts = await Promise.all(all.map((each) => countOf(each, port)));
  return counts.filter((count) => count > 0);
}

const ESTABLISHED = '01';

/** By proc_net(5): the second field is the local address, the fourth the state, the tenth the inode that descriptors name. */
async function countOf(pid: number, port: number): Promise<number> {
  const lines = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set(
    lines
      .filter(([, at, , state]) => at?.endsWith(local) && state === ESTABLISHED)
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const folder = `/proc/${pid}/fd`;
  const targets = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
  return targets.filter((target) => inodes.has(target)).length;
}
