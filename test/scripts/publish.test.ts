import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { newFolder } from '../helpers/new-folder.ts';

/** Runs the script with programs that record their calls and the digests of the files that they are given. */
const SCRIPT = join(import.meta.dirname, '../../scripts/release/publish.sh');
const IMAGES = ['docshelf-0.1.0-image-amd64.tar', 'docshelf-0.1.0-image-arm64.tar'];
/** In the order of publication. */
const PUBLISHED = [...IMAGES, 'docshelf-0.1.0-chart.tgz', 'docshelf-0.1.0.tgz'];
const OTHERS = ['docshelf_0.1.0_amd64.deb', 'release-notes.md'];
const FAKE = `#!/bin/sh
echo "$(basename "$0") $*" >>"$ROOT/calls"
for arg; do if [ -f "\${arg#oci-archive:}" ]; then sha256sum <"\${arg#oci-archive:}" >>"$ROOT/files"; fi; done
case "$(basename "$0") $*" in *"$FAIL"*) exit 1 ;; esac
`;

let root: string;
let folder: string;
beforeEach(() => {
  root = newFolder();
  folder = join(root, 'release');
  for (const path of ['scripts/release', 'bin', '.cache/helm', 'release'])
    mkdirSync(join(root, path), { recursive: true });
  cpSync(SCRIPT, join(root, 'scripts/release/publish.sh'));
  writeFileSync(join(root, 'scripts/helm.sh'), '');
  writeFileSync(join(root, 'package.json'), '{ "version": "0.1.0" }');
  for (const path of ['bin/buildah', 'bin/npm', '.cache/helm/helm'])
    writeFileSync(join(root, path), FAKE, { mode: 0o755 });
  for (const name of [...PUBLISHED, ...OTHERS]) writeFileSync(join(folder, name), `content of ${name}`);
  const sums = execFileSync('sha256sum', [...PUBLISHED, ...OTHERS], { cwd: folder });
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  for (const name of ['SHA256SUMS.minisig', 'minisign.pub']) writeFileSync(join(folder, name), '');
});

function publish(fail = 'no command'): { code: number | null; stderr: string; calls: string[]; files: string[] } {
  for (const name of ['calls', 'files']) writeFileSync(join(root, name), '');
  const env = {
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
    ROOT: root,
    FAIL: fail,
    REGISTRY: 'registry.test/docs',
  };
  const { status, stderr } = spawnSync('sh', [join(root, 'scripts/release/publish.sh'), folder], {
    env,
    encoding: 'utf8',
  });
  const linesOf = (name: string): string[] => readFileSync(join(root, name), 'utf8').split('\n').slice(0, -1);
  return { code: status, stderr, calls: linesOf('calls'), files: linesOf('files').map((line) => line.slice(0, 64)) };
}

const digestOf = (name: string): string => createHash('sha256').update(`content of ${name}`).digest('hex');

describe('publish.sh', () => {
  it('publishes exactly the images, the chart and the npm package of SHA256SUMS', () => {
    const { code, stderr, calls, files } = publish();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(files).toEqual(PUBLISHED.map(digestOf));
    expect(calls.filter((call) => /^\S+ (?:manifest )?(?:push|publish) /.test(call))).toEqual([
      'buildah manifest push --all docshelf-release-0.1.0 docker://registry.test/docs/docshelf:0.1.0',
      `helm push ${folder}/docshelf-0.1.0-chart.tgz oci://registry.test/docs/charts`,
      `npm publish --access public ${folder}/docshelf-0.1.0.tgz`,
    ]);
  });

  it.each([
    ['manifest push', IMAGES],
    ['helm push', PUBLISHED.slice(0, 3)],
  ])('stops after the command "%s" has failed, and can run again', (fail, before) => {
    const failed = publish(fail);
    expect(failed.code).not.toBe(0);
    expect(failed.files).toEqual(before.map(digestOf));
    expect(failed.calls.at(-1)).toBe('buildah manifest rm docshelf-release-0.1.0');
    expect(publish().code).toBe(0);
  });

  it.each<[string, () => void, string]>([
    ['was changed', () => appendFileSync(join(folder, OTHERS[0] ?? ''), 'x'), 'did NOT match'],
    ['is missing', () => rmSync(join(folder, OTHERS[0] ?? '')), 'could not be read'],
    ['is not in SHA256SUMS', () => writeFileSync(join(folder, 'notes.txt'), ''), 'does not contain notes.txt'],
    [
      'has another version than package.json',
      () => writeFileSync(join(root, 'package.json'), '{ "version": "0.2.0" }'),
      'does not contain docshelf-0.2.0.tgz',
    ],
  ])('stops before it publishes any file if a file %s', (_, change, reason) => {
    change();
    const { code, stderr, calls } = publish();
    expect(code).not.toBe(0);
    expect(stderr).toContain(reason);
    expect(calls).toEqual([]);
  });
});
