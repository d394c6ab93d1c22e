import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, the unit of processor time in /proc: 100 per second on each Linux that Node supports (proc(5)). */
const TICKS_PER_S = 100;

interface Process {
  readonly parent: number;
  readonly ticks: number;
}

/** True if this process has a child. Reading all processes takes milliseconds, and most tests start none. */
const hasChild = (): boolean => process.getActiveResourcesInfo().includes('ProcessWrap');

/** Processor seconds of this process and its ended children. `withRunning` adds running children. */
export function processorSeconds(withRunning = hasChild()): number {
  const running = withRunning ? processes() : new Map<number, Process>();
  const own = processOf('self')?.ticks ?? 0;
  return (own + ticksBelow(process.pid, running)) / TICKS_PER_S;
}

function ticksBelow(pid: number, running: ReadonlyMap<number, Process>): number {
  const children = [...running].filter(([, { parent }]) => parent === pid);
  return children.reduce((sum, [child, { ticks }]) => sum + ticks + ticksBelow(child, running), 0);
}

function processes(): Map<number, Process> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.map((pid) => [Number(pid), processOf(pid)] as const);
  return new Map(found.filter((entry): entry is [number, Process] => entry[1] !== null));
}

/** Null for a process that has just ended, or if the system is not Linux. */
function processOf(pid: string): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // From the third field on. The second field, the name in parentheses, may contain spaces. Times are fields 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) };
  } catch {
    return null;
  }
}
