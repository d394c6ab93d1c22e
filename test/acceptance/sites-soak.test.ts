import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { runs } from '../helpers/runs.ts';
import { SiteClient } from '../helpers/site-client.ts';
import { bundle } from './bundles.ts';
import { siteEntry, startServing } from './start.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-token-for-the-tests';
const SITES = Array.from({ length: 12 }, (_, at) => `site-${at}`);
const VERSIONS = ['2024-06-01', '2024-07-01'] as const;
const SWAPS = runs(100);
const READERS = 6;

const markOf = (domain: string, version: string) => `${domain}-of-${version}`;

test(`${SWAPS} swaps over twelve sites under load: no request fails, and no response mixes sites or versions`, {
  timeout: runs(300_000),
}, async () => {
  const archives = SITES.flatMap((domain) =>
    VERSIONS.map((version) => [`${domain}/docs-${version}.tar.gz`, bundle(markOf(domain, version))]),
  );
  const config = { admin: { token: TOKEN }, log: { access: false }, sites: SITES.map((domain) => siteEntry(domain)) };
  const daemon = await startServing(bench, Object.fromEntries(archives), config);
  await daemon.until(
    (status) => status.sites?.every(({ active, versions }) => active !== null && versions.length === 2) === true,
  );

  const random = new SeededRandom(seedOfEnvironment());
  const faults: string[] = [];
  let answers = 0;
  let isOver = false;
  const read = async (): Promise<void> => {
    const client = new SiteClient(daemon.site, 2);
    while (!isOver) {
      const domain = random.pick(SITES);
      const { status, body } = await client.get(`/${domain}/${random.pick(['', 'guides/start'])}`);
      const text = body.toString();
      const seen = VERSIONS.filter((version) => text.includes(markOf(domain, version)));
      if (status !== 200 || seen.length !== 1) faults.push(`${domain}: ${status} ${seen}`);
      answers += 1;
    }
    client.close();
  };
  const readers = Array.from({ length: READERS }, read);
  for (let swap = 0; swap < SWAPS; swap += 1) {
    const [domain, version] = [random.pick(SITES), random.pick(VERSIONS)];
    const path = `/v1/sites/${domain}/versions/${version}/activate`;
    const answer = await fetch(daemon.admin + path, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } });
    expect(answer.status).toBe(200);
    const client = new SiteClient(daemon.site, 1);
    const { body } = await client.get(`/${domain}/`);
    client.close();
    if (!body.toString().includes(markOf(domain, version)))
      faults.push(`${domain} is not at ${version} after its swap`);
  }
  isOver = true;
  await Promise.all(readers);
  console.log(
    `figure: ${answers} requests on 12 sites over ${SWAPS} swaps, ${faults.length} failed, seed ${random.seed}`,
  );
  expect(faults).toEqual([]);
  expect(answers).toBeGreaterThan(SWAPS);
});
