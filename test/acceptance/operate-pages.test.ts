import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { gzip, tar } from '../../scripts/release/tree.ts';
import { copyObjects, startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { fetchHelm, only, template } from '../helm/chart.ts';
import { Cluster } from '../helm/cluster/cluster.ts';
import { openBench } from '../helpers/daemon.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { PROGRAM } from '../helpers/program.ts';
import { runCommands, writePrograms } from '../helpers/shell.ts';
import { bundle, sha256Of } from './bundles.ts';
import { organizations, startExporter } from './export-service.ts';

/** Runs the commands of the pages in the group Operate, word for word. */
const bench = openBench(afterEach);
const TOKEN = 'a-long-random-text';

const shellBlocks = (page: string): string[] => blocksOf(manualPage(page), 'sh');

/** Returns the only block that contains all these words. */
function blockWith(page: string, ...words: string[]): string {
  const found = shellBlocks(page).filter((block) => words.every((word) => block.includes(word)));
  expect(found, words.join(', ')).toHaveLength(1);
  return found[0] ?? '';
}

/** A folder with `docshelf` on the PATH, and with stand-ins that record their arguments in the file `calls`. */
class Operator {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(fakePrograms: readonly string[] = []): Promise<Operator> {
    const folder = await bench.folder();
    writePrograms(folder, Object.fromEntries(fakePrograms.map((name) => [name, `echo "${name} $*" >> calls`])));
    await writeFile(join(folder, 'acme-export-2026-11-01.tar.gz'), bundle('november'));
    return new Operator(folder);
  }

  /** Returns both outputs of the commands. @throws Error if a command fails */
  async run(commands: string): Promise<string> {
    const { stdout, stderr } = await runCommands(commands, this.folder);
    return stdout + stderr;
  }

  async calls(): Promise<string[]> {
    return (await readFile(join(this.folder, 'calls'), 'utf8')).split('\n').slice(0, -1);
  }
}

const CONFIG = { deployment: { type: 'client-hosted', domain: 'acme' }, staticExport: { enabled: true } };

describe('the commands of docs/backup.md', () => {
  beforeAll(fetchHelm, 120_000);

  it('back up a running daemon, and restore a data folder that serves the same version', async () => {
    const operator = await Operator.open();
    const { folder } = operator;
    let daemon = await bench.start(CONFIG, { folder });
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz --config config.yaml');
    await daemon.untilServing('2026-11-01');
    await operator.run(shellBlocks('backup')[0] ?? '');
    await operator.run(blockWith('backup', 'backup', 'gzip'));
    await daemon.stop();
    await operator.run(blockWith('backup', 'mv data'));
    await operator.run(blockWith('backup', 'gunzip'));
    await operator.run('rm -r data');
    await operator.run(blockWith('backup', 'restore docshelf-backup.tar --config config.yaml'));
    expect(await operator.run(blockWith('backup', 'bundle verify'))).toMatch(/2026-11-01[\s\S]*is intact/);
    daemon = await bench.start(CONFIG, { folder });
    const { active } = await daemon.untilServing('2026-11-01');
    expect(active?.version).toBe('2026-11-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('november');
  });

  it('move the data of a running daemon to another machine', async () => {
    const [operator, other, overSsh] = [await Operator.open(), await Operator.open(), await Operator.open()];
    const daemon = await bench.start(CONFIG, { folder: operator.folder });
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz');
    await daemon.untilServing('2026-11-01');
    await operator.run(blockWith('backup', 'docshelf backup docshelf-move.tar'));
    await bench.writeConfig(other.folder, CONFIG);
    await operator.run(`mv docshelf-move.tar "${other.folder}"`);
    await other.run(blockWith('backup', 'docshelf restore docshelf-move.tar'));
    await bench.writeConfig(overSsh.folder, CONFIG);
    writePrograms(operator.folder, { ssh: `test "$1" = new-host && cd "${overSsh.folder}" && exec sh -c "$2"` });
    const ssh = blockWith('backup', 'ssh new-host')
      .replace('/opt/docshelf-0.1.0-linux-x64/bin/', '')
      .replace('/srv/docs/', '');
    await operator.run(ssh);
    for (const machine of [other, overSsh]) {
      const checked = await machine.run(blockWith('backup', 'docshelf doctor'));
      expect(checked).toMatch(/docshelf can serve a stored version[\s\S]*0 errors/);
    }
  });

  it('restore in a cluster through a pod with the same volume and user as the pod of the chart', async () => {
    const { spec } = parse(blocksOf(manualPage('backup'), 'yaml')[0] ?? '');
    const [container] = spec.containers;
    const deployment = only(template(), 'Deployment');
    const pod = deployment.spec.template.spec;
    const [, selector = ''] = /--for=delete pod .*\n *--selector (\S+)/.exec(manualPage('backup')) ?? [];
    expect(deployment.spec.template.metadata.labels).toMatchObject(
      Object.fromEntries(selector.split(',').map((label) => label.split('=') as [string, string])),
    );
    expect(spec.securityContext).toEqual(pod.securityContext);
    expect(container.securityContext).toEqual(pod.containers[0].securityContext);
    const nameOf = (volumes: { name: string }[]): unknown => volumes.find(({ name }) => name === 'data');
    expect(nameOf(spec.volumes)).toEqual(nameOf(pod.volumes));
    const [operator, other] = [await Operator.open(['kubectl', 'helm']), await Operator.open()];
    await bench.writeConfig(operator.folder, CONFIG);
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz; docshelf backup docshelf-backup.tar');
    for (const block of shellBlocks('backup').filter((text) => /^kubectl .* (?:scale|delete|apply) |^helm/.test(text)))
      await operator.run(block);
    expect((await operator.calls()).join('\n')).toContain('attach --stdin docshelf-restore');
    const data = join(other.folder, 'volume');
    const { name, value } = container.env[0];
    expect(container.volumeMounts[0].mountPath).toBe(value);
    const command = `docshelf ${container.args.join(' ')} < ${operator.folder}/docshelf-backup.tar`;
    // The image names a config, and the pod has none.
    await other.run(`DOCSHELF_CONFIG=/no/config.yaml ${name}=${data} ${command}`);
    expect(await other.run(`${name}=${data} docshelf bundle verify 2026-11-01`)).toContain('is intact');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'restore a backup as root, so that all files belong to the user of the service',
    async () => {
      const operator = await Operator.open();
      await bench.writeConfig(operator.folder, CONFIG);
      // The user of the service needs access to the parent of the data folder.
      await chmod(operator.folder, 0o755);
      writePrograms(operator.folder, { sudo: '[ "$1" = systemctl ] || exec "$@"' });
      await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz; docshelf backup docshelf-backup.tar');
      const commands = blockWith('backup', 'sudo docshelf restore')
        .replaceAll('/var/lib/docshelf', 'data')
        .replace('/etc/docshelf/', '')
        .replace('-o docshelf -g docshelf', '-o 12345 -g 12346');
      await operator.run(commands);
      const { uid, gid } = await stat(join(operator.folder, 'data/sites/acme/active'));
      expect([uid, gid]).toEqual([12_345, 12_346]);
    },
  );

  it('back up and restore the volume of a container', async () => {
    const operator = await Operator.open();
    const { folder } = operator;
    await bench.writeConfig(folder, CONFIG);
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz; mkdir config');
    // A Docker engine with one container, whose volume and config are folders.
    const at = (place: string) => `cd "${folder}"; DOCSHELF__STORAGE__DIR="${folder}/${place}" exec`;
    writePrograms(folder, {
      docker: `case "$*" in
        "exec docs "*) shift 2; ${at('data')} "$@" ;;
        "stop docs" | "rm docs") ;;
        "volume rm docshelf-data") test ! -e volume ;;
        "run --rm --interactive --volume docshelf-data:/var/lib/docshelf docshelf restore - "*) shift 5; \
          DOCSHELF_CONFIG=/no/config.yaml ${at('volume')} "$@" ;;
        *) exit 64 ;;
      esac`,
    });
    expect(shellBlocks('containers').join()).toContain('--volume docshelf-data:/var/lib/docshelf');
    for (const words of ['docker exec', 'docker run']) await operator.run(blockWith('backup', words));
    const verify = `DOCSHELF__STORAGE__DIR="${folder}/volume" docshelf bundle verify 2026-11-01`;
    expect(await operator.run(verify)).toContain('is intact');
  });

  it('restore a site without a backup by a new import of the archive', async () => {
    const operator = await Operator.open();
    const daemon = await bench.start(CONFIG, { folder: operator.folder });
    await operator.run(blockWith('backup', 'bundle import'));
    await daemon.untilServing('2026-11-01');
  });

  it.skipIf(!HAS_POSTGRES)(
    'restore the keys of the database, and remove the schema as uninstall.md shows',
    async () => {
      const server = await PostgresServer.start();
      const operator = await Operator.open();
      const { folder } = operator;
      await writeFile(join(folder, 'database-url'), await server.createDatabase());
      const config = {
        ...CONFIG,
        staticExport: { enabled: false },
        admin: { token: TOKEN },
        database: { urlFile: './database-url' },
      };
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const names = async (admin: string): Promise<string[]> => {
        const { keys } = (await (await fetch(`${admin}/v1/keys`, { headers })).json()) as { keys: { name: string }[] };
        return keys.map(({ name }) => name);
      };
      let daemon = await bench.start(config, { folder });
      const made = await fetch(`${daemon.admin}/v1/keys`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ organization: 'docshelf', type: 'admin', name: 'pipeline' }),
      });
      expect(made.status).toBe(201);
      await operator.run(blockWith('backup', 'pg_dump'));
      await daemon.stop();
      // A newer docshelf may have added tables.
      await operator.run(`psql "$(cat database-url)" --command 'CREATE TABLE docshelf.newer (id integer)'`);
      for (const before of ['', blockWith('uninstall', 'DROP SCHEMA')]) {
        await operator.run(before);
        await operator.run(blockWith('backup', 'pg_restore'));
        daemon = await bench.start(config, { folder });
        expect(await names(daemon.admin)).toEqual(['pipeline']);
        await daemon.stop();
      }
    },
  );

  it.skipIf(!HAS_POSTGRES)('move the export API with its database and its bucket to other servers', async () => {
    const server = await PostgresServer.start();
    const [former, next] = [await startS3Server(), await startS3Server()];
    const configAt = (endpoint: string) => ({
      exportApi: { enabled: true, browser: { verify: 'off' }, store: storeAt(endpoint) },
      database: { urlFile: './database-url' },
    });
    const [operator, other] = [await Operator.open(), await Operator.open()];
    for (const { folder } of [operator, other])
      await writeFile(join(folder, 'database-url'), await server.createDatabase());
    const before = await startExporter(bench, configAt(former.endpoint), { folder: operator.folder });
    const { jobId } = await before.export('acme');
    await before.daemon.stop();
    await operator.run(blockWith('backup', 'pg_dump'));
    await operator.run(shellBlocks('backup')[0] ?? '');
    await operator.run(`cp docshelf.dump docshelf-backup.tar "${other.folder}"`);
    await copyObjects(former.endpoint, next.endpoint);
    await former.close();
    await bench.writeConfig(other.folder, { ...CONFIG, ...configAt(next.endpoint), organizations: organizations() });
    await other.run(blockWith('backup', 'pg_restore'));
    await other.run(blockWith('backup', 'restore docshelf-backup.tar --config config.yaml'));
    const after = await startExporter(bench, configAt(next.endpoint), { folder: other.folder });
    expect(await after.job(jobId)).toMatchObject({ status: 'completed' });
    const link = await after.bundle(jobId);
    expect(new URL(link.bundleUrl).origin).toBe(next.endpoint);
    expect(sha256Of(await after.download(link.bundleUrl))).toBe(link.sha256);
  });

  it('are in as many code blocks as this test file executes', () => {
    expect(shellBlocks('backup')).toHaveLength(22);
  });
});

