import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const LOOK_EVERY_MS = 50;
/** USER_HZ (proc(5)). */
const TICKS_PER_S = 100;
/** Part of the command line of processes that index or embed. */
const SEARCH_ENTRY = '/search/';
const MIB_OF_KIB = 1 / 1024;

/** MiB and processor seconds of a daemon and its child processes. */
export interface Taken {
  readonly daemonMiB: number;
  readonly childrenMiB: number;
  /** Maximum of the sum at one moment. */
  readonly sumMiB: number;
  readonly daemonSeconds: number;
  readonly childrenSeconds: number;
  /** Seconds of child processes that index and embed, without the last moments of each. */
  readonly searchSeconds: number;
}

/** Measures until it is stopped. Linux only: VmHWM and times of proc(5), which include ended children. */
export function watchProcesses(daemon: number): () => Taken {
  // Resets VmHWM to the current resident memory.
  writeFileSync(`/proc/${daemon}/clear_refs`, '5');
  const before = secondsOf(daemon);
  let isBegun = false;
  let childrenMiB = 0;
  let sumMiB = 0;
  const searching = new Map<number, { began: number; last: number }>();
  const look = (): void => {
    const children = childrenOf(daemon);
    childrenMiB = Math.max(childrenMiB, ...children.map((pid) => memoryOf(pid, 'VmHWM')));
    const now = [daemon, ...children].reduce((sum, pid) => sum + memoryOf(pid, 'VmRSS'), 0);
    sumMiB = Math.max(sumMiB, now);
    for (const pid of children.filter((each) => read(`/proc/${each}/cmdline`).includes(SEARCH_ENTRY))) {
      const seconds = timesOf(pid).own;
      searching.set(pid, { began: searching.get(pid)?.began ?? (isBegun ? 0 : seconds), last: seconds });
    }
    isBegun = true;
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    const after = secondsOf(daemon);
    return {
      daemonMiB: memoryOf(daemon, 'VmHWM'),
      childrenMiB,
      sumMiB,
      daemonSeconds: after.own - before.own,
      childrenSeconds: after.children - before.children,
      searchSeconds: [...searching.values()].reduce((sum, { began, last }) => sum + last - began, 0),
    };
  };
}

export function residentMiB(daemon: number): number {
  return [daemon, ...childrenOf(daemon)].reduce((sum, pid) => sum + memoryOf(pid, 'VmRSS'), 0);
}

function childrenOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const listed = read(`/proc/${pid}/task/${task}/children`);
    return listed.split(' ').filter((each) => each !== '');
  });
  return children.map(Number);
}

/** 0 for an ended process. */
function memoryOf(pid: number, what: 'VmHWM' | 'VmRSS'): number {
  const [, kib = '0'] = new RegExp(`${what}:\\s+(\\d+) kB`).exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * MIB_OF_KIB;
}

/** Processor time of a process and its children. */
export function processorSeconds(pid: number): number {
  const { own, children } = secondsOf(pid);
  return own + children;
}

function secondsOf(pid: number) {
  const times = timesOf(pid);
  const running = childrenOf(pid).reduce((sum, child) => sum + timesOf(child).own, 0);
  return { own: times.own, children: times.waited + running };
}

function timesOf(pid: number): { readonly own: number; readonly waited: number } {
  const stat = read(`/proc/${pid}/stat`);
  // From the third field on. The second field, the name in parentheses, may contain spaces. Times are fields 14 to 17.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, waitedUser = 0, waitedSystem = 0] = fields.slice(11, 15);
  return { own: (user + system) / TICKS_PER_S, waited: (waitedUser + waitedSystem) / TICKS_PER_S };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
