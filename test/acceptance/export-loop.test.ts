import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { KEYS, SITE, startExporter } from './export-service.ts';

const bench = openBench(afterEach);
const run = promisify(execFile);

/** A pipeline without docshelf: a shell, curl and jq. It prints the link. */
const LOOP = `#!/bin/sh
set -eu
auth="Authorization: Bearer $SVC_KEY"
job=$(curl -sS --fail-with-body -X POST "$BASE_URL/v1/static-export/jobs" \\
  -H "$auth" -H "Content-Type: application/json" -d '{"domain":"acme"}')
id=$(printf %s "$job" | jq -r .jobId)
while :; do
  job=$(curl -sS --fail-with-body -H "$auth" "$BASE_URL/v1/static-export/jobs/$id")
  case $(printf %s "$job" | jq -r .status) in
    completed) break ;;
    failed) printf %s "$job" | jq -r .error >&2; exit 1 ;;
  esac
  sleep 0.2
done
curl -sS --fail-with-body -X POST "$BASE_URL/v1/static-export/jobs/$id/bundle" -H "$auth" | jq -r .bundleUrl
`;

test('a shell loop of curl and jq exports a site, writes the link to a config, and a reload serves the bundle', async () => {
  const service = await startExporter(bench);
  const script = join(await bench.folder(), 'loop.sh');
  await writeFile(script, LOOP, { mode: 0o755 });
  const env = { PATH: process.env.PATH, BASE_URL: service.origin, SVC_KEY: KEYS.acme };
  const loop = async (): Promise<string> => (await run(script, { env, timeout: 60_000 })).stdout.trim();

  const reader = await bench.start({ log: { access: false } });
  expect((await fetch(reader.site)).status).toBe(503);
  await reader.rewriteConfig({ staticExport: { bundleUrl: await loop() } });
  reader.signal('SIGHUP');
  await reader.until(({ state }) => state === 'ready');
  expect(await (await fetch(`${reader.site}/`)).text()).toBe(SITE['index.html']);

  // The next round swaps in the changed site.
  await writeFiles(join(service.daemon.folder, 'site'), { 'index.html': '<!doctype html><title>Next</title>' });
  const before = (await reader.status()).active?.digest;
  await reader.rewriteConfig({ staticExport: { bundleUrl: await loop() } });
  await reader.until(({ state, active }) => state === 'ready' && active?.digest !== before);
  expect(await (await fetch(`${reader.site}/`)).text()).toBe('<!doctype html><title>Next</title>');

  // A failure ends the loop with the sentence that states the reason.
  for (const page of ['index.html', 'guides/start.html']) await rm(join(service.daemon.folder, 'site', page));
  await expect(loop()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('no HTML page') });
  await service.daemon.rewriteConfig({ organizations: [] });
  await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
  await expect(loop()).rejects.toMatchObject({ code: 22 });
});
