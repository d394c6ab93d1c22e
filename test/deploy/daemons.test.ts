import { cp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DaemonRegistration, runningDaemons } from '../../src/deploy/daemons.ts';
import { dataPaths, identityOf, openDataFolder } from '../../src/deploy/releases/data-folder.ts';
import { thisProcess } from '../../src/files/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { runInProcess } from './processes.ts';
import { newStore, until } from './workbench.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('runningDaemons()', () => {
  test('lists a daemon in another process until that process is killed', async () => {
    const { paths } = await newStore();
    const other = await runInProcess(`
      const { DaemonRegistration } = await deploy('daemons.ts');
      const { dataPaths } = await deploy('releases/data-folder.ts');
      const registration = new DaemonRegistration(dataPaths(${JSON.stringify(paths.dir)}));
      await registration.announce('http://127.0.0.1:9090');
      await registration.registerSite({ domain: 'acme' }).setServed(['abc']);
      say('announced');`);
    expect(await runningDaemons(paths)).toMatchObject([
      { adminUrl: 'http://127.0.0.1:9090', sites: [{ domain: 'acme', serves: ['abc'] }] },
    ]);
    await other.kill();
    expect(await runningDaemons(paths)).toEqual([]);
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('treats a daemon on another host as dead after a minute without a heartbeat', async () => {
    const { paths } = await newStore();
    const file = join(paths.daemons, 'other.json');
    const owner = { host: 'elsewhere', pid: 1, startTicks: null };
    await writeFile(file, JSON.stringify({ owner, adminUrl: null, sites: [] }));
    expect(await runningDaemons(paths)).toHaveLength(1);
    const before = new Date(Date.now() - 61_000);
    await utimes(file, before, before);
    expect(await runningDaemons(paths)).toEqual([]);
  });

  test('removes a heartbeat file that cannot be read', async () => {
    const { paths } = await newStore();
    await writeFile(join(paths.daemons, 'broken.json'), '{"owner":');
    expect(await runningDaemons(paths)).toEqual([]);
    expect(await readdir(paths.daemons)).toEqual([]);
  });
});

describe('runningDaemons() of a folder that was copied or moved', () => {
  /** A data folder with a heartbeat file of this process. `owner` replaces facts about the owner. */
  async function marked(owner: object = {}) {
    const dir = join(newFolder(), 'data');
    const paths = await openDataFolder(dir);
    const registration = new DaemonRegistration(paths);
    await registration.announce('http://127.0.0.1:9090');
    const [name = ''] = await readdir(paths.daemons);
    const file = join(paths.daemons, name);
    const mark = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...mark, owner: { ...thisProcess(), ...owner } }));
    return { dir, paths, name, mark, file, registration };
  }

  const pidsOn = async (dir: string) => (await runningDaemons(dataPaths(dir))).map(({ owner }) => owner.pid);

  test.each([
    ['this process', {}],
    ['a process of another container with this host name', { pidNamespace: 'pid:[1]', pid: 1 }],
    ['a process of another host', { host: `${hostname()}-other`, pid: 1 }],
  ])(
    'finds the heartbeat file of %s in the folder and through a symbolic link, but ignores the file in a copy of the folder',
    async (_whose, owner) => {
      const { dir } = await marked(owner);
      await cp(dir, `${dir}-copy`, { recursive: true });
      await symlink(dir, `${dir}-link`);
      for (const same of [dir, `${dir}-link`]) expect(await pidsOn(same)).toHaveLength(1);
      expect(await pidsOn(`${dir}-copy`)).toEqual([]);
      expect(await readdir(join(`${dir}-copy`, 'daemons'))).toEqual([]);
      expect(await pidsOn(dir)).toHaveLength(1);
    },
  );

  test('accepts a heartbeat file from another host with the same folder id, even if the device and inode numbers differ', async () => {
    const { dir, mark, file } = await marked();
    const owner = { host: 'elsewhere', pid: 1, startTicks: null };
    const folder = { ...(await identityOf(dataPaths(dir))), device: '7' };
    await writeFile(file, JSON.stringify({ ...mark, owner, folder: { ...folder, inode: '9' } }));
    expect(await pidsOn(dir)).toEqual([1]);
    await writeFile(file, JSON.stringify({ ...mark, owner, folder: { ...folder, id: 'another' } }));
    expect(await pidsOn(dir)).toEqual([]);
  });

  test('finds a daemon in its renamed folder, and also in a copy of this folder at the original path', async () => {
    const { dir, paths, registration } = await marked();
    await rename(dir, `${dir}-old`);
    expect(await pidsOn(`${dir}-old`)).toEqual([process.pid]);
    await cp(`${dir}-old`, dir, { recursive: true });
    expect(await pidsOn(dir)).toEqual([process.pid]);
    await registration.registerSite({ domain: 'acme' }).setServed(['abc']);
    const [mark] = await runningDaemons(paths);
    expect(mark?.folder).toEqual(await identityOf(paths));
  });

  test('finds the heartbeat file again after the folder was replaced and the next heartbeat was written', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { dir, paths } = await marked();
    await rename(dir, `${dir}-old`);
    await openDataFolder(dir);
    vi.advanceTimersByTime(10_000);
    await until(async () => {
      const [mark] = await runningDaemons(paths);
      expect(mark?.folder).toEqual(await identityOf(paths));
    });
  });
});

