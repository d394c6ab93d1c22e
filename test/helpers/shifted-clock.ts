import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Sets the clock of a child process, never the machine's: preloaded with `--import`, in its threads as well, it shifts
 * `Date` by the milliseconds that the file named by CLOCK_SHIFT_FILE holds at the time. The monotonic clock stays.
 */
const file = process.env.CLOCK_SHIFT_FILE;
if (file !== undefined) shiftDate(file);

/** Variables for a process whose clock `file` sets. */
export function withClock(file: string): Readonly<Record<string, string>> {
  setClock(file, 0);
  return { CLOCK_SHIFT_FILE: file, NODE_OPTIONS: `--import=${import.meta.filename}` };
}

/** Shifts the clocks of the processes that look at this file. */
export function setClock(file: string, shiftMs: number): void {
  writeFileSync(file, String(Math.round(shiftMs)));
}

function shiftDate(from: string): void {
  const RealDate = Date;
  const nowMs = RealDate.now.bind(RealDate);
  // A file that is being written is empty for a moment: the shift before holds on.
  let shiftMs = 0;
  const now = (): number => {
    const text = readFileSync(from, 'utf8');
    if (text !== '') shiftMs = Number(text);
    return nowMs() + shiftMs;
  };
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
