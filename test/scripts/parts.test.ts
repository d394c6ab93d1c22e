import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { newFolder } from '../helpers/new-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODEL = join(ROOT, 'models/all-MiniLM-L6-v2');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function programSbom() {
  const { createSbom } = await import(join(ROOT, 'scripts/sbom.mjs'));
  return createSbom(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
}

it('the provenance of the model contains the digest of each model file', () => {
  const listed = Object.fromEntries(
    Array.from(
      readFileSync(join(ROOT, 'models/README.md'), 'utf8').matchAll(/^\| `([\w./]+)` \| `([0-9a-f]{64})` \|$/gm),
      ([, file, digest]) => [file, digest],
    ),
  );
  const files = readdirSync(MODEL, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'LICENSE')
    .map((entry) => join(entry.parentPath, entry.name));
  expect(listed).toEqual(Object.fromEntries(files.map((file) => [file.slice(MODEL.length + 1), sha256Of(file)])));
});

it('the SBOM contains the digest of the model weights, and a note on their quantization', async () => {
  const { components } = await programSbom();
  expect(components.find(({ type }: { type: string }) => type === 'machine-learning-model')).toMatchObject({
    hashes: [{ alg: 'SHA-256', content: sha256Of(join(MODEL, 'onnx/model_quantized.onnx')) }],
    pedigree: { notes: expect.stringContaining('int8') },
  });
});

it('the SBOM of an image contains Node, the operating system and its installed packages from dpkg', async () => {
  const { debianPackages, imageSbom } = await import(join(ROOT, 'scripts/image-parts.ts'));
  const sbom = await programSbom();
  const status =
    'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9+deb12u1\nDescription: C\n more: x\n\nPackage: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n';
  const added = (release: string, packages: object[]): string[] => {
    const { components, dependencies } = imageSbom(sbom, { node: '24.1.0', release, packages });
    expect(components.slice(0, sbom.components.length)).toEqual(sbom.components);
    const refs = components.slice(sbom.components.length).map((part: { 'bom-ref': string }) => part['bom-ref']);
    expect(dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn)).toEqual(
      expect.arrayContaining(refs),
    );
    return refs;
  };
  const node = 'pkg:generic/node@24.1.0';
  const release = 'NAME="Debian"\nID=debian\nVERSION_ID="12"\n';
  const libc = 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64';
  expect(added(release, debianPackages(status))).toEqual(['os:debian@12', libc, node]);
  expect(added('', [])).toEqual([node]);
});

