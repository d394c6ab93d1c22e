import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { init, parse } from 'es-module-lexer';
import { afterAll, describe, expect, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';

const DIST = dirname(PROGRAM);
const OUTSIDE = ['onnxruntime-node', 'playwright-core'];

describe('the built program', () => {
  test('includes every package that its code imports, except for the two packages that are installed separately', async () => {
    await init;
    const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.js') && !file.includes('assets/'),
    );
    const imported = files.flatMap((file) => {
      const [imports] = parse(readFileSync(join(DIST, file), 'utf8'));
      return imports.flatMap(({ specifier }) => (specifier == null ? [] : [{ file, name: specifier }]));
    });
    const relative = imported.filter(({ name }) => name.startsWith('.'));
    expect(relative.filter(({ file, name }) => !existsSync(join(DIST, dirname(file), name)))).toEqual([]);
    const packages = imported.map(({ name }) => name).filter((name) => !/^(?:\.|node:)/.test(name));
    expect([...new Set(packages)].filter((name) => !builtinModules.includes(name)).sort()).toEqual(OUTSIDE);
  });

  test('contains no asm.js, because bundling makes it invalid and V8 would write a warning to the log', () => {
    const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
    expect(files.filter((file) => /^\s*(["'])use asm\1/m.test(readFileSync(join(DIST, file), 'utf8')))).toEqual([]);
  });

  test('includes the licences of its packages', () => {
    const texts = readFileSync(join(DIST, 'licenses.txt'), 'utf8');
    const licences = Array.from(
      texts.matchAll(/^(@?[\w./-]+) \d+\.\d+\.\d+\S*\nLicence: (.+)$/gm),
      ([, name, licence]) => ({
        name,
        licence,
      }),
    );
    expect(licences.map(({ name }) => name)).toEqual(expect.arrayContaining(['hono', 'pino', 'undici', 'yaml']));
    const allowed = /^(?:MIT|ISC|BSD-[23]-Clause|0BSD|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|MIT AND Apache-2\.0)$/;
    expect(licences.filter(({ licence = '' }) => !allowed.test(licence))).toEqual([]);
    expect(texts).toContain('Permission is hereby granted, free of charge');
  });
});

describe('bin/docshelf', () => {
  const ROOT = dirname(DIST);
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bin-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  // npm's variable for the folder of the caller. An outer script may have set it.
  const env = { ...process.env, PATH: `${folder}:${path}`, INIT_CWD: '/' };

  test('runs the program in the caller’s folder, also through a link on the PATH', () => {
    symlinkSync(join(ROOT, 'bin/docshelf'), join(folder, 'docshelf'));
    writeFileSync(join(folder, 'config.yaml'), 'staticExport: { enabled: false }\n');
    const output = execFileSync('docshelf', ['config', 'check', '--config', 'config.yaml'], { cwd: folder, env });
    expect(output.toString()).toContain(`${join(folder, 'config.yaml')} is valid`);
  });

  test('names the build command if the program is not built, and installs nothing', () => {
    const checkout = join(folder, 'checkout');
    for (const part of ['bin/docshelf', 'scripts/run.sh', 'package-lock.json']) {
      mkdirSync(dirname(join(checkout, part)), { recursive: true });
      cpSync(join(ROOT, part), join(checkout, part));
    }
    const { status, stderr } = spawnSync(join(checkout, 'bin/docshelf'), ['--version'], { env });
    expect([status, stderr.toString()]).toEqual([69, expect.stringContaining('Run "npm run build" in ')]);
    expect(existsSync(join(checkout, 'node_modules'))).toBe(false);
  });
});
