import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Shifts the clock of a child process and its threads (preload it with `--import`). `Date` is shifted by the milliseconds in the
 * file of CLOCK_SHIFT_FILE. The monotonic clock does not change.
 */
const file = process.env.CLOCK_SHIFT_FILE;
if (file !== undefined) shiftDate(file);

/** Environment of a process whose clock `file` sets. */
export function withClock(file: string): Readonly<Record<string, string>> {
  setClock(file, 0);
  return { CLOCK_SHIFT_FILE: file, NODE_OPTIONS: `--import=${import.meta.filename}` };
}

/** Shifts the clocks of the processes that read this file. */
export function setClock(file: string, shiftMs: number): void {
  writeFileSync(file, String(Math.round(shiftMs)));
}

function shiftDate(from: string): void {
  const RealDate = Date;
  const nowMs = RealDate.now.bind(RealDate);
  // A file is empty for a moment while it is written. Keep the former shift until then.
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
