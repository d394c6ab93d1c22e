import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { verifyFile } from '../../src/archive/index.ts';
import { bundle } from '../acceptance/bundles.ts';
import { fetchHelm, podsOf, ROOT, siteOf, templateOf } from '../helm/chart.ts';
import { openBench, waitFor } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';

/** The release of this checkout, and the main job with each of its packages in a folder without the checkout. */
const bench = openBench(afterAll);
const isRoot = process.getuid?.() === 0;
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const [node, system] = process.arch === 'arm64' ? ['arm64', 'arm64'] : ['x64', 'amd64'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const ARCHIVE = 'acme-export-2026-11-01.tar.gz';
let release: string;

const sh = (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string =>
  execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const createRelease = (folder: string, env: NodeJS.ProcessEnv = {}): string =>
  sh(
    'sh',
    ['-c', 'umask "$0"; exec sh scripts/run.sh release --dry-run --output "$1"', env.UMASK ?? '022', folder],
    ROOT,
    {
      ...process.env,
      DOCSHELF_BUILT: '1',
      DOCSHELF_RELEASE_GZIP_LEVEL: '1',
      ...env,
    },
  );
const digestsOf = (folder: string): Promise<string> => readFile(join(folder, 'SHA256SUMS'), 'utf8');

beforeAll(async () => {
  release = join(await bench.folder(), 'release');
  createRelease(release);
}, 900_000);

interface Install {
  /** Starts a command of docshelf with an empty environment except for this one. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folder that the program sees as its root. */
  readonly root?: string;
}

/** Imports a bundle, serves it, and finds its page by meaning, which needs the model and the native library. */
async function doMainJob({ command, env = {}, root = '' }: Install): Promise<void> {
  const folder = root === '' ? await bench.folder() : '/etc/docshelf';
  const data = root === '' ? join(folder, 'data') : '/var/lib/docshelf';
  const [port, admin, api] = (await freePorts(3)) as [number, number, number];
  const config = {
    deployment: { type: 'air-gapped', domain: 'acme' },
    staticExport: { enabled: true },
    server: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: admin },
    api: { host: '127.0.0.1', port: api },
    storage: { dir: data },
  };
  await writeFile(join(root, folder, 'config.yaml'), stringify(config));
  const all = { PATH, HOME: '/nonexistent', ...env, DOCSHELF_CONFIG: join(folder, 'config.yaml') };
  const [program = '', ...first] = command;
  const imported = spawnSync(program, [...first, 'bundle', 'import', '-', '--version', '2026-11-01'], {
    env: all,
    input: bundle('november', {
      'refunds.html': '<!doctype html><title>Refunds</title><h1>Refunds</h1><p>Customers are reimbursed in full.</p>',
    }),
  });
  expect({ code: imported.status, text: String(imported.stderr) }).toMatchObject({ code: 0 });
  const daemon = spawn(program, [...first, 'serve'], { env: all, stdio: 'ignore' });
  const ended = new Promise((resolve) => daemon.once('exit', (code) => resolve(code)));
  try {
    const get = (url: string): Promise<string | null> =>
      fetch(url).then(
        (each) => each.text(),
        () => null,
      );
    const page = await waitFor(
      async () => {
        const text = await get(`http://127.0.0.1:${port}/`);
        return text?.includes('november') ? text : null;
      },
      () => 'the daemon does not serve the page',
    );
    expect(page).toContain('november');
    await waitFor(
      async () => ((await get(`http://127.0.0.1:${admin}/v1/status`))?.includes('"semantic":"ready"') ? true : null),
      () => 'the search by meaning is not ready',
    );
    expect(spawnSync(program, [...first, 'healthcheck'], { env: all }).status).toBe(0);
  } finally {
    daemon.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
}

describe('the folder of a release', () => {
  it('contains every file with a checksum, and a signature of the checksums', async () => {
    const names = (await readdir(release)).sort();
    const perPlatform = ['x64', 'arm64'].map((each) => `docshelf-${version}-linux-${each}.tar.gz`);
    const perSystem = ['amd64', 'arm64'].flatMap((each) => [
      `docshelf_${version}_${each}.deb`,
      `docshelf-${version}-image-${each}.tar`,
      `docshelf-${version}-image-${each}.cdx.json`,
    ]);
    const papers = ['.cdx.json', '.intoto.json', '-chart.tgz', '.tgz'].map((end) => `docshelf-${version}${end}`);
    const others = ['SHA256SUMS', 'SHA256SUMS.minisig', 'image-digests.txt', 'minisign.pub', 'release-notes.md'];
    expect(names).toEqual([...perPlatform, ...perSystem, ...papers, ...others].sort());
    const checked = sh('sha256sum', ['--check', '--strict', 'SHA256SUMS'], release).trim().split('\n');
    expect(checked).toHaveLength(names.length - 3);
    const key = await readFile(join(release, 'minisign.pub'), 'utf8');
    const signature = await readFile(join(release, 'SHA256SUMS.minisig'), 'utf8');
    const { trustedComment } = await verifyFile(join(release, 'SHA256SUMS'), signature, [key.trim()]);
    expect(trustedComment).toBe(`docshelf ${version}`);
  });

  it('has the same digests if it is created again, with another time zone and umask', async () => {
    const again = join(await bench.folder(), 'again');
    createRelease(again, { TZ: 'Pacific/Auckland', UMASK: '077' });
    expect(await digestsOf(again)).toBe(await digestsOf(release));
  }, 900_000);

  it('contains a provenance with the digest of each file, the commit and the pinned packages', async () => {
    const statement = JSON.parse(await readFile(join(release, `docshelf-${version}.intoto.json`), 'utf8'));
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
    });
    const sums = await digestsOf(release);
    for (const { name, digest } of statement.subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`);
    const [source, ...others] = statement.predicate.buildDefinition.resolvedDependencies;
    expect(source.digest.gitCommit).toMatch(new RegExp(`^${sh('git', ['rev-parse', 'HEAD'], ROOT).trim()}`));
    expect(others.map(({ uri }: { uri: string }) => uri)).toContainEqual(
      expect.stringMatching(/^pkg:deb\/debian\/libc6@/),
    );
  });

  it('contains the notes of this version from the changelog, and an SBOM that lists Node and Debian packages', async () => {
    expect(await readFile(join(release, 'release-notes.md'), 'utf8')).toContain('### For operators');
    const { components } = JSON.parse(
      await readFile(join(release, `docshelf-${version}-image-${system}.cdx.json`), 'utf8'),
    );
    const names = components.map((each: { name: string }) => each.name);
    expect(names).toEqual(expect.arrayContaining(['node', 'debian', 'libc6', 'libstdc++6', 'onnxruntime-node']));
  });
});

describe('a release, installed in a clean place,', () => {
  it('serves a bundle from the npm package, without install scripts, with the Node of this machine', async () => {
    const folder = await bench.folder();
    const env = {
      PATH,
      HOME: folder,
      npm_config_cache: join(folder, 'cache'),
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
    };
    await writeFile(join(folder, 'package.json'), '{}');
    const archive = join(release, `docshelf-${version}.tgz`);
    sh('npm', ['install', '--no-audit', '--no-fund', archive], folder, env);
    expect((await readdir(join(folder, 'node_modules'))).sort()).toEqual(
      ['.bin', '.package-lock.json', 'docshelf', `node-linux-${node}`].sort(),
    );
    expect(sh('npx', ['docshelf', '--version'], folder, env).trim()).toBe(version);
    await doMainJob({ command: [join(folder, 'node_modules/.bin/docshelf')] });
  });

  it('serves a bundle with the program from the .tar.gz archive, which contains Node, without Node on the PATH', async () => {
    const folder = await bench.folder();
    sh('tar', ['-xzf', join(release, `docshelf-${version}-linux-${node}.tar.gz`), '-C', folder], folder);
    const bin = await pathWithoutNode();
    await doMainJob({ command: [join(folder, `docshelf-${version}-linux-${node}/bin/docshelf`)], env: { PATH: bin } });
  });

  it('serves a bundle from the Debian package', async () => {
    const folder = await bench.folder();
    const file = join(release, `docshelf_${version}_${system}.deb`);
    sh('dpkg-deb', ['--extract', file, folder], folder);
    expect(sh('dpkg-deb', ['--field', file, 'Package', 'Version', 'Architecture'], folder)).toContain(
      `Version: ${version}\n`,
    );
    expect(await readFile(join(folder, 'etc/docshelf/config.yaml'), 'utf8')).toContain('dir: "/var/lib/docshelf"');
    const bin = await pathWithoutNode();
    await doMainJob({ command: [join(folder, 'usr/bin/docshelf')], env: { PATH: bin } });
  });

  it.skipIf(!isRoot)(
    'serves a bundle from the layers of the image, with the user and the environment of the image, without a shell',
    async () => {
      const folder = await bench.folder();
      const root = join(folder, 'root');
      await mkdir(root);
      sh('tar', ['-xf', join(release, `docshelf-${version}-image-${system}.tar`)], folder);
      const [{ Config, Layers }] = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
      for (const layer of Layers) sh('tar', ['-xzf', join(folder, layer), '-C', root], folder);
      const { architecture, config } = JSON.parse(await readFile(join(folder, Config), 'utf8'));
      expect({ architecture, labels: config.Labels }).toMatchObject({
        architecture: system,
        labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'Apache-2.0' },
      });
      for (const path of ['LICENSE', 'NOTICE']) expect(existsSync(join(root, path))).toBe(true);
      for (const path of ['bin', 'usr/bin/sh', 'usr/bin/npm', 'usr/bin/env'])
        expect(existsSync(join(root, path))).toBe(false);
      await chmod(join(root, 'etc/docshelf'), 0o755);
      await chmod(folder, 0o755);
      const [user, group] = config.User.split(':');
      await chown(join(root, 'etc/docshelf'), Number(user), Number(group));
      const env = Object.fromEntries(config.Env.map((line: string) => line.split(/=(.*)/s)));
      env.PATH += `:${PATH}`;
      for (const path of ['proc', 'dev']) await mkdir(join(root, path));
      // The mounts of a container, which end with the process.
      const mounts =
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && user=$1 && shift && exec chroot "--userspec=$user" --groups= "$0" docshelf "$@"';
      const command = ['unshare', '--mount', 'sh', '-c', mounts, root, config.User];
      expect(config).toMatchObject({ Entrypoint: ['docshelf'], Cmd: ['serve'] });
      await doMainJob({ command, env, root });
    },
  );

  it.skipIf(!isRoot).each([
    ['systemd', 'the Debian package', 'dpkg --install'],
    ['systemd', 'the archive', 'useradd'],
    ['install', 'the npm package', 'npm install --global'],
    ['install', 'the archive without root rights', 'tar -xzf docshelf'],
  ])('serves a bundle after the commands of the page %s.md for %s', async (page, _, words) => {
    const blocks = blocksOf(manualPage(page), 'sh');
    const install = blocks.find((block) => block.includes(words)) ?? '';
    const [port, admin, api] = (await freePorts(3)) as [number, number, number];
    const folder = await bench.folder();
    await writeFile(join(folder, ARCHIVE), bundle('november'));
    const start = blocks.find((block) => block.includes('docshelf serve')) ?? '';
    const bundleImport = blocks.find((block) => block.includes('bundle import')) ?? '';
    const serve =
      page === 'systemd'
        ? ''
        : `${start.replace('docshelf serve', 'setpriv --pdeathsig=KILL docshelf serve')}`.replace(/\n$/, ' &\n');
    const uninstall = blocksOf(manualPage('uninstall'), 'sh').filter((block) => block.startsWith('sudo'));
    const isPackage = words.startsWith('dpkg');
    const remove = uninstall.filter((block) => block.includes('dpkg') === isPackage || block.includes('userdel'));
    // dpkg stops the service only if systemd runs.
    const removed = `${isPackage ? 'systemctl disable --now docshelf' : ''}
      ${remove.join('\n').replaceAll('x64', node)}
      if getent passwd docshelf; then echo 'left: user'; fi
      find /etc /opt /usr /var /run -xdev -iname '*docshelf*' -printf 'left: %p\\n'`;
    const commands = `${install.replaceAll('x64', node).replaceAll('amd64', system)}
      ${serve}
      ${page === 'systemd' ? 'systemctl start docshelf' : ''}
      tries=0
      until docshelf healthcheck --live --config "$CONFIG" 2>/dev/null; do tries=$((tries + 1)); [ $tries -lt 300 ]; sleep 0.2; done
      ${bundleImport}
      curl --fail --silent http://127.0.0.1:${port}/
      ls -l "$CONFIG"
      ${page === 'systemd' ? removed : ''}`;
    const env = {
      DOCSHELF__SERVER__PORT: String(port),
      DOCSHELF__ADMIN__PORT: String(admin),
      DOCSHELF__API__PORT: String(api),
      CONFIG: page === 'systemd' ? '/etc/docshelf/config.yaml' : 'config.yaml',
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
    };
    const output = onCleanMachine(folder, commands, env);
    expect(output).toContain('november');
    if (page === 'systemd') expect(output).toContain('-rw-r----- 1 root docshelf ');
    expect(output).not.toContain('left: ');
  });

  it('has a chart that uses the image of this version', async () => {
    fetchHelm();
    const manifests = templateOf(join(release, `docshelf-${version}-chart.tgz`));
    const [pod] = podsOf([siteOf(manifests)]);
    expect(pod?.spec.containers[0].image).toMatch(new RegExp(`:${version}$`));
  });

  it('has the example values of docs/kubernetes.md in the archive of the chart', async () => {
    const archive = join(release, `docshelf-${version}-chart.tgz`);
    const packed = sh('tar', ['-tzf', archive], release).split('\n');
    const named = manualPage('kubernetes').match(/(?<=helm\/)examples\/[\w-]+\.yaml/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    expect(packed).toEqual(expect.arrayContaining(named.map((path) => `docshelf/${path}`)));
  });
});

/** A folder with the programs that the launcher needs. */
async function pathWithoutNode(): Promise<string> {
  const bin = await bench.folder();
  for (const name of ['sh', 'dirname', 'readlink', 'uname']) {
    await cp(sh('sh', ['-c', `command -v ${name}`], bin).trim(), join(bin, name), { dereference: true });
  }
  return bin;
}

const MACHINE = join(import.meta.dirname, 'clean-machine.sh');

/** Output of commands on a copy of this machine's file system, which is discarded. They run in a folder with the release. */
function onCleanMachine(folder: string, commands: string, env: NodeJS.ProcessEnv): string {
  const environment = { PATH, HOME: '/root', ...env };
  return sh(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', MACHINE, release, folder, commands],
    folder,
    environment,
  );
}
