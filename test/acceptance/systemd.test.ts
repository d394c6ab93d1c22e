import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/index.ts';
import { openBench, waitFor } from '../helpers/daemon.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const UNIT = join(ROOT, 'examples/systemd/docshelf.service');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

describe('serve under a service manager', () => {
  test('notifies the manager when the site listens and when the daemon stops', async () => {
    const folder = await bench.folder();
    const output = join(folder, 'said');
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/systemd-notify'), `#!/bin/sh\necho "$*" >> '${output}'\n`);
    await chmod(join(folder, 'bin/systemd-notify'), 0o755);
    const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NOTIFY_SOCKET: join(folder, 'socket') };
    const daemon = await bench.start({ staticExport: { enabled: false } }, { folder, env });
    const lines = async (count: number): Promise<string[]> =>
      waitFor(
        async () => {
          const text = await readFile(output, 'utf8').catch(() => '');
          const found = text.split('\n').slice(0, -1);
          return found.length >= count ? found : null;
        },
        () => `less than ${count} lines were said`,
      );
    expect((await lines(1))[0]).toBe(`READY=1 STATUS=site on ${daemon.site}`);
    expect(await daemon.stop()).toBe(0);
    expect((await lines(2))[1]).toMatch(/^STOPPING=1 /);
  });

  test('stops normally if the stop signal is repeated at once before systemd-notify has reported the start', async () => {
    const folder = await bench.folder();
    await writeFile(join(folder, 'systemd-notify'), '#!/bin/sh\nexec sleep 1\n');
    await chmod(join(folder, 'systemd-notify'), 0o755);
    const env = { PATH: `${folder}:${process.env.PATH}`, NOTIFY_SOCKET: join(folder, 'socket') };
    const daemon = await bench.start({ staticExport: { enabled: false } }, { folder, env });
    daemon.signal('SIGTERM');
    await sleep(50);
    expect(await daemon.stop()).toBe(0);
    expect(await readdir(join(daemon.dataDir, 'daemons'))).toEqual([]);
  });

  test('keeps running if the notification fails, and sends no notification without NOTIFY_SOCKET', async () => {
    const folder = await bench.folder();
    const daemon = await bench.start(
      { staticExport: { enabled: false } },
      { folder, env: { NOTIFY_SOCKET: join(folder, 'nobody') } },
    );
    await daemon.untilLogged(/to the service manager/);
    expect((await fetch(`${daemon.admin}/livez`)).status).toBe(200);
    const other = await bench.start({ staticExport: { enabled: false } });
    await other.stop();
    expect(other.log()).not.toContain('service manager');
  });
});

describe('commands that root runs while the service is stopped', () => {
  test.skipIf(process.getuid?.() !== 0)('create only files that the user of the service can change', async () => {
    const uid = 65_532;
    const folder = await bench.folder();
    const data = join(folder, 'data');
    await chmod(folder, 0o755);
    await mkdir(data);
    await chown(data, uid, uid);
    await bench.writeConfig(folder, {});
    const archives = await folderOf(join(folder, 'archives'), {
      'docs-2024-06-01.tar.gz': bundle('june'),
      'docs-2024-07-01.tar.gz': bundle('july'),
    });
    // Only root can read the archives.
    await chmod(archives, 0o700);
    for (const args of [
      ['import', 'archives/docs-2024-06-01.tar.gz'],
      ['import', 'archives/docs-2024-07-01.tar.gz'],
      ['preview', '2024-06-01'],
      ['rollback'],
      ['activate', '2024-07-01'],
    ]) {
      const { code, stderr } = await bench.run(['bundle', ...args], { cwd: folder });
      expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
    }
    const entries = await readdir(data, { recursive: true });
    expect(entries).toEqual(expect.arrayContaining(['session.key', 'sites/docs/active']));
    for (const entry of entries) {
      const { uid: user, gid: group } = await lstat(join(data, entry));
      expect({ entry, user, group }).toEqual({ entry, user: uid, group: uid });
    }
    const daemon = await bench.start(null, { folder, uid });
    await daemon.untilServing('2024-07-01');
    expect(await bench.run(['bundle', 'remove', '2024-06-01'], { cwd: folder })).toMatchObject({ code: 0 });
  });
});

describe('the unit for systemd', () => {
  test.skipIf(!has('systemd-analyze'))('is accepted by systemd-analyze verify', async () => {
    const folder = await bench.folder();
    // The verification looks for the program and the man page, which an installation adds.
    const text = (await readFile(UNIT, 'utf8'))
      .replaceAll('/usr/local/bin/docshelf', process.execPath)
      .replace(/^Documentation=.*\n/m, '');
    const unit = join(folder, 'docshelf.service');
    await writeFile(unit, text);
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).toBe('');
  });

  test('has the type notify, and restricts the privileges of the service', async () => {
    const lines = (await readFile(UNIT, 'utf8')).split('\n');
    for (const line of [
      'Type=notify',
      'NotifyAccess=all',
      'User=docshelf',
      'ProtectSystem=strict',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'LimitCORE=0',
    ]) {
      expect(lines).toContain(line);
    }
  });
});

describe('compose.yaml', () => {
  test('publishes its ports on localhost only, and drops the privileges that the container does not need', async () => {
    const { services } = parse(await readFile(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true }) as {
      services: Record<string, { readonly image: string; readonly ports?: readonly string[] }>;
    };
    const own = Object.values(services).filter(({ image }) => image === 'docshelf');
    expect(own).toHaveLength(3);
    for (const service of own) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        ulimits: { core: 0 },
      });
    }
    for (const port of Object.values(services).flatMap(({ ports = [] }) => ports)) {
      expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  test('mounts a valid config', async () => {
    const file = join(ROOT, 'examples/compose/config.yaml');
    const { config } = await loadConfig({ file, env: {}, cwd: ROOT });
    expect(config.staticExport).toMatchObject({
      enabled: true,
      preload: { dir: join(ROOT, 'examples/compose/bundles') },
      bundleUrl: null,
    });
  });

  test.each(['api', 'worker'])('mounts a valid export config for the role %s', async (role) => {
    const file = join(ROOT, 'examples/compose/exports.yaml');
    const env = { DOCSHELF__EXPORT_API__ROLE: role };
    const { config } = await loadConfig({ file, env, cwd: ROOT });
    expect(config.exportApi).toMatchObject({ role, store: { kind: 's3', bucket: 'bundles' } });
    expect(config.database.urlFile?.text.reveal()).toContain('@postgres:5432/');
  });
});
