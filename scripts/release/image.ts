import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianPackages, imageSbom, mainWithoutEnv, SYSTEM_FILES } from '../image-parts.ts';
import {
  CACHE,
  fetchInto,
  NODE_VERSION,
  nodeFiles,
  type Platform,
  programFiles,
  type Release,
  read,
} from './program.ts';
import { type Entry, filesOf, gzip, sha256, tar, under } from './tree.ts';

/** Debian packages with libraries, by name with version and digest. They are pinned, so that a commit always gives the same image. */
const SYSTEM: {
  readonly id: string;
  readonly version: string;
  readonly suite: string;
  readonly packages: Readonly<Record<Platform['system'], Readonly<Record<string, readonly [string, string]>>>>;
} = JSON.parse(read('scripts/release/system.json'));
const OS_RELEASE = `ID=${SYSTEM.id}\nVERSION_ID="${SYSTEM.version}"\nPRETTY_NAME="Debian GNU/Linux ${SYSTEM.version}"\n`;

/** Files to keep: libraries, licenses, and fields for image scanners. Omits converters of character sets, and locales. */
const KEPT =
  /^(?:usr\/lib\/[^/]+-linux-gnu\/[^/]+\.so|usr\/lib(?:64)?\/ld-linux|usr\/share\/doc\/[^/]+(?:\/copyright)?$|var\/lib\/dpkg\/)/;

export interface Image {
  /** OCI layout in a tar, which "docker load" and "podman load" also accept. */
  readonly archive: Buffer;
  readonly digest: string;
  readonly sbom: object;
}

/** Creates the image by copying files. Needs no container engine and, for another processor, no emulation. */
export async function image(release: Release, platform: Platform): Promise<Image> {
  const { version, date } = release;
  const folder = systemPackages(platform);
  const status = textOf(join(folder, 'status'));
  const facts = { node: NODE_VERSION, release: OS_RELEASE, packages: debianPackages(status) };
  const sbom = imageSbom(JSON.parse(read('dist/sbom.json')), facts) as object;
  const isProgram = ({ path }: Entry): boolean => /^(?:dist\/|package\.json$)/.test(path);
  const program = programFiles(release, [platform]);
  const [node, license] = nodeFiles(platform) as [Entry, Entry];
  // Put the layers that change least first.
  const layers = await Promise.all(
    [
      [
        ...filesOf(join(folder, 'root'), '', (path) => KEPT.test(path)),
        // Add these links, which Debian has in the package base-files.
        { path: 'lib', link: 'usr/lib' },
        { path: 'lib64', link: 'usr/lib64' },
        { ...node, path: 'usr/bin/node' },
        { ...license, path: 'usr/share/doc/node/copyright' },
        ...Object.entries(SYSTEM_FILES).map(([path, bytes]) => ({ path, bytes })),
        { path: 'etc/os-release', bytes: OS_RELEASE },
        { path: 'tmp/', mode: 0o1777 },
      ],
      under(
        'opt/docshelf/',
        program.filter(({ path }) => /^(?:node_modules|models)\//.test(path)),
      ),
      [
        ...under('opt/docshelf/', program.filter(isProgram)).map((entry) =>
          entry.path === 'opt/docshelf/dist/main.js'
            ? { path: entry.path, bytes: mainWithoutEnv(read('dist/main.js')), mode: 0o755 }
            : entry,
        ),
        { path: 'opt/docshelf/sbom.json', bytes: `${JSON.stringify(sbom, null, 2)}\n` },
        { path: 'usr/local/bin/docshelf', link: '/opt/docshelf/dist/main.js' },
        ...program.filter(({ path }) => path === 'LICENSE' || path === 'NOTICE'),
        { path: 'etc/docshelf/' },
        { path: 'var/lib/docshelf/', owner: 65532 },
      ],
    ].map(async (entries: readonly Entry[]) => {
      const plain = await tar(entries, date);
      return { diffId: `sha256:${sha256(plain)}`, bytes: await gzip(plain) };
    }),
  );
  const created = date.toISOString().replace('.000', '');
  const config = blob({
    created,
    architecture: platform.system,
    os: 'linux',
    config: settings({ VERSION: version, REVISION: release.revision, CREATED: created }),
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'scripts/release' })),
  });
  const blobs = layers.map(({ bytes }) => ({ digest: sha256(bytes), bytes }));
  const type = (name: string): string => `application/vnd.oci.image.${name}`;
  const described = (mediaType: string, { digest, bytes }: Blob) => ({
    mediaType,
    digest: `sha256:${digest}`,
    size: bytes.length,
  });
  const manifest = blob({
    schemaVersion: 2,
    mediaType: type('manifest.v1+json'),
    config: described(type('config.v1+json'), config),
    layers: blobs.map((each) => described(type('layer.v1.tar+gzip'), each)),
  });
  const place = ({ digest }: Blob): string => `blobs/sha256/${digest}`;
  const annotations = {
    'org.opencontainers.image.ref.name': version,
    'io.containerd.image.name': `docker.io/library/docshelf:${version}`,
  };
  const index = {
    schemaVersion: 2,
    mediaType: type('index.v1+json'),
    manifests: [
      {
        ...described(type('manifest.v1+json'), manifest),
        annotations,
        platform: { architecture: platform.system, os: 'linux' },
      },
    ],
  };
  const archive = await tar(
    [
      { path: 'oci-layout', bytes: '{"imageLayoutVersion":"1.0.0"}' },
      { path: 'index.json', bytes: JSON.stringify(index) },
      // Add the list of "docker save", for engines that do not read OCI layouts.
      {
        path: 'manifest.json',
        bytes: JSON.stringify([{ Config: place(config), RepoTags: [`docshelf:${version}`], Layers: blobs.map(place) }]),
      },
      ...[config, manifest, ...blobs].map((each) => ({ path: place(each), bytes: each.bytes })),
    ],
    date,
  );
  return { archive, digest: `sha256:${manifest.digest}`, sbom };
}

interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

function blob(value: object): Blob {
  const bytes = Buffer.from(JSON.stringify(value));
  return { digest: sha256(bytes), bytes };
}

const textOf = (file: string): string => readFileSync(file, 'utf8');

/** Configuration of the image in the last stage of the Dockerfile. @param args values of its ARG lines */
function settings(args: Readonly<Record<string, string>>) {
  const [stage = ''] = /(?<=^FROM scratch\n)[\s\S]*/m.exec(read('Dockerfile')) ?? [];
  const lines = stage.replaceAll(/\\\n/g, ' ').replaceAll(/\$\{(\w+)\}/g, (_, name) => args[name] ?? '');
  const valuesOf = (word: string): string[] =>
    Array.from(lines.matchAll(new RegExp(`^${word} (.*)$`, 'gm')), ([, value = '']) => value.trim());
  const pairs = (word: string): [string, string][] =>
    valuesOf(word).flatMap((line) =>
      Array.from(line.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g), ([, key = '', quoted, plain]) => [
        key,
        quoted ?? plain ?? '',
      ]),
    );
  const only = (word: string): string => valuesOf(word)[0] ?? '';
  const flags = (text: string): Record<string, number> =>
    Object.fromEntries(
      Array.from(text.matchAll(/--([\w-]+)=(\d+)s/g), ([, name = '', seconds]) => [name, Number(seconds) * 1e9]),
    );
  const health = only('HEALTHCHECK');
  const { interval, timeout, 'start-period': start } = flags(health);
  return {
    User: only('USER'),
    ExposedPorts: Object.fromEntries(
      only('EXPOSE')
        .split(' ')
        .map((port) => [`${port}/tcp`, {}]),
    ),
    Env: pairs('ENV').map(([key, value]) => `${key}=${value}`),
    Entrypoint: JSON.parse(only('ENTRYPOINT')),
    Cmd: JSON.parse(only('CMD')),
    Healthcheck: {
      Test: ['CMD', ...JSON.parse(health.slice(health.indexOf('[')))],
      Interval: interval,
      Timeout: timeout,
      StartPeriod: start,
    },
    Volumes: { [only('VOLUME')]: {} },
    WorkingDir: only('WORKDIR'),
    Labels: Object.fromEntries(pairs('LABEL')),
  };
}

/** Folder with the libraries of the pinned packages in `root`, and the control fields of all these packages in `status`. */
function systemPackages({ system }: Platform): string {
  const pinned = Object.entries(SYSTEM.packages[system]);
  const key = sha256(JSON.stringify(pinned)).slice(0, 16);
  return fetchInto(join(CACHE, `system-${system}-${key}`), (work) => {
    const debs = join(work, 'debs');
    mkdirSync(debs);
    download(
      join(work, 'apt'),
      debs,
      system,
      pinned.map(([name, [version]]) => `${name}=${version}`),
    );
    const files = readdirSync(debs).map((name) => join(debs, name));
    const status: string[] = [];
    for (const [name, [version, digest]] of pinned) {
      const file = files.find((each) => sha256(readFileSync(each)) === digest);
      if (file === undefined)
        throw new Error(`${name} ${version} has another digest than scripts/release/system.json lists`);
      const control = execFileSync('dpkg-deb', ['--field', file], { encoding: 'utf8' });
      status.push(control);
      const root = join(work, 'root');
      mkdirSync(join(root, 'var/lib/dpkg/status.d'), { recursive: true });
      writeFileSync(join(root, 'var/lib/dpkg/status.d', name), control);
      execFileSync('dpkg-deb', ['--extract', file, root]);
    }
    writeFileSync(join(work, 'status'), status.join('\n'));
  });
}

/** Downloads packages of any release or processor with apt, without a change to the apt settings of this machine. */
function download(state: string, to: string, system: string, packages: readonly string[]): void {
  mkdirSync(join(state, 'lists/partial'), { recursive: true });
  mkdirSync(join(state, 'cache/archives/partial'), { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const suites = [
    `http://deb.debian.org/debian ${SYSTEM.suite}`,
    `http://deb.debian.org/debian-security ${SYSTEM.suite}-security`,
  ];
  writeFileSync(join(state, 'sources'), suites.map((suite) => `deb [signed-by=${keys}] ${suite} main\n`).join(''));
  const options = {
    'APT::Architecture': system,
    'APT::Architectures::': system,
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
    'Dir::Etc::sourcelist': join(state, 'sources'),
    'Dir::Etc::sourceparts': '-',
    'APT::Sandbox::User': 'root',
  };
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  for (const args of [['update'], ['download', ...packages]]) {
    try {
      execFileSync('apt-get', ['-qq', ...given, ...args], { cwd: to, stdio: ['ignore', 'ignore', 'pipe'] });
    } catch (cause) {
      const next = 'check the network, and that scripts/release/system.json lists the versions that Debian has now';
      throw new Error(`Cannot download packages of Debian: ${next}`, { cause });
    }
  }
}
