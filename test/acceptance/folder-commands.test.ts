import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { codesOf, openBench, waitFor } from '../helpers/daemon.ts';
import { spawnProgram } from '../helpers/program.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { KEYS, startExporter } from './export-service.ts';

const bench = openBench(afterEach);

interface Findings {
  readonly counts: Record<string, number>;
  readonly findings: readonly { kind: string; page: string; detail: string }[];
}

describe('docshelf check', () => {
  test('lists the broken references of a folder of HTML pages and exits with 65', async () => {
    const folder = await bench.folder();
    await writeFiles(folder, { 'index.html': '<a href="gone.html">gone</a> <a href="#gone">gone</a>' });
    const { code, stdout } = await bench.run(['check', folder]);
    expect(code).toBe(65);
    expect(stdout).toContain('1 page, 1 broken_reference, 1 missing_fragment.');
    expect(stdout).toMatch(/^broken_reference +index\.html +a href="gone\.html"$/m);
  });

  test('exits with 0 for a folder of Markdown without broken references, and writes no file into it', async () => {
    const folder = await bench.folder();
    await writeFiles(folder, { 'index.md': '# Home\n\n[Start](start.md)\n', 'start.md': '# Start\n' });
    const { code, stdout } = await bench.run(['check', folder, '--json']);
    expect(code).toBe(0);
    expect(Object.keys((JSON.parse(stdout) as Findings).counts)).toEqual(['no_url']);
    expect((await readdir(folder)).sort()).toEqual(['index.md', 'start.md']);
  });

  test.each([
    ['a missing folder', 'missing', 'it does not exist'],
    ['a folder without pages', '.', 'it contains no page'],
  ])('exits with 65 and states the reason if there are no pages to check: %s', async (_, path, state) => {
    const { code, stderr } = await bench.run(['check', join(await bench.folder(), path)]);
    expect(code).toBe(65);
    expect(stderr).toContain(state);
  });
});

test('docshelf preview serves a folder, shows changes of the folder, and keeps the last good pages after an error', async () => {
  const folder = await bench.folder();
  const temporary = await bench.folder();
  await writeFiles(folder, { 'index.md': '# First\n\nThe lantern burns.\n' });
  const child = spawnProgram(['preview', folder, '--port', '0'], folder, { TMPDIR: temporary });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close');
  try {
    const [, url = ''] = await waitFor(
      () => /^Preview at (\S+): /m.exec(output),
      () => `no address: ${output}`,
    );
    const page = async () => (await fetch(url)).text();
    expect(await page()).toContain('First');
    await expect.poll(async () => (await fetch(`${url}_docshelf/search?q=lantern`)).text()).toContain('burns');

    const untilPage = (text: string) => expect.poll(() => page()).toContain(text);
    await writeFile(join(folder, 'index.md'), '# Second\n');
    await untilPage('Second');
    await writeFile(join(folder, 'docs.json'), '{');
    await waitFor(
      () => (output.includes('docs.json') && output.includes('docshelf: Cannot') ? true : null),
      () => `no error: ${output}`,
    );
    expect(await page()).toContain('Second');
    await writeFile(join(folder, 'docs.json'), '{"name": "Third"}');
    await untilPage('Third');
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  expect(child.exitCode).toBe(0);
  expect((await readdir(temporary)).filter((name) => name.startsWith('docshelf'))).toEqual([]);
});

test('docshelf export report prints the findings of a completed job, and export wait exits with 0 for this job', async () => {
  const service = await startExporter(bench, {}, { site: { 'index.html': '<a href="gone.html">gone</a>' } });
  const { jobId } = await service.export();
  const exporting = (args: string[]) =>
    bench.run(['export', ...args, '--api-url', service.origin], { env: { DOCSHELF_API_KEY: KEYS.acme } });
  const run = (id: string, ...more: string[]) => exporting(['report', id, ...more]);
  // An export with broken references is completed (docs/exit-codes.md). docshelf check of the same folder exits with 65.
  expect((await exporting(['wait', jobId])).code).toBe(0);
  const text = await run(jobId);
  expect(text.code).toBe(0);
  expect(text.stdout).toContain(`Job ${jobId}: 1 page, 1 broken_reference.`);
  const { findings } = (await run(jobId, '--json')).json<Findings>();
  expect(findings).toEqual([{ kind: 'broken_reference', page: 'index.html', detail: 'a href="gone.html"' }]);
  expect(codesOf(await run('se_0123456789abcdef', '--json'))).toEqual([69, 'not_found']);
});
