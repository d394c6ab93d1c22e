import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CommandResult, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle, bundleWithManifest } from './bundles.ts';

const bench = openBench(afterEach);

/** C0 and C1 controls, writing direction, zero width, line separators. A line feed only ends a line of a command. */
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const HOSTILE = 'Lantern \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2066\u200b\ufeff\u007f end';

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><h2>${title} part</h2><p>${text}</p></main></html>`;

const BUNDLE = (mark: string): Buffer =>
  bundle(mark, {
    'lantern.html': page(HOSTILE, `${HOSTILE} the lantern burns ${mark}`),
    'bidi-\u202ename.html': page(`Other ${mark}`, `lantern ${mark}`),
    'broken.html': `<a href="/gone-\u202e\u009b31m.html">x</a><img src="https://elsewhere.example/\u202e.png">`,
    _redirects: `/a /b 999\n/\u202e\u009b31m /b wrong\n`,
    _headers: `/*\n  X-\u202e: \u009b31m\n  Set-Cookie: \u202e\u009b\n`,
  });

/** The output of a command contains no control characters except line feeds. */
function expectPrintable({ stdout, stderr }: CommandResult, more: RegExp | null = null): void {
  for (const output of [stdout, stderr]) expect(ACTED_ON.exec(output)).toBe(null);
  if (more !== null) expect(stdout + stderr).toMatch(more);
}

describe('text from a bundle', () => {
  let cwd: string;
  const run = (...args: string[]): Promise<CommandResult> => bench.run(args, { cwd });
  const setUp = async (): Promise<void> => {
    cwd = await bench.folder();
    await bench.writeConfig(cwd, {
      deployment: { domain: 'acme' },
      search: { enabled: true, model: 'off' },
      staticExport: { enabled: true },
    });
    for (const [name, mark] of [
      ['acme-export-2024-06-01.tar.gz', 'june'],
      ['acme-export-2024-06-02.tar.gz', 'july'],
    ] as const) {
      await writeFile(join(cwd, name), BUNDLE(mark));
      expectPrintable(await run('bundle', 'import', name), /2024-06-0/);
    }
  };

  test('is printed without control characters by every command', async () => {
    await setUp();
    expectPrintable(await run('search', 'lantern'), /Lantern/);
    expectPrintable(await run('search', 'lantern', '--json'), /Lantern/);
    expect((await run('search', 'lantern', '--json')).json<{ content: string }[]>()).not.toEqual([]);
    for (const json of [[], ['--json']]) {
      expectPrintable(await run('bundle', 'inspect', '2024-06-01', ...json), /_redirects/);
      expectPrintable(await run('bundle', 'inspect', 'acme-export-2024-06-01.tar.gz', ...json), /_redirects/);
      expectPrintable(await run('bundle', 'verify', 'acme-export-2024-06-01.tar.gz', ...json));
      expectPrintable(await run('bundle', 'verify', '2024-06-01', ...json));
      expectPrintable(await run('bundle', 'audit', '2024-06-01', ...json), /gone/);
      expectPrintable(await run('bundle', 'diff', '2024-06-01', '2024-06-02', ...json), /antern/);
      expectPrintable(await run('bundle', 'list', ...json), /2024-06-01/);
      expectPrintable(await run('sites', ...json), /acme/);
    }
    expectPrintable(await run('bundle', 'diff', '2024-06-01', '2024-06-02', '--html'), /antern/);
    expectPrintable(await run('bundle', 'audit', '2024-06-01', '--base-path', '/docs/'));
  });

  test('cannot add lines to a search result or a table', async () => {
    cwd = await bench.folder();
    await bench.writeConfig(cwd, { deployment: { domain: 'acme' }, search: { enabled: true, model: 'off' } });
    const title = 'Lantern\u2028ok  config\u2029\u0085forged';
    await writeFile(join(cwd, 'a-v1.0.0.tar.gz'), bundle('a', { 'lantern.html': page(title, 'lantern') }));
    await run('bundle', 'import', 'a-v1.0.0.tar.gz');
    const { stdout } = await run('search', 'lantern');
    expect(stdout.split(/[\n\u0085\u2028\u2029]/).filter((line) => /^(?:ok|forged)/.test(line))).toEqual([]);
  });

  test('is escaped in errors about archives and manifests', async () => {
    cwd = await bench.folder();
    await bench.writeConfig(cwd, { deployment: { domain: 'acme' } });
    const generator = `\u009b31m\u202e\nforged`;
    await writeFile(join(cwd, 'b.tar.gz'), bundleWithManifest('b', { version: '\u009b31m\u202ev1', generator }));
    await writeFile(join(cwd, 'c-\u009b31m\u202e.tar.gz'), 'no archive');
    for (const json of [[], ['--json']]) {
      expectPrintable(await run('bundle', 'import', 'b.tar.gz', ...json));
      expectPrintable(await run('bundle', 'import', 'c-\u009b31m\u202e.tar.gz', ...json), /31m/);
      expectPrintable(await run('bundle', 'inspect', 'c-\u009b31m\u202e.tar.gz', ...json), /31m/);
      expectPrintable(await run('bundle', 'verify', 'no-\u009b31m\u202e', ...json), /31m/);
    }
  });
});

test('notices and the log escape control characters in text from a bundle', async () => {
  const folder = await bench.folder();
  await mkdir(join(folder, 'bundles'));
  await writeFile(join(folder, 'bundles', 'acme-export-2024-06-01.tar.gz'), BUNDLE('june'));
  const daemon = await bench.start({ deployment: { domain: 'acme' } }, { folder });
  const { notices } = await daemon.until((status) => /_redirects/.test(status.notices.join(' ')));
  for (const notice of notices) expect(/[\u0000-\u001f]/.test(notice) || ACTED_ON.test(notice)).toBe(false);
  await fetch(`${daemon.site}/a%E2%80%AE`, { headers: { 'user-agent': 'a\u009b31m' } });
  await daemon.untilLogged(/"status":404/);
  expect(ACTED_ON.exec(daemon.log())).toBe(null);
});

describe('text from a server', () => {
  test('is printed without control characters', async () => {
    const body = JSON.stringify({ error: '\u001b[2J\u009b31m\u202e\nforged: line', jobs: [], status: '\u009b31m' });
    const { origin } = await httpServer((_, response) => {
      response.writeHead(403, 'no \u009b31m', { 'content-type': 'application/json' }).end(body);
    });
    const cwd = await bench.folder();
    await writeFile(join(cwd, 'key'), 'svc_secret');
    await bench.writeConfig(cwd, { deployment: { domain: 'acme' } });
    const calls = [
      ['export', 'start', '--api-url', origin, '--key-file', join(cwd, 'key')],
      ['export', 'status', 'se_1', '--api-url', origin, '--key-file', join(cwd, 'key')],
      ['bundle', 'import', `${origin}/\u202e\u009b31m.tar.gz`],
      ['bundle', 'list', '--admin-url', origin],
    ];
    for (const args of calls) {
      const result = await bench.run(args, { cwd });
      expect(result.code).not.toBe(0);
      expectPrintable(result);
      expect(result.stderr.split('\n').filter((line) => line.startsWith('forged'))).toEqual([]);
    }
  });
});
