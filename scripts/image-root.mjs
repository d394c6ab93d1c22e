/**
 * Writes the file tree of the image into a folder: the built program in the current folder, and Node and the libraries of this
 * machine. The Dockerfile runs `node image-root.mjs FOLDER` in one of its stages.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { debianPackages, imageSbom, mainWithoutEnv, SYSTEM_FILES } from './image-parts.ts';

const root = process.argv[2];
const loader = process.arch === 'x64' ? '/lib64/ld-linux-x86-64.so.2' : '/lib/ld-linux-aarch64.so.1';
const put = (from, to) => {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  cpSync(from, join(root, to), { recursive: true, dereference: true });
};
const textAt = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

for (const path of ['dist', 'models', 'node_modules', 'package.json']) put(path, `opt/docshelf/${path}`);
for (const path of ['LICENSE', 'NOTICE']) put(path, path);
put(process.execPath, 'usr/bin/node');

// The system's loader prints the libraries of a program or module. Omit those in node_modules, which is copied as a whole.
const modules = globSync(`node_modules/onnxruntime-node/bin/**/${process.arch}/*`);
const listed = [process.execPath, ...modules].map((file) =>
  execFileSync(loader, ['--list', file], { encoding: 'utf8' }),
);
const here = process.cwd();
const libraries = new Set(
  listed
    .flatMap((text) => Array.from(text.matchAll(/(\/\S+) \(0x/g), ([, path]) => path))
    .filter((path) => !path.startsWith(here)),
);
libraries.add(loader);
for (const path of libraries) put(path, path);

for (const [path, text] of Object.entries(SYSTEM_FILES)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
for (const path of ['etc/docshelf', 'var/lib', 'tmp', 'usr/local/bin'])
  mkdirSync(join(root, path), { recursive: true });
// The Dockerfile copies the data folder with the user of the service as its owner.
mkdirSync(`${root}-owned/docshelf`, { recursive: true });
chmodSync(join(root, 'tmp'), 0o1777);
const main = join(root, 'opt/docshelf/dist/main.js');
writeFileSync(main, mainWithoutEnv(readFileSync(main, 'utf8')));
chmodSync(main, 0o755);
symlinkSync('/opt/docshelf/dist/main.js', join(root, 'usr/local/bin/docshelf'));

const release = textAt('/etc/os-release');
if (release !== '') put('/etc/os-release', 'etc/os-release');
const names = new Set([...libraries].flatMap((path) => [path, realpathSync(path)]));
const owners = new Set(
  globSync('/var/lib/dpkg/info/*.list')
    .filter((list) =>
      readFileSync(list, 'utf8')
        .split('\n')
        .some((line) => names.has(line)),
    )
    .map((list) => /([^/:]+)(?::\w+)?\.list$/.exec(list)[1]),
);
const packages = debianPackages(textAt('/var/lib/dpkg/status')).filter(({ name }) => owners.has(name));
const sbom = imageSbom(JSON.parse(readFileSync('dist/sbom.json', 'utf8')), {
  node: process.versions.node,
  release,
  packages,
});
writeFileSync(join(root, 'opt/docshelf/sbom.json'), `${JSON.stringify(sbom, null, 2)}\n`);