describe('DaemonRegistration (heartbeat file of a daemon)', () => {
  test('excludes its own releases from servedByOthers(), and deletes its heartbeat file on withdraw()', async () => {
    const { paths } = await newStore();
    const [one, two] = [new DaemonRegistration(paths), new DaemonRegistration(paths)];
    await one.announce(null);
    await two.announce(null);
    const [site, other] = [one.registerSite({ domain: 'acme' }), two.registerSite({ domain: 'acme' })];
    await site.setServed(['own']);
    await other.setServed(['abc']);
    // servedByOthers() of the site acme omits releases of other sites.
    await two.registerSite({ domain: 'beta' }).setServed(['of beta']);
    expect(await site.servedByOthers()).toEqual(['abc']);
    await two.withdraw();
    await other.setServed(['late']);
    expect(await site.servedByOthers()).toEqual([]);
    await one.withdraw();
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('lists the releases that its sites serve, and omits sites that were unregistered', async () => {
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    const [acme, beta] = [registration.registerSite({ domain: 'acme' }), registration.registerSite({ domain: 'beta' })];
    await Promise.all([acme.setServed(['a', 'shared']), beta.setServed(['b', 'shared'])]);
    expect(await runningDaemons(paths)).toMatchObject([
      { sites: [{ serves: ['a', 'shared'] }, { serves: ['b', 'shared'] }] },
    ]);
    await acme.unregister();
    expect(await runningDaemons(paths)).toMatchObject([{ sites: [{ domain: 'beta', serves: ['b', 'shared'] }] }]);
    await registration.withdraw();
  });

  test('writes the final state to its heartbeat file after many concurrent changes', async () => {
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    const sites = Array.from({ length: 20 }, (_, at) => registration.registerSite({ domain: `site-${at}` }));
    await Promise.all(sites.flatMap((site, at) => [site.setServed([`old-${at}`]), site.setServed([`new-${at}`])]));
    const [mark] = await runningDaemons(paths);
    expect(mark?.sites).toEqual(sites.map((_, at) => ({ domain: `site-${at}`, serves: [`new-${at}`] })));
    await registration.withdraw();
  });

  test('writes no heartbeat file before announce()', async () => {
    const { paths } = await newStore();
    await new DaemonRegistration(paths).registerSite({ domain: 'acme' }).setServed(['abc']);
    expect(await readdir(paths.daemons)).toEqual([]);
  });

  test('writes its heartbeat file again if another host has removed it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { paths } = await newStore();
    const registration = new DaemonRegistration(paths);
    await registration.announce(null);
    await registration.registerSite({ domain: 'acme' }).setServed(['abc']);
    for (const name of await readdir(paths.daemons)) await rm(join(paths.daemons, name));
    vi.advanceTimersByTime(10_000);
    await until(async () =>
      expect(await runningDaemons(paths)).toMatchObject([{ sites: [{ domain: 'acme', serves: ['abc'] }] }]),
    );
    await registration.withdraw();
  });
});
