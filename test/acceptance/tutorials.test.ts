import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeCertificate } from '../helpers/certificates.ts';
import { openBench } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { httpServer } from '../helpers/local-server.ts';
import { codeBlocks, manualPage } from '../helpers/manual-blocks.ts';
import { runShell, writePrograms } from '../helpers/shell.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { KEYS, organization, organizations, startExporter } from './export-service.ts';

const bench = openBench(afterEach);
const ROOT = join(import.meta.dirname, '../..');

interface Block {
  readonly kind: 'sh' | 'yaml' | 'text';
  /** Name of the file that the reader writes, or empty. */
  readonly title: string;
  readonly text: string;
}

/** Code blocks of a page in their order. `text` is the output of the command before it. */
function pageBlocks(page: string): Block[] {
  const manual = manualPage(page);
  const fences = manual.match(/^ *```\w/gm)?.length;
  const blocks = codeBlocks(manual).filter((block): block is Block & typeof block =>
    /^(?:sh|yaml|text)$/.test(block.kind),
  );
  // A block in another language would not run.
  expect(blocks).toHaveLength(fences ?? 0);
  return blocks;
}

interface Setting {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Replacements for words that differ on this machine, such as addresses. */
  readonly changes?: Readonly<Record<string, string>>;
}

/** Runs the blocks in one shell, by default in the checkout. Returns the standard output of each block. */
async function follow(blocks: readonly Block[], { cwd = ROOT, env = {}, changes = {} }: Setting): Promise<string[]> {
  const here = (text: string): string =>
    Object.entries(changes).reduce((changed, [before, after]) => changed.replaceAll(before, after), text);
  const mark = '--- next block ---';
  const script = blocks.map(({ kind, title, text }) => {
    if (title !== '') return `cat > ${title.split('"')[1]} <<'END-OF-FILE'\n${here(text)}END-OF-FILE\necho '${mark}'\n`;
    const step = { sh: here(text), yaml: `cat >> config.yaml <<'END'\n${here(text)}END\n`, text: '' }[kind];
    return `${step}\necho '${mark}'\n`;
  });
  const { code, stdout, stderr } = await runShell(script.join(''), await bench.folder(), {
    cwd,
    env: { PATH: `${join(ROOT, 'bin')}:${process.env.PATH}`, ...env },
  });
  const outputs = stdout.split(`${mark}\n`);
  // The last part is the output of a failed block.
  expect({ code, ran: outputs.length - 1, errors: code === 0 ? '' : stderr + outputs.at(-1) }).toEqual({
    code: 0,
    ran: blocks.length,
    errors: '',
  });
  return outputs;
}

describe.each(['tutorial-first-site', 'tutorial-markdown'])('the commands of docs/%s.md', (page) => {
  test('succeed in order, and print the output that the page shows', async () => {
    const blocks = pageBlocks(page);
    expect(blocks.filter(({ kind }) => kind === 'sh').length).toBeGreaterThan(7);
    const [site = 0, admin = 0, api = 0] = await freePorts(3);
    const outputs = await follow(blocks, {
      changes: { ':8080': `:${site}`, ':9090': `:${admin}`, ':8081': `:${api}` },
      env: {
        // `npm run build` is a command of the page, but the program of the other tests must stay.
        DOCSHELF_BUILT: '1',
        DOCSHELF__SERVER__HOST: '127.0.0.1',
        DOCSHELF__SERVER__PORT: String(site),
        DOCSHELF__ADMIN__PORT: String(admin),
        DOCSHELF__API__PORT: String(api),
        DOCSHELF__NETWORK__PROXY: 'off',
      },
    });
    const shown = blocks.flatMap(({ kind, text }, at) => (kind === 'text' ? [{ text, at }] : []));
    expect(shown.length).toBeGreaterThan(2);
    for (const { text, at } of shown) {
      for (const line of text.trim().split('\n')) expect(outputs[at - 1], `block ${at}`).toContain(line.trim());
    }
  });
});

/** Commands of a how-to. test/examples/manual-is-true.test.ts checks its configs. */
const commandsOf = (page: string): Block[] => pageBlocks(page).filter(({ kind }) => kind === 'sh');

describe('the commands of docs/pipelines.md', () => {
  test('export Markdown, publish the bundle to other machines, export from a service, continue a job, and print a link', async () => {
    const service = await startExporter(bench);
    const { jobId } = await service.export();
    const cwd = await bench.folder();
    await mkdir(join(cwd, 'docs'));
    await writeFile(join(cwd, 'docs/index.md'), '# Acme lantern\n');
    const [site = 0, admin = 0, api = 0] = await freePorts(3);
    await bench.writeConfig(cwd, { deployment: { domain: 'acme' } });
    const token = 'a-token-that-is-long-enough';
    const serving = { deployment: { domain: 'acme' }, staticExport: { enabled: true } };
    const host = await bench.start({ ...serving, admin: { port: 0, token } });
    const pair = makeCertificate({ names: ['localhost'] });
    const secureFolder = await bench.folder();
    await writeFiles(secureFolder, { 'tls.crt': pair.cert, 'tls.key': pair.key });
    const tls = { certFile: './tls.crt', keyFile: './tls.key' };
    const secure = await bench.start({ ...serving, admin: { port: 0, token, tls } }, { folder: secureFolder });
    await writeFile(join(cwd, 'ca.crt'), pair.cert);
    const pod = await bench.start(serving);
    writePrograms(cwd, {
      ssh: 'echo "$*" >> ssh-calls',
      kubectl: `test "$1 $2 $3" = "--namespace docs exec"
        while [ "$1" != -- ]; do shift; done
        shift
        exec "$@" --config "${pod.configFile}"`,
    });
    const outputs = await follow(commandsOf('pipelines'), {
      cwd,
      env: {
        PATH: `${join(cwd, 'bin')}:${process.env.PATH}`,
        DOCSHELF_API_KEY: KEYS.acme,
        DOCSHELF__ADMIN__TOKEN: token,
        DOCSHELF__SERVER__PORT: String(site),
        DOCSHELF__ADMIN__PORT: String(admin),
        DOCSHELF__API__PORT: String(api),
      },
      changes: {
        'https://api.example.com': service.origin,
        'http://127.0.0.1:8081': `http://127.0.0.1:${api}`,
        'http://127.0.0.1:19090': host.admin,
        'https://docs.internal:9090': `https://localhost:${new URL(secure.admin).port}`,
        se_0123456789abcdef: jobId,
      },
    });
    const bundles = await readdir(join(cwd, 'bundles'));
    expect(bundles).toContain('acme-export-2026-11-01.tar.gz');
    expect(bundles.length).toBeGreaterThan(1);
    expect(parse(await readFile(join(cwd, 'values.yaml'), 'utf8'))).toMatchObject({
      staticExport: { version: 'v3.2.0', bundleUrl: expect.stringContaining(service.origin) },
    });
    for (const { site: url } of [host, secure, pod]) expect(await (await fetch(url)).text()).toContain('Acme lantern');
    const stored = await bench.run(['bundle', 'list', '--json'], { cwd });
    expect(stored.stdout).toContain('"v3.3.0"');
    expect((await fetch(outputs.at(-2)?.trim().split('\n').at(-1) ?? '')).status).toBe(200);
    expect(await readFile(join(cwd, 'ssh-calls'), 'utf8')).toBe(
      [
        '-f -N -M -S ssh-socket -o ExitOnForwardFailure=yes -L 19090:127.0.0.1:9090 deploy@docs.internal',
        '-S ssh-socket -O exit deploy@docs.internal\n',
      ].join('\n'),
    );
  });

  test('include the script of the GitLab job, which keeps the created bundle as an artifact', () => {
    const blocks = pageBlocks('pipelines');
    const { script, artifacts } = parse(blocks.find(({ kind }) => kind === 'yaml')?.text ?? '').export;
    const command = blocks.find(({ text }) => text.startsWith('sh export.sh '))?.text ?? '';
    expect(script.map((line: string) => line.replace('"$(date +%F)"', '2026-11-01\n'))).toEqual([command]);
    const output = blocks.find(({ title }) => title.includes('export.sh'))?.text ?? '';
    for (const path of artifacts.paths) expect(output).toContain(`--output "${path}`);
  });
});