describe('the commands of docs/console.md and docs/admin-listener.md', () => {
  it('set a token from a file, and use it over HTTP and over the socket', async () => {
    const operator = await Operator.open();
    const { folder } = operator;
    await operator.run(blockWith('console', 'openssl rand'));
    const token = (await readFile(join(folder, 'admin-token'), 'utf8')).trim();
    const serve = blockWith('console', 'docshelf serve');
    const [, name = ''] = /^(\w+)=\.\/admin-token /.exec(serve) ?? [];
    const daemon = await bench.start(CONFIG, { folder, env: { [name]: join(folder, 'admin-token') } });
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz --version 2026-10-01');
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz --version 2026-11-01');
    const curl = (commands: string): string =>
      commands
        .replaceAll('http://127.0.0.1:9090', daemon.admin)
        .replaceAll(/^curl/gm, 'curl --silent --show-error --fail');
    const auth = `AUTH="Authorization: Bearer ${token}"\n`;
    const [reload, activate] = blockWith('admin-listener', 'ADMIN_TOKEN').split('\n').slice(1);
    await operator.run(auth + curl(`${reload}\n${activate}`));
    expect((await daemon.status()).active?.version).toBe('2026-10-01');
    await operator.run(blockWith('admin-listener', '--unix-socket').replace('curl', 'curl --fail'));
    expect(await operator.run(auth + curl(blockWith('admin-listener', '/v1/audit')))).toContain('"action":"activate"');
    const monitoring = await operator.run(curl(blockWith('monitoring', 'healthcheck')));
    expect(monitoring).toContain('"state":"ready"');
    expect(await operator.run(curl(blockWith('troubleshooting', 'jq')))).toContain('the running daemon');
  });
});

