import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { openBench, waitFor } from '../helpers/daemon.ts';

const bench = openBench(afterEach);
/** The demo embeds each passage of the manual. */
const EXPORTS_MS_MAX = 240_000;
const ROOT = join(import.meta.dirname, '../..');

/** The demo in a folder of its own, and what it prints. */
async function startDemo() {
  const folder = await bench.folder();
  const child = spawn(process.execPath, ['examples/demo/demo.ts', folder], { cwd: ROOT });
  bench.onEnd(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const printed = (words: RegExp): Promise<string> =>
    waitFor(
      () => words.exec(output)?.[1] ?? null,
      () => output,
      EXPORTS_MS_MAX,
    );
  return { folder, child, printed, output: () => output };
}

/** A command that the demo prints, as it is printed. */
async function run(command: string): Promise<string> {
  const here = command.replace('npm run -s docshelf --', `"${process.execPath}" dist/main.js`);
  const child = spawn('sh', ['-euc', here], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const output = await text(child.stdout);
  expect((await ended)[0], command).toBe(0);
  return output;
}

const get = async (url: string): Promise<string> => (await fetch(url)).text();

test('npm run demo shows two sites, one exported live, and every command that it prints does what it says', async () => {
  const { folder, child, printed, output } = await startDemo();
  const shelf = await printed(/the shelf is open at (\S+);/);
  await waitFor(
    async () => ((await fetch(`${shelf}handbook/`)).ok ? true : null),
    () => output(),
    EXPORTS_MS_MAX,
  );
  expect(output(), 'the first site is there before the second is finished').not.toContain('Ctrl-C');
  await printed(/(Ctrl-C) ends the demo/);

  expect(await get(shelf)).toMatch(/Handbook[\s\S]*docshelf/);
  const found = JSON.parse(await get(`${shelf}_docshelf/search?q=roll+back`)) as { site: string }[];
  expect(new Set(found.map(({ site }) => site))).toEqual(new Set(['handbook', 'manual']));

  const commands = [...output().matchAll(/^ {4}((?:npm|sed) (?:.*\\\n)*.*)/gm)].map(([, command = '']) => command);
  const [list = '', search = '', pin = '', exportHandbook = '', exportManual = '', pinMine = '', ...others] = commands;
  expect(others).toEqual([]);
  expect(await run(list)).toMatch(/handbook +ready[\s\S]*manual +ready +2026-11-01/);
  expect(await run(search)).toMatch(/handbook ›[\s\S]*manual ›|manual ›[\s\S]*handbook ›/);
  await run(pin);
  const shows = (page: string, words: string): Promise<true> =>
    waitFor(
      async () => ((await get(`${shelf}${page}`)).includes(words) ? true : null),
      () => `${page} does not show "${words}"`,
    );
  await shows('manual/', '2026-10-01');
  const change = async (page: string): Promise<void> => {
    const file = join(folder, page);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^---\n\n/m, '---\n\nLanterns are lit at dusk.\n\n'));
  };
  await change('handbook/index.md');
  await run(exportHandbook);
  await shows('handbook/', 'Lanterns are lit');
  await change('manual/index.md');
  await run(exportManual);
  await run(pinMine);
  await shows('manual/', 'Lanterns are lit');

  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
});
