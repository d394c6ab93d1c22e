import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARCHIVE_FORMATS, SITE_FILES, siteArchive } from '../helpers/archives.ts';
import { runs } from '../helpers/runs.ts';
import { Workbench } from './workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.open();
});
afterAll(() => bench.close());

describe.each(ARCHIVE_FORMATS)('a damaged %s', (format) => {
  const whole = siteArchive(format);

  it('is refused wherever it is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), async (length) => {
        expect((await bench.attempt(whole.subarray(0, length))).stage).toBe('inspected');
        expect(await bench.written()).toEqual([]);
      }),
      { numRuns: runs(50) },
    );
  });

  it('is refused or unpacks into staging, wherever a byte is changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        const { error, extracted } = await bench.attempt(bytes);
        expect(error?.code).not.toBe('internal');
        expect((await bench.written()).filter((name) => name !== 'staging')).toEqual([]);
        if (error === null) expect(extracted).toHaveLength(Object.keys(SITE_FILES).length);
      }),
      { numRuns: runs(50) },
    );
  });
});
