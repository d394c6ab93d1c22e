import { afterEach, expect, it, vi } from 'vitest';
import { VariantMaker } from '../../src/serve/index.ts';
import { TestReleases } from './helpers.ts';

const releases = new TestReleases();
afterEach(() => {
  vi.useRealTimers();
  releases.remove();
});

it('begins anew for a site at another path or with other additions, and for nothing else', async () => {
  vi.useFakeTimers();
  const maker = new VariantMaker(() => undefined, 1_000);
  const active = releases.make({ 'index.html': 'a' });
  const site = {};
  const begun = (changes: object): number => {
    const before = vi.getTimerCount();
    const events = { onMade: () => undefined, onFault: () => undefined };
    maker.follow(site, { active, older: [], basePath: '/', hasAdditions: false, ...events, ...changes });
    return vi.getTimerCount() - before;
  };
  expect([{}, {}, { basePath: '/docs/' }, { basePath: '/docs/' }, { hasAdditions: true }, {}].map(begun)).toEqual([
    1, 0, 1, 0, 1, 1,
  ]);
  await maker.stop();
});
