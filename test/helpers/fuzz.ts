import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { SeededRandom, seedOfEnvironment } from './random.ts';
import { cases } from './runs.ts';

/** Number of cases per reader in `npm run soak`. */
const CASES = 1_000;
/** Processor time. A reader that takes longer hangs. If it waits forever, the test's time limit ends it. */
const CASE_MS_MAX = 5_000;
/** Maximum memory after all cases, far more than any reader needs. */
const HELD_BYTES_MAX = 256 * 1024 ** 2;
/** Maximum memory at any time, including garbage. Reading the largest page needs the most. */
const PEAK_BYTES_MAX = 512 * 1024 ** 2;

/** Values to try for lengths, counts and separators. */
const BYTES = [0, 1, 0x1f, 0x20, 0x2e, 0x2f, 0x30, 0x3c, 0x5c, 0x7b, 0x7f, 0x80, 0xff];

/**
 * Passes seeded variations of valid inputs to a reader: changed, cut, repeated and joined. DOCSHELF_SEED repeats a run.
 * @param read throws only if the reader fails in an unexpected way
 */
export async function fuzz(samples: readonly Buffer[], read: (bytes: Buffer) => Promise<void> | void): Promise<void> {
  const memoryBefore = await memoryBytes();
  const peakBefore = peakBytes();
  const seed = seedOfEnvironment() ?? 1;
  for (let number = 0; number < cases(CASES); number++) {
    const random = new SeededRandom(seed * 1_000_003 + number);
    const bytes = vary(random.pick(samples), samples, random);
    const begun = process.cpuUsage();
    try {
      await read(bytes);
    } catch (cause) {
      throw new Error(`case ${number} of seed ${seed}: ${bytes.toString('base64').slice(0, 4000)}`, { cause });
    }
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1000, `case ${number} of seed ${seed}`).toBeLessThan(CASE_MS_MAX);
  }
  expect((await memoryBytes()) - memoryBefore).toBeLessThan(HELD_BYTES_MAX);
  expect(peakBytes() - peakBefore).toBeLessThan(PEAK_BYTES_MAX);
}

/** Peak memory of the whole process. */
const peakBytes = (): number => process.resourceUsage().maxRSS * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Memory after two garbage collections. The second one frees what finalizers released, such as decoder buffers. */
async function memoryBytes(): Promise<number> {
  collect();
  await setImmediate();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function vary(sample: Buffer, samples: readonly Buffer[], random: SeededRandom): Buffer {
  let bytes = Buffer.from(sample);
  const changes = 1 + Math.floor(random.next() * 4);
  for (let change = 0; change < changes; change++) bytes = changed(bytes, samples, random);
  return bytes;
}

function changed(bytes: Buffer<ArrayBuffer>, samples: readonly Buffer[], random: SeededRandom): Buffer<ArrayBuffer> {
  const at = Math.floor(random.next() * (bytes.length + 1));
  const end = Math.min(bytes.length, at + Math.floor(random.next() * 64));
  switch (random.pick(['flip', 'set', 'set', 'number', 'cut', 'drop', 'double', 'splice', 'fill'] as const)) {
    case 'flip':
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      return bytes;
    case 'set':
      if (at < bytes.length) bytes[at] = random.pick(BYTES);
      return bytes;
    case 'number':
      if (at + 4 <= bytes.length) bytes.writeUInt32LE(random.pick([0, 1, 0x7fffffff, 0xffffffff, bytes.length]), at);
      return bytes;
    case 'cut':
      return bytes.subarray(0, at);
    case 'drop':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 'double':
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
    case 'splice': {
      const other = random.pick(samples);
      return Buffer.concat([bytes.subarray(0, at), other.subarray(Math.floor(random.next() * other.length))]);
    }
    case 'fill':
      return bytes.fill(random.pick(BYTES), at, end);
  }
}
