import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfigFile, openBench, waitFor } from '../helpers/daemon.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { filesOfJob, sitePaths } from './crawl-service.ts';
import { type Exporter, organizations, startAgain, startExporter } from './export-service.ts';

/** Exports of a site that a command builds, with the built program. */

const bench = openBench(afterEach);

/** A site whose generator, run by npm, renders Markdown. */
const PROJECT: Files = {
  'package.json': '{"private": true, "type": "module", "scripts": {"build": "node build.js"}}',
  'build.js': `import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import MarkdownIt from 'markdown-it';
rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
for (const name of readdirSync('pages')) {
  if (name === 'broken.md') throw new Error('pages/broken.md: no title, ' + process.env.TOKEN);
  const html = new MarkdownIt().render(readFileSync('pages/' + name, 'utf8'));
  const title = process.env.TITLE + process.env.DOCSHELF__LOG__ACCESS;
  writeFileSync('dist/' + name.replace('.md', '.html'), '<!doctype html><title>' + title + '</title>' + html);
}
`,
  'pages/index.md': '# Home\n\nThe lantern burns. [Start](start.html)\n',
  'pages/start.md': '# Start\n',
};

async function startBuilder(source: ConfigFile, more: ConfigFile = {}, files: Files = {}): Promise<Exporter> {
  const folder = await bench.folder();
  await writeFiles(join(folder, 'project'), { ...PROJECT, ...files });
  await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'project/node_modules'));
  const command = { kind: 'command', workDir: './project', output: 'dist', ...source };
  const config = { organizations: organizations(command), exportApi: { queue: { lease: '1s' } }, ...more };
  return startExporter(bench, config, { folder, env: { DOCSHELF__LOG__ACCESS: 'false' } });
}

const project = ({ daemon }: Exporter, name: string) => join(daemon.folder, 'project', name);

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Waits until the command has written a process ID to the file `pid`, then removes the file. */
async function startedPid(service: Exporter): Promise<number> {
  const file = project(service, 'pid');
  const pid = await waitFor(
    async () => Number(await readFile(file, 'utf8').catch(() => '')) || null,
    () => `the command does not run: ${service.daemon.log()}`,
  );
  await rm(file);
  return pid;
}

const untilEnded = (pid: number) =>
  waitFor(
    () => (isRunning(pid) ? null : true),
    () => `the process ${pid} still runs`,
  );

test('npm run build in workDir creates the exported pages, also after a change of their sources', async () => {
  const service = await startBuilder({ command: ['npm', 'run', 'build'], environment: { TITLE: 'Manual' } });
  const first = await filesOfJob(bench, service, (await service.export()).jobId);
  expect(sitePaths(first)).toEqual(['index.html', 'start.html']);
  expect(String(first.get('index.html'))).toContain('<title>Manualundefined</title><h1>Home</h1>');
  await writeFiles(project(service, 'pages'), { 'next.md': '# Next\n' });
  const second = await filesOfJob(bench, service, (await service.export()).jobId);
  expect(sitePaths(second)).toEqual(['index.html', 'next.html', 'start.html']);
});

test('a command that fails makes the job fail, with the last output of the command but without the values of the setting environment', async () => {
  const environment = { TOKEN: 'c4n4ry-token' };
  const service = await startBuilder({ command: ['npm', 'run', 'build'], environment }, {}, { 'pages/broken.md': '' });
  const { status, error } = await service.ended((await service.start()).jobId);
  expect([status, error]).toEqual(['failed', expect.stringContaining('pages/broken.md: no title, [redacted]')]);
  expect(error).toContain('its command "npm" ended with exit code 1');
  await service.daemon.untilLogged(/"code":"bad_source"/);
  expect(service.daemon.log()).not.toContain('c4n4ry');
});

describe('a command that runs without end', () => {
  const SLOW = 'sh -c "sleep 1000 & echo \\$! > pid; wait" & wait';
  const FAST = 'mkdir -p dist && echo "<p>built" > dist/index.html';
  const slow = () => startBuilder({ command: ['sh', '-c', `[ -e fast ] && ${FAST} || { ${SLOW}; }`] });
  const again = async (service: Exporter) => {
    await writeFiles(service.daemon.folder, { 'project/fast': '' });
    return startAgain(bench, service);
  };

  test('is terminated with its child processes if the job is canceled', async () => {
    const service = await slow();
    const { jobId } = await service.start();
    const pid = await startedPid(service);
    await service.cancel(jobId);
    expect(await service.ended(jobId)).toMatchObject({ status: 'failed', error: 'canceled' });
    await untilEnded(pid);
  });

  test('is terminated with its child processes if the daemon stops, and runs again in the next daemon', async () => {
    const service = await slow();
    const { jobId } = await service.start();
    const pid = await startedPid(service);
    expect(await service.daemon.stop()).toBe(0);
    await untilEnded(pid);
    expect(await (await again(service)).ended(jobId)).toMatchObject({ status: 'completed', pageCount: 1 });
  });

  test('is terminated with its child processes if the daemon is killed, and runs again in the next daemon', async () => {
    const service = await slow();
    const { jobId } = await service.start();
    const pid = await startedPid(service);
    await service.daemon.kill();
    await untilEnded(pid);
    expect(await (await again(service)).ended(jobId)).toMatchObject({ status: 'completed', pageCount: 1 });
  });
});

test('two jobs that build in the same workDir at the same time export only their own pages', async () => {
  const build = 'rm -rf dist; mkdir dist; for i in 1 2 3 4 5 6 7 8; do echo "<p>$0" > dist/$0$i.html; sleep 0.1; done';
  const source = (name: string) => ({
    kind: 'command',
    workDir: './project',
    output: 'dist',
    command: ['sh', '-c', build, name],
  });
  const [acme, ...others] = organizations(source('a'));
  const domains = { ...(acme?.domains as ConfigFile), bare: { source: source('b') } };
  const config = { organizations: [{ ...acme, domains }, ...others], exportApi: { concurrency: 2 } };
  const service = await startBuilder({}, config);
  const jobs = await Promise.all(['acme', 'bare'].map((domain) => service.export(domain)));
  const names = (letter: string) => Array.from({ length: 8 }, (_, at) => `${letter}${at + 1}.html`);
  for (const [at, letter] of ['a', 'b'].entries())
    expect(sitePaths(await filesOfJob(bench, service, jobs[at]?.jobId ?? ''))).toEqual(names(letter));
});
