import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEEDED_OUTSIDE } from '../outside.ts';
import { hostFiles, PLATFORMS, type Platform, programFiles, type Release, ROOT, read } from './program.ts';
import { ar, type Entry, filesOf, gzip, tar, under } from './tree.ts';

/** Package with its dependencies inside, so that npm runs no install scripts. npm adds Node 24 as an optional dependency. */
export async function npmPackage(release: Release): Promise<Buffer> {
  const given = JSON.parse(read('package.json'));
  const { private: _, scripts: __, devDependencies: ___, dependencies, files: ____, ...kept } = given;
  const bundled = Object.fromEntries(
    NEEDED_OUTSIDE.map((name) => [name, dependencies[name] ?? dependencies['onnxruntime-node']]),
  );
  const manifest = {
    ...kept,
    version: release.version,
    // Allow an older Node for the launcher, which then runs the optional dependency.
    engines: { node: '>=18' },
    dependencies: bundled,
    bundleDependencies: Object.keys(bundled),
  };
  const entries = programFiles(release, PLATFORMS).map((entry) =>
    entry.path === 'package.json' ? { path: entry.path, bytes: `${JSON.stringify(manifest, null, 2)}\n` } : entry,
  );
  return gzip(await tar(under('package/', entries), release.date));
}

export async function hostArchive(release: Release, platform: Platform): Promise<Buffer> {
  const folder = `docshelf-${release.version}-linux-${platform.node}/`;
  const entries = [...hostFiles(release, platform), ...filesOf(join(ROOT, 'examples/systemd'), 'systemd')];
  return gzip(await tar(under(folder, entries), release.date));
}

/** Package with the same content as that of `helm package`, but with fixed times. */
export async function chartPackage({ date }: Release): Promise<Buffer> {
  const isPacked = (path: string): boolean => !path.endsWith('.tgz');
  return gzip(
    await tar([...filesOf(join(ROOT, 'helm'), 'docshelf', isPacked), ...[own('LICENSE', 'docshelf/LICENSE')]], date),
  );
}

const own = (from: string, path: string): Entry => ({ path, file: join(ROOT, from) });

export async function debianPackage(release: Release, platform: Platform): Promise<Buffer> {
  const { version, date } = release;
  const program = hostFiles(release, platform).filter(
    ({ path }) => !/^(?:LICENSE|NOTICE|README\.md|CHANGELOG\.md)$/.test(path),
  );
  const unit = read('examples/systemd/docshelf.service').replaceAll('/usr/local/bin/docshelf', '/usr/bin/docshelf');
  const files: Entry[] = [
    ...under('usr/lib/docshelf/', program),
    { path: 'usr/bin/docshelf', link: '../lib/docshelf/bin/docshelf' },
    { path: 'usr/lib/systemd/system/docshelf.service', bytes: unit },
    { path: 'usr/share/man/man1/docshelf.1.gz', bytes: await gzip(Buffer.from(read('dist/man/docshelf.1'))) },
    { path: 'usr/share/doc/docshelf/copyright', bytes: `${read('NOTICE')}\n${read('LICENSE')}` },
    { path: 'usr/share/doc/docshelf/changelog.gz', bytes: await gzip(Buffer.from(read('CHANGELOG.md'))) },
    { path: 'etc/docshelf/config.yaml', bytes: firstConfig(), mode: 0o640 },
  ];
  const size = files.reduce((sum, entry) => sum + contentOf(entry).length, 0);
  const control = `Package: docshelf
Version: ${version}
Architecture: ${platform.system}
Maintainer: The docshelf maintainers <maintainers@docshelf.example>
Installed-Size: ${Math.ceil(size / 1024)}
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), passwd
Section: web
Priority: optional
Homepage: https://docshelf.example
Description: self-hosted home of documentation bundles
 Serves, swaps and searches pre-rendered documentation, also without a
 network. The package contains Node and the model for the search.
`;
  const sums = files
    .filter(({ link }) => link === undefined)
    .map((entry) => `${createHash('md5').update(contentOf(entry)).digest('hex')}  ${entry.path}\n`);
  const controlFiles: Entry[] = [
    { path: 'control', bytes: control },
    { path: 'conffiles', bytes: '/etc/docshelf/config.yaml\n' },
    { path: 'md5sums', bytes: sums.join('') },
    ...['postinst', 'prerm', 'postrm'].map((name) => ({ ...own(`scripts/release/debian/${name}`, name), mode: 0o755 })),
  ];
  return ar(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.gz', await gzip(await tar(under('./', controlFiles), date))],
      ['data.tar.gz', await gzip(await tar(under('./', files), date))],
    ],
    date,
  );
}

const contentOf = ({ file, bytes = '' }: Entry): Buffer =>
  file === undefined ? Buffer.from(bytes) : readFileSync(file);

/** Config that `docshelf init` writes. */
function firstConfig(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-config-'));
  try {
    const file = join(folder, 'config.yaml');
    const options = ['--yes', '--data-dir', '/var/lib/docshelf', '--config', file];
    execFileSync(process.execPath, [join(ROOT, 'dist/main.js'), 'init', ...options]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
