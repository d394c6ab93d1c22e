import { readFile } from 'node:fs/promises';

/** USER_HZ, the unit of CPU time in /proc: 100 per second on each Linux that Node supports (proc(5)). */
const TICKS_PER_S = 100;

/** CPU time of a process and its threads, user and system. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Fields 14 and 15. The second field, the name in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_S;
}

/** Resident memory of a process, in MiB. */
export async function residentMiBOf(pid: number): Promise<number> {
  return memoryMiBOf(pid, 'VmRSS');
}

/** Peak of the resident memory of a process, in MiB. */
export async function peakMiBOf(pid: number): Promise<number> {
  return memoryMiBOf(pid, 'VmHWM');
}

async function memoryMiBOf(pid: number, what: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}