it('the threat model names only existing test files', () => {
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const named = Array.from(text.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g), ([, file = '']) => file);
  expect(named.length).toBeGreaterThan(15);
  expect([...new Set(named)].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it('the README and the manual show each image of docs/images, and only existing images', () => {
  const pages = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  const shown = ['README.md', ...pages].flatMap((page) =>
    Array.from(
      readFileSync(join(ROOT, page), 'utf8').matchAll(/!\[[^\]]+\]\((?:docs\/)?images\/([\w.-]+)\)/g),
      ([, name]) => name,
    ),
  );
  expect([...new Set(shown)].sort()).toEqual(readdirSync(join(ROOT, 'docs/images')).sort());
});

/** The package imports JSON without the attribute that Node requires. */
const JSON_HOOK = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const load = (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context);
  registerHooks({ load });`)}`;
const PARSE = `
  import { readFileSync } from 'node:fs';
  import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
  const [name] = process.argv.slice(1);
  const { context, value } = parseWorkflow({ name, content: readFileSync(name, 'utf8') }, new NoOperationTraceWriter());
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  process.stdout.write(JSON.stringify(context.errors.getErrors().map(String)));`;

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

describe('the files for GitHub and GitLab', () => {
  const workflows = ['check', 'release'].map((name) => `.github/workflows/${name}.yml`);
  const load = (file: string) => parse(read(file), { strict: true, uniqueKeys: true });

  it.each(workflows)('limit permissions and run time of the workflow %s, and pin each action by version', (file) => {
    const { on, permissions, jobs } = load(file);
    expect(Object.keys(on).length).toBeGreaterThan(0);
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values<{ 'runs-on': string; 'timeout-minutes': number; steps: Step[] }>(jobs)) {
      expect(job).toMatchObject({
        'runs-on': expect.stringMatching(/^ubuntu-\d/),
        'timeout-minutes': expect.any(Number),
      });
      for (const { uses, run } of job.steps) {
        expect([uses, run].filter((each) => each !== undefined)).toHaveLength(1);
        if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@(?:v\d+|[0-9a-f]{40})$/);
        // An expression in a command would run the text of a branch name or title.
        expect(run ?? '').not.toContain('${{');
      }
    }
  });

  it('pass the workflow parser of GitHub, which rejects a file with an unknown key and an unknown context', () => {
    const folder = newFolder();
    const bad = join(folder, 'bad.yml');
    writeFileSync(
      bad,
      read('.github/workflows/check.yml').replace('permissions:', 'permission:').replace('secrets.', 'secret.'),
    );
    const errors = (file: string): string =>
      execFileSync(process.execPath, ['--import', JSON_HOOK, '--input-type=module', '--eval', PARSE, file], {
        cwd: ROOT,
        encoding: 'utf8',
      });
    expect(workflows.map(errors)).toEqual(['[]', '[]']);
    expect(errors(bad)).toMatch(/'permission'.*'secret'/);
  });

  it('match the schema of GitLab, which rejects a file with an unknown key', () => {
    const folder = newFolder();
    execFileSync('git', ['init', '--quiet', folder]);
    execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@gitlab.example:docs/docshelf.git']);
    const check = (text: string): string => {
      writeFileSync(join(folder, '.gitlab-ci.yml'), text);
      const program = join(ROOT, 'node_modules/gitlab-ci-local/dist/index.js');
      const { stdout, stderr } = spawnSync(process.execPath, [program, '--list'], { cwd: folder, encoding: 'utf8' });
      return stdout + stderr;
    };
    const text = read('.gitlab-ci.yml');
    expect(check(text)).toContain('json schema validated');
    expect(check(text.replace('before_script:', 'before_scripts:'))).toContain(
      "'before_scripts' property is not expected",
    );
  });

  it('run .ci/run to check a change, and the release scripts to release a tag', () => {
    const stepsOf = (file: string): string =>
      Object.values<{ steps: Step[] }>(load(file).jobs)
        .flatMap(({ steps }) => steps.map(({ run = '' }) => run))
        .join('\n');
    const { check, release } = load('.gitlab-ci.yml');
    for (const commands of [stepsOf('.github/workflows/check.yml'), check.script.join('\n')]) {
      expect(commands).toMatch(/(?:^| )\.ci\/run$/m);
    }
    for (const commands of [stepsOf('.github/workflows/release.yml'), release.script.join('\n')]) {
      expect(commands).toMatch(/^npm run release\nsh scripts\/release\/publish\.sh release/m);
    }
    for (const file of ['.ci/run', 'scripts/release/publish.sh']) expect(existsSync(join(ROOT, file))).toBe(true);
  });

  it('contain valid issue forms, and Dependabot updates for npm, GitHub Actions and Docker', () => {
    for (const name of ['bug', 'feature']) {
      const { name: title, description, body } = load(`.github/ISSUE_TEMPLATE/${name}.yml`);
      expect([title, description].every((text) => typeof text === 'string')).toBe(true);
      const ids = body.flatMap(({ id }: { id?: string }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { type } of body) expect(['markdown', 'input', 'dropdown', 'textarea']).toContain(type);
    }
    const { version, updates } = load('.github/dependabot.yml');
    expect(version).toBe(2);
    const kinds = updates.map((each: Record<string, string>) => each['package-ecosystem']);
    expect(kinds).toEqual(['npm', 'github-actions', 'docker']);
  });
});
