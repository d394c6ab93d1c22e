import { expect, it } from 'vitest';
import { QueryTurns } from '../../src/search/query-turns.ts';

const [ACME, BETA, GAMMA] = [{ name: 'acme' }, { name: 'beta' }, { name: 'gamma' }];
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Queries that are answered one after another, each when it is told so. */
function thread() {
  const turns = new QueryTurns();
  const begun: { readonly name: string; readonly end: PromiseWithResolvers<string> }[] = [];
  return {
    begun: () => begun.map(({ name }) => name),
    ask: (site: { readonly name: string }) =>
      turns.run(site, () => {
        const end = Promise.withResolvers<string>();
        begun.push({ name: site.name, end });
        return end.promise;
      }),
    answer: async (at: number) => {
      begun[at]?.end.resolve(`answer ${at}`);
      await turn();
    },
    fail: async (at: number) => {
      begun[at]?.end.reject(new Error('damaged'));
      await turn();
    },
  };
}

it('gives sites their turns, whatever is asked of one of them', async () => {
  const { begun, ask, answer, fail } = thread();
  for (let asked = 0; asked < 100; asked += 1) void ask(ACME).catch(() => undefined);
  void ask(BETA);
  void ask(GAMMA);
  void ask(BETA);
  expect(begun()).toEqual(Array.from({ length: 8 }, () => 'acme'));
  for (const at of [0, 1, 2]) await answer(at);
  await fail(3);
  for (const at of [4, 5]) await answer(at);
  expect(begun().slice(8)).toEqual(['acme', 'beta', 'gamma', 'acme', 'beta', 'acme']);
});

it('lets one site alone have all places, and goes on after the last has left', async () => {
  const { begun, ask, answer } = thread();
  const asked = Array.from({ length: 12 }, () => ask(ACME));
  for (let at = 0; at < 12; at += 1) await answer(at);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 12 }, (_, at) => `answer ${at}`));
  for (let more = 0; more < 8; more += 1) void ask(BETA);
  expect(begun().slice(12)).toEqual(Array.from({ length: 8 }, () => 'beta'));
});

it('refuses what is asked of a site behind 400 others, and not what is asked of another', async () => {
  const { ask } = thread();
  for (let asked = 0; asked < 408; asked += 1) void ask(ACME);
  await expect(ask(ACME)).rejects.toMatchObject({ code: 'queue_full', fields: { retryAfterS: 1 } });
  const other = ask(BETA);
  expect(await Promise.race([other, turn().then(() => 'waits')])).toBe('waits');
});