describe('the commands of docs/upgrade.md', () => {
  it('check the config and the data with the new program', async () => {
    const operator = await Operator.open(['sudo', 'dpkg-deb']);
    const daemon = await bench.start(CONFIG, { folder: operator.folder });
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz');
    for (const block of shellBlocks('upgrade').filter((text) => /^(?:sudo|dpkg-deb) /.test(text)))
      await operator.run(block);
    const calls = await operator.calls();
    expect(calls.filter((call) => call.includes('restart'))).toEqual([
      'sudo systemctl restart docshelf',
      'sudo systemctl restart docshelf',
    ]);
    const unit = 'sudo cp /opt/docshelf-0.2.0-linux-x64/systemd/docshelf.service /etc/systemd/system/';
    const at = calls.indexOf(unit);
    expect(calls.slice(at + 1, at + 4)).toEqual([
      'sudo systemctl daemon-reload',
      'sudo systemctl restart docshelf',
      'sudo systemctl is-active docshelf',
    ]);
    const copied = unit.split(' ')[2]?.replace('0.2.0', '0.1.0') ?? '';
    expect(shellBlocks('systemd').join('\n')).toContain(copied);
    const checkConfig = shellBlocks('upgrade').find((block) => block.startsWith('docshelf config check')) ?? '';
    expect(await operator.run(checkConfig)).toContain('is valid');
    const check = await operator.run(blockWith('upgrade', 'docshelf bundle list'));
    expect(check).toMatch(/The daemon is docshelf \d[\s\S]*0 errors[\s\S]*2026-11-01/);
    await daemon.stop();
  });
});

