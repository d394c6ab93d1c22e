import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { SiteClient } from '../helpers/site-client.ts';
import { bundle } from './bundles.ts';
import { startServing } from './start.ts';

const bench = openBench(afterEach);
const SWAPS = 6;
const CONNECTIONS = 8;
const VERSIONS = ['2024-06-01', '2024-07-01'] as const;
/** Number of requests until the next swap, so that some are always in flight. */
const REQUESTS_A_SWAP = 300;

/** Pages large enough to show a body that mixes two versions. */
const pages = (mark: string): Record<string, string> => {
  return { 'long.html': `<!doctype html><title>${mark}</title>${`<p>${mark}</p>`.repeat(5000)}`, 'old.html': mark };
};

test('requests during swaps never fail or mix versions: every body is complete and matches its ETag', async () => {
  const archives = {
    'docs-2024-06-01.tar.gz': bundle('june', pages('june')),
    'docs-2024-07-01.tar.gz': bundle('july', pages('july')),
  };
  const config = { staticExport: { version: VERSIONS[0] }, log: { access: false } };
  const daemon = await startServing(bench, archives, config);
  await daemon.until(({ versions }) => versions.length === 2);

  const client = new SiteClient(daemon.site, CONNECTIONS);
  bench.onEnd(() => client.close());
  const wrong: string[] = [];
  const seen = new Set<string>();
  const send = async (path: string): Promise<void> => {
    const { status, headers, body } = await client.get(path, { 'accept-encoding': 'identity' });
    const digest = createHash('sha256').update(body).digest('hex');
    const marks = new Set(body.toString().match(/june|july/g));
    const isWhole = body.length === Number(headers['content-length']) && marks.size === 1;
    if (status !== 200 || !isWhole || !isOf(headers.etag, digest)) wrong.push(`${path}: ${status} ${headers.etag}`);
    for (const mark of marks) seen.add(mark);
  };

  for (let swap = 1; swap <= SWAPS; swap += 1) {
    const version = VERSIONS[swap % 2] ?? VERSIONS[0];
    const requests = Array.from({ length: REQUESTS_A_SWAP }, (_, index) => (index % 3 === 0 ? '/' : '/long'));
    const pending = sideBySide(requests, CONNECTIONS, send);
    await daemon.rewriteConfig({ staticExport: { version } });
    await Promise.all([pending, daemon.untilServing(version)]);
    expect((await client.get('/')).body.toString()).toContain(version === VERSIONS[0] ? 'june' : 'july');
  }
  expect(wrong).toEqual([]);
  expect([...seen].sort()).toEqual(['july', 'june']);
});

/** ETag of an uncompressed body: the first half of the content's SHA-256. */
function isOf(etag: string | undefined, digest: string): boolean {
  return etag === `"${digest.slice(0, 32)}"`;
}
