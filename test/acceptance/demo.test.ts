import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, launchChromium, Reader } from '../browser/reader.ts';
import { openBench, waitFor } from '../helpers/daemon.ts';
import { runCommands } from '../helpers/shell.ts';

const bench = openBench(afterAll);
/** The demo embeds each passage of the manual. */
const EXPORTS_MS_MAX = 240_000;
const ROOT = join(import.meta.dirname, '../..');

/** Starts the demo in a new folder, and returns its output. */
async function startDemo() {
  const folder = await bench.folder();
  const env = { ...process.env, INIT_CWD: ROOT };
  const child = spawn(process.execPath, ['examples/demo/demo.ts', folder], { cwd: ROOT, env });
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

/** Runs a command that the demo prints, unchanged. */
async function run(command: string): Promise<string> {
  const here = command.replace('npm run -s docshelf --', `"${process.execPath}" dist/main.js`);
  return (await runCommands(here, ROOT)).stdout;
}

const get = async (url: string): Promise<string> => (await fetch(url)).text();

describe('npm run demo', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  let shelf: string;

  beforeAll(async () => {
    demo = await startDemo();
    shelf = await demo.printed(/serving (\S+);/);
  }, EXPORTS_MS_MAX);

  it('serves two sites, and serves the first site already during the export of the second site', async () => {
    const { output, printed } = demo;
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
  });

  it('keeps the older version of the manual readable, and adds a search box to each page of both sites', async () => {
    const versions = JSON.parse(await get(`${shelf}manual/_docshelf/versions.json`)) as { version: string }[];
    expect(versions.map(({ version }) => version)).toEqual(['2026-11-01', '2026-10-01']);
    const older = await fetch(`${shelf}manual/_docshelf/v/2026-10-01/install`);
    expect([older.status, await older.text()]).toEqual([200, expect.stringContaining('2026-10-01')]);
    for (const page of ['handbook/', 'handbook/releases', 'manual/', 'manual/install'])
      expect(await get(shelf + page), page).toContain('_docshelf/assets/search-box-');
  });

  it('prints the addresses of the sites, and a token that the console accepts', async () => {
    const { output } = demo;
    for (const name of ['Shelf', 'Handbook', 'Manual', 'Console', 'API docs']) {
      const [, address = ''] = new RegExp(`^ {2}${name} +(http\\S+)`, 'm').exec(output()) ?? [];
      expect((await fetch(address)).status, name).toBe(200);
    }
    const [, console = '', token = ''] = /Console +(\S+) +admin token: (\S+)/.exec(output()) ?? [];
    const reload = await fetch(`${console}v1/reload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(reload.status).toBe(200);
  });

  it.skipIf(!hasChromium)('serves pages on which Ctrl-K opens the search and the version switcher works', async () => {
    const browser = await launchChromium();
    bench.onEnd(() => browser.close());
    const reader = await Reader.open(browser, shelf.slice(0, -1));
    const { page } = reader;
    await reader.load('/manual/install');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('roll back');
    await page.locator('docshelf-search-dialog a[role=option]').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${shelf}manual/**#**`);
    await reader.load('/manual/install');
    await page.locator('docshelf-versions summary').click();
    await page.locator('docshelf-versions').getByRole('link', { name: '2026-10-01' }).click();
    await page.waitForURL(`${shelf}manual/_docshelf/v/2026-10-01/install*`);
    await page.getByText('This is version 2026-10-01, not the current one.').waitFor();
    expect([reader.failures, reader.complaints, reader.blocked]).toEqual([[], [], []]);
    await reader.close();
  });

  it('prints commands that work, and exits on a signal', async () => {
    const { folder, child, output } = demo;
    const commands = [...output().matchAll(/^ {4}((?:npm|sed) (?:.*\\\n)*.*)/gm)].map(([, command = '']) => command);
    const [list = '', search = '', pin = '', exportHandbook = '', exportManual = '', pinMine = '', ...others] =
      commands;
    expect(others).toEqual([]);
    expect(await run(list)).toMatch(/handbook +ready[\s\S]*manual +ready +2026-11-01/);
    expect(await run(search)).toMatch(/handbook ›[\s\S]*manual ›|manual ›[\s\S]*handbook ›/);
    await run(pin);
    const shows = (page: string, words: string): Promise<void> =>
      expect.poll(() => get(`${shelf}${page}`)).toContain(words);
    await shows('manual/', '2026-10-01');
    const change = async (page: string): Promise<void> => {
      const file = join(folder, page);
      await writeFile(
        file,
        (await readFile(file, 'utf8')).replace(/^---\n\n/m, '---\n\nLanterns are lit at dusk.\n\n'),
      );
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
});