describe('the commands of docs/upgrade.md for an installation without a system service', () => {
  it('check the config with the new program, stop the old daemon, and start the new daemon', async () => {
    const operator = await Operator.open();
    const { folder } = operator;
    const launcher = `#!/bin/sh\necho new >> new-program\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
    const program = await tar(
      [{ path: 'docshelf-0.2.0-linux-x64/bin/docshelf', bytes: launcher, mode: 0o755 }],
      new Date(0),
    );
    await writeFile(join(folder, 'docshelf-0.2.0-linux-x64.tar.gz'), await gzip(program));
    const daemon = await bench.start(CONFIG, { folder });
    await operator.run('docshelf bundle import acme-export-2026-11-01.tar.gz');
    await daemon.untilServing('2026-11-01');
    expect(await operator.run(blockWith('upgrade', 'export PATH'))).toContain('is valid');
    expect(await readFile(join(folder, 'new-program'), 'utf8')).toBe('new\n');
    const [doctor = '', ...stop] = blockWith('upgrade', 'kill PID').trim().split('\n');
    const [pid = ''] = /(?<=process id )\d+/.exec(await operator.run(doctor)) ?? [];
    await operator.run(stop.join('\n').replaceAll('PID', pid));
    expect(await operator.run(blockWith('upgrade', 'docshelf serve'))).toContain('is ready');
    await writeFile(join(folder, 'config.yaml'), 'server: [');
    // The loop ends, because the daemon has ended.
    expect(await operator.run(blockWith('upgrade', 'docshelf serve'))).toMatch(/Cannot use the config/);
  });
});

describe('the commands of docs/upgrade.md, docs/runbook.md and docs/troubleshooting.md for a cluster', () => {
  beforeAll(fetchHelm, 120_000);

  it('upgrade the Helm release, show the log and the versions of the pod, and run docshelf doctor', async () => {
    const folder = await bench.folder();
    const cluster = new Cluster(folder);
    bench.onEnd(() => cluster.stop());
    await writeFile(join(folder, 'acme-export-2026-11-01.tar.gz'), bundle('november'));
    const run = (commands: string): Promise<string> =>
      cluster.run(commands, { HOME: folder, IMAGE_DIGEST: `sha256:${'0'.repeat(64)}` });
    await run(blockWith('kubernetes', 'helm/examples/inbox.yaml'));
    await run(blockWith('upgrade', 'helm upgrade'));
    expect(await run(blockWith('upgrade', 'helm test'))).toContain('responds with 200');
    expect(await run(blockWith('runbook', 'bundle list'))).toContain('2026-11-01');
    expect(await run(blockWith('troubleshooting', 'kubectl'))).toContain('the running daemon');
    await run(blockWith('backup', 'kubectl', 'docshelf backup'));
    const other = await bench.folder();
    await bench.writeConfig(other, CONFIG);
    const restored = await bench.run(['restore', join(folder, 'docshelf-backup.tar')], { cwd: other });
    expect(restored).toMatchObject({ code: 0 });
    await run(blockWith('uninstall', 'persistence.keep'));
  });
});

describe('the commands of docs/uninstall.md', () => {
  beforeAll(fetchHelm, 120_000);

  it('keep the persistent volume claim if persistence.keep is set, which is not the default of the chart', () => {
    const [, setting = ''] = /--set (persistence\.keep=\S+)/.exec(blockWith('uninstall', 'persistence.keep')) ?? [];
    const annotationsOf = (...args: string[]): unknown =>
      only(template(...args), 'PersistentVolumeClaim').metadata.annotations;
    expect(annotationsOf()).toBeUndefined();
    expect(annotationsOf('--set', setting)).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });

  it('remove the files that systemd.md installs, and the volume that containers.md creates', async () => {
    const operator = await Operator.open(['sudo', 'docker']);
    for (const block of shellBlocks('uninstall').filter((text) => /^(?:sudo|docker)/.test(text)))
      await operator.run(block);
    const calls = (await operator.calls()).join('\n');
    const installed = shellBlocks('systemd').join('\n');
    for (const path of ['/usr/local/bin/docshelf', '/etc/docshelf', '/etc/systemd/system/']) {
      expect(installed).toContain(path);
      expect(calls).toContain(path);
    }
    expect(shellBlocks('containers').join('\n')).toContain('docshelf-data:');
    expect(calls).toContain('docker volume rm docshelf-data');
  });
});
