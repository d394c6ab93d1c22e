import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DaemonRegistration, runningDaemons } from '../../src/deploy/daemons.ts';
import { runAside } from './processes.ts';
import { newStore, until } from './workbench.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('runningDaemons()', () => {
  test('knows a daemon in another process until that is killed', async () => {
    const { paths } = await newStore();
    const other = await runAside(`
      const { DaemonRegistration } = await deploy('daemons.ts');
      const { dataPaths } = await deploy('releases/data-folder.ts');
      const registration = new DaemonRegistration(dataPaths(${JSON.stringify(paths.dir)}));
      await registration.announce('http://127.0.0.1:9090');
      await registration.siteOf(() => 'acme').serves(['abc']);
      say('announced');`);
    expect(await runningDaemons(paths)).toMatchObject([
      { adminUrl: 'http://127.0.0.1:9090', sites: [{ domain: 'acme', serves: ['abc'] }] },
    ]);
    await other.kill();
    expect(await runningDaemons(paths)).toEqual([]);
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('takes a daemon on another host for gone when it has been silent for a minute', async () => {
    const { paths } = await newStore();
    const file = join(paths.daemons, 'other.json');
    const owner = { host: 'elsewhere', pid: 1, startTicks: null };
    await writeFile(file, JSON.stringify({ owner, adminUrl: null, sites: [] }));
    expect(await runningDaemons(paths)).toHaveLength(1);
    const before = new Date(Date.now() - 61_000);
    await utimes(file, before, before);
    expect(await runningDaemons(paths)).toEqual([]);
  });

  test('clears a mark that nobody can read', async () => {
    const { paths } = await newStore();
    await writeFile(join(paths.daemons, 'broken.json'), '{"owner":');
    expect(await runningDaemons(paths)).toEqual([]);
    expect(await readdir(paths.daemons)).toEqual([]);
  });
});

describe('DaemonRegistration', () => {
  test('does not count itself among the others, and is gone when it withdraws', async () => {
    const { paths } = await newStore();
    const [one, two] = [new DaemonRegistration(paths), new DaemonRegistration(paths)];
    await one.announce(null);
    await two.announce(null);
    const [site, other] = [one.siteOf(() => 'acme'), two.siteOf(() => 'acme')];
    await site.serves(['own']);
    await other.serves(['abc']);
    // Of another site: that one needs it, and this one may lose it.
    await two.siteOf(() => 'beta').serves(['of beta']);
    expect(await site.othersServe()).toEqual(['abc']);
    await two.withdraw();
    await other.serves(['late']);
    expect(await site.othersServe()).toEqual([]);
    await one.withdraw();
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('says what all of its sites serve, and no more of one that has left', async () => {
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    const [acme, beta] = [registration.siteOf(() => 'acme'), registration.siteOf(() => 'beta')];
    await Promise.all([acme.serves(['a', 'shared']), beta.serves(['b', 'shared'])]);
    expect(await runningDaemons(paths)).toMatchObject([
      { sites: [{ serves: ['a', 'shared'] }, { serves: ['b', 'shared'] }] },
    ]);
    await acme.leave();
    expect(await runningDaemons(paths)).toMatchObject([{ sites: [{ domain: 'beta', serves: ['b', 'shared'] }] }]);
    await registration.withdraw();
  });

  test('writes the last of many changes at once last', async () => {
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    const sites = Array.from({ length: 20 }, (_, at) => registration.siteOf(() => `site-${at}`));
    await Promise.all(sites.flatMap((site, at) => [site.serves([`old-${at}`]), site.serves([`new-${at}`])]));
    const [mark] = await runningDaemons(paths);
    expect(mark?.sites).toEqual(sites.map((_, at) => ({ domain: `site-${at}`, serves: [`new-${at}`] })));
    await registration.withdraw();
  });

  test('writes nothing before it is announced', async () => {
    const { paths } = await newStore();
    await new DaemonRegistration(paths).siteOf(() => 'acme').serves(['abc']);
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('writes its mark anew where another host took it for dead', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    await registration.siteOf(() => 'acme').serves(['abc']);
    for (const name of await readdir(paths.daemons)) await rm(join(paths.daemons, name));
    vi.advanceTimersByTime(10_000);
    await until(async () =>
      expect(await runningDaemons(paths)).toMatchObject([{ sites: [{ domain: 'acme', serves: ['abc'] }] }]),
    );
    await registration.withdraw();
  });
});