describe('the commands of docs/crawling.md', () => {
  test('export a live site and read its report', async () => {
    const origin = await httpServer((request, response) => {
      const body = { '/': '<!doctype html><title>Home</title><a href="/gone">Gone</a>' }[request.url ?? ''];
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(body);
    });
    const service = await startExporter(bench, {
      organizations: organizations({ kind: 'crawl', url: `${origin.origin}/`, allowAddresses: ['127.0.0.0/8'] }),
      exportApi: { browser: { verify: 'off' } },
    });
    const cwd = await bench.folder();
    const outputs = await follow(commandsOf('crawling'), {
      cwd,
      env: { DOCSHELF_API_KEY: KEYS.acme },
      changes: { 'https://api.example.com': service.origin },
    });
    expect(await readdir(cwd)).toEqual(['acme-v1.tar.gz']);
    expect(JSON.parse(outputs.at(-2) ?? '')).toMatchObject({ not_fetched: 1 });
  });
});

describe('the commands of docs/keys.md', () => {
  test('create, list, and revoke a key', async () => {
    const token = 'a-token-that-is-long-enough';
    const daemon = await bench.start({
      admin: { port: 0, token },
      organizations: [organization('acme', { docs: {} })],
    });
    const outputs = await follow(commandsOf('keys'), {
      env: { ADMIN_TOKEN: token },
      changes: { 'http://127.0.0.1:9090': daemon.admin },
    });
    expect(JSON.parse(outputs[1] ?? '')).toMatchObject({ name: 'pipeline', type: 'admin', expired: false });
    expect(outputs.at(-2)).toMatch(/^svc_/m);
    const listed = await fetch(`${daemon.admin}/v1/keys`, { headers: { authorization: `Bearer ${token}` } });
    expect(await listed.json()).toEqual({ keys: [] });
  });
});
