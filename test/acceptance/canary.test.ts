import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle } from './bundles.ts';

const bench = openBench(afterEach);
const CANARY = 'c4n4ry-s3cr3t';
/** Parts of a link, except its query, that can contain a credential. */
const QUERY = `X-Amz-Signature=${CANARY}&se=${CANARY}`;

/**
 * Serves the bundle at `/docs-2024-06-01.tar.gz` and a redirect to it at `/moved`. Other paths return 403 with the link in the
 * body.
 */
async function origin(): Promise<string> {
  const server = await httpServer((request, response) => {
    const { url = '' } = request;
    if (url.startsWith('/docs-')) response.end(bundle('one'));
    else if (url.startsWith('/moved')) response.writeHead(302, { location: `/docs-2024-06-01.tar.gz?${QUERY}` }).end();
    else if (url.startsWith('/cut'))
      response.writeHead(200, { 'content-length': 9 }).end('<', () => response.destroy());
    else response.writeHead(403).end(`<Error><Code>AccessDenied</Code><Resource>${url}</Resource></Error>`);
  });
  return server.origin;
}

/** All outputs of the daemon, with the name of each. */
async function allOutput(daemon: DaemonProcess): Promise<[string, string][]> {
  const outputs: [string, string][] = [];
  for (const path of ['/', '/metrics', '/v1/status', '/v1/features', '/readyz']) {
    outputs.push([path, await (await fetch(`${daemon.admin}${path}`)).text()]);
  }
  for (const path of ['/', '/_docshelf/features.json', '/nowhere']) {
    const answer = await fetch(`${daemon.site}${path}`);
    outputs.push([`site ${path}`, `${JSON.stringify([...answer.headers])} ${await answer.text()}`]);
  }
  for (const args of [['config', 'print'], ['config', 'print', '--json'], ['bundle', 'list', '--json'], ['features']]) {
    const { stdout, stderr } = await bench.run([...args, '--config', daemon.configFile]);
    outputs.push([args.join(' '), stdout + stderr]);
  }
  for (const file of ['cmdline', 'environ']) {
    outputs.push([file, await readFile(`/proc/${daemon.pid}/${file}`, 'utf8')]);
  }
  for (const entry of await readdir(daemon.dataDir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    outputs.push([`the name of ${file}`, file]);
    if (entry.isFile()) outputs.push([file, await readFile(file, 'latin1')]);
  }
  outputs.push(['the log', daemon.log()]);
  return outputs;
}

/** Also finds percent-encoded and base64 forms. */
function expectNoCanary(outputs: readonly [string, string][]): void {
  const forms = [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString('base64').slice(0, 12)];
  const leaks = outputs.filter(([, text]) => forms.some((form) => text.includes(form))).map(([where]) => where);
  expect(leaks).toEqual([]);
  expect(outputs.length).toBeGreaterThan(15);
}

describe('the query string of bundleUrl', () => {
  test('is never printed, logged or stored if bundleUrlFile contains the link, whether the fetch succeeds or fails', async () => {
    const base = await origin();
    const folder = await bench.folder();
    const linkFile = join(folder, 'link');
    await writeFile(linkFile, `${base}/moved?${QUERY}\n`);
    const daemon = await bench.start({
      staticExport: { bundleUrlFile: linkFile },
      network: { retries: 1 },
      log: { level: 'trace' },
    });
    await daemon.untilServing('2024-06-01');
    expectNoCanary(await allOutput(daemon));

    await writeFile(linkFile, `${base}/refused?${QUERY}\n`);
    await daemon.untilError('link_refused');
    expectNoCanary(await allOutput(daemon));

    await writeFile(linkFile, `${base}/cut?${QUERY}\n`);
    await daemon.untilError('source_truncated');
    expectNoCanary(await allOutput(daemon));

    // Each of these once printed text that a person had pasted into the wrong place.
    for (const text of [
      `htps://x/?${CANARY}`,
      `http://user:${CANARY}@127.0.0.1:1/a.zip`,
      `file:///nowhere?${CANARY}`,
    ]) {
      const { lastReload } = await daemon.status();
      await writeFile(linkFile, text);
      await daemon.until((status) => status.lastReload?.at !== lastReload?.at);
    }
    // A path outside of network.fileRoots is a config error that names the file.
    expect((await daemon.status()).lastReload).toMatchObject({ ok: false });
    expectNoCanary(await allOutput(daemon));
    expect(await daemon.stop()).toBe(0);
    expectNoCanary(Array.from({ length: 16 }, () => ['the log to its end', daemon.log()]));
  });

  test('is never printed, logged or stored if the config contains the link, even under a wrong key', async () => {
    const base = await origin();
    const daemon = await bench.start({
      staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz?${QUERY}`, version: 'v1' },
      log: { level: 'trace' },
    });
    await daemon.untilServing('v1');
    const { lastReload } = await daemon.status();
    await daemon.rewriteConfig({ staticExport: { sha256: `https://x.example/?${QUERY}`, bundelUrl: `x?${QUERY}` } });
    await daemon.until((status) => status.lastReload !== lastReload && status.lastReload?.ok === false);
    expectNoCanary(await allOutput(daemon));
  });

  test('is never printed, logged or stored if a start fails because of the link', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {
      staticExport: { version: `https://x.example/?${QUERY}`, bundleUrl: `x?${QUERY}` },
    });
    for (const args of [['serve'], ['serve', '--json'], ['config', 'check'], ['config', 'print', '--json']]) {
      const { code, stdout, stderr } = await bench.run(args, { cwd: folder });
      expect(code).toBe(78);
      expect(stdout + stderr).not.toContain(CANARY);
    }
  });
});
