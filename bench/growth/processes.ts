import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const LOOK_EVERY_MS = 50;
/** USER_HZ (proc(5)). */
const TICKS_PER_S = 100;
/** In the command line of a process that indexes or embeds. */
const SEARCH_ENTRY = '/search/';
const MIB_OF_KIB = 1 / 1024;

/** In MiB and processor seconds, of a daemon and of the processes that it starts. */
export interface Taken {
  readonly daemonMiB: number;
  readonly childrenMiB: number;
  /** The most at one moment, both together. */
  readonly sumMiB: number;
  readonly daemonSeconds: number;
  readonly childrenSeconds: number;
  /** Of those children that index and embed, without the last moments of each. */
  readonly searchSeconds: number;
}

/** Watches until told to end. Linux only: VmHWM and the times of proc(5), which count children that have ended. */
export function watchProcesses(daemon: number): () => Taken {
  // Sets VmHWM back to what is resident now.
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

/** 0 for one that has ended. */
function memoryOf(pid: number, what: 'VmHWM' | 'VmRSS'): number {
  const [, kib = '0'] = new RegExp(`${what}:\\s+(\\d+) kB`).exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * MIB_OF_KIB;
}

/** Processor time of a process, and of those that it has started. */
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
  // From the third field on; the second one, the name in brackets, may hold spaces. Times are 14 to 17.
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
