import { afterAll, expect, test } from 'vitest';
import type { BundleLink } from '../../src/domain/job.ts';
import { openBench } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';
import { runCommands } from '../helpers/shell.ts';
import { organization, startExporter } from './export-service.ts';

const bench = openBench(afterAll);
const TOKEN = 'a-token-that-is-long-enough';

/** Shell lines of the nth block of a manual page, with replaced words. */
function publishedLines(page: string, nth: number, changes: Readonly<Record<string, string>>): string {
  let lines = blocksOf(manualPage(page), 'sh')[nth] ?? '';
  for (const [before, after] of Object.entries(changes)) {
    expect(lines).toContain(before);
    lines = lines.replaceAll(before, after);
  }
  return lines;
}

async function shell(lines: string, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await runCommands(lines, cwd, { env })).stdout;
}

const keyOn = (page: string): string => /svc_[A-Za-z0-9_-]{43,}/.exec(page)?.[0] ?? '';

/** An operator's browser in the console, without JavaScript. */
class FormBrowser {
  #cookie = '';
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async open(path: string): Promise<string> {
    return (await fetch(this.#origin + path, { headers: { cookie: this.#cookie, accept: 'text/html' } })).text();
  }

  /** @returns the page after the redirect */
  async send(path: string, fields: Readonly<Record<string, string>>, from = path): Promise<string> {
    const formToken = /name="formToken" value="([^"]+)"/.exec(await this.open(from))?.[1] ?? '';
    const answer = await fetch(this.#origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: this.#cookie, origin: this.#origin, accept: 'text/html' },
      body: new URLSearchParams({ formToken, ...fields }),
    });
    this.#cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie;
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`${answer.status}: ${await answer.text()}`);
    const { pathname, search } = new URL(to, this.#origin + path);
    return this.open(pathname + search);
  }
}

test('a new organization can create keys, export, pin and search with the documented commands, and a revoked key stops working at once', async () => {
  const service = await startExporter(bench, {
    admin: { port: 0, token: TOKEN },
    organizations: [organization('acme', { acme: { source: { kind: 'folder', path: './site' } } })],
  });
  const folder = await bench.folder();

  const made = await shell(
    `${publishedLines('keys', 0, { 'http://127.0.0.1:9090': service.daemon.admin })}printf %s "$key"`,
    folder,
    { ADMIN_TOKEN: TOKEN },
  );
  const exported = publishedLines('export-api', 0, { 'http://127.0.0.1:8081': service.origin, 'svc_…': made });
  const output = await shell(`${exported}printf '\\n%s' "$bundle"`, folder);
  expect(output).toContain('acme.tar.gz: OK');
  const { bundleUrl, sha256 } = JSON.parse(output.split('\n').at(-1) ?? '') as BundleLink;

  const port = await freePort();
  const reader = await bench.start({
    deployment: { domain: 'acme' },
    staticExport: { enabled: true, bundleUrl, version: '2024-06-01', sha256 },
    admin: { port: 0, token: TOKEN },
    api: { port },
    search: {},
    organizations: [organization('acme', { acme: {} })],
  });
  await reader.until(({ state, search }) => state === 'ready' && search.keyword === 'ready');

  const operator = new FormBrowser(reader.admin);
  await operator.send('/sign-in', { token: TOKEN });
  const page = '/organizations/acme/keys';
  const key = keyOn(await operator.send(page, { name: 'website', type: 'assistant' }));
  const search = publishedLines('search', 0, {
    'http://127.0.0.1:8081': `http://127.0.0.1:${port}`,
    'svc_dsc_…': key,
    'rotate the signing keys': 'lantern',
  });
  expect(await shell(search, folder)).toContain('The lantern burns all night');

  const id = /key_[0-9a-f]{16}/.exec(await operator.open(page))?.[0] ?? '';
  expect(await operator.send(`${page}/revoke`, { key: id, name: 'website' }, page)).toContain('website was revoked');
  expect(JSON.parse(await shell(search, folder))).toMatchObject({ status: 401, code: 'unauthorized' });

  const lines = (await (
    await fetch(`${reader.admin}/v1/audit`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).json()) as { lines: object[] };
  expect(lines.lines).toMatchObject([
    { by: 'session', action: 'key-revoke', from: id, target: 'website', result: 'ok' },
    { by: 'session', action: 'key-create', to: id, organization: 'acme' },
    { by: 'session', action: 'sign-in', result: 'ok' },
  ]);
  expect(JSON.stringify(lines) + reader.log()).not.toContain(key);
});
