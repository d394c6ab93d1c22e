import { describe, expect, it, vi } from 'vitest';
import { Dependencies } from '../../src/app/dependencies.ts';

const NONE = () => null;

describe('Dependencies (checks of the database and the bucket)', () => {
  it('report each configured dependency, and a notice for each that does not respond', async () => {
    const failed = () => Promise.reject(new Error('refused'));
    const dependencies = new Dependencies({ database: () => Promise.resolve(), bucket: failed });
    expect(await dependencies.read()).toEqual([
      { dependency: 'database', isUp: true },
      { dependency: 'bucket', isUp: false },
    ]);
    expect(await dependencies.notices()).toEqual([expect.stringMatching(/bucket of exports .*docshelf doctor/)]);
    expect(await new Dependencies({ database: NONE, bucket: NONE }).read()).toEqual([]);
  });

  it('check each server at most every 30 seconds, and wait at most two seconds for a response', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const database = vi.fn(() => new Promise<void>(() => undefined));
      const dependencies = new Dependencies({ database, bucket: NONE });
      const down = [{ dependency: 'database', isUp: false }];
      expect(await dependencies.read()).toEqual(down);
      expect(await dependencies.read()).toEqual(down);
      expect(database).toHaveBeenCalledTimes(1);
      const counted = vi.fn(() => Promise.resolve());
      const others = new Dependencies({ database: counted, bucket: NONE });
      await others.read();
      vi.advanceTimersByTime(29_000);
      await others.read();
      expect(counted).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(1_000);
      await others.read();
      expect(counted).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });
});
