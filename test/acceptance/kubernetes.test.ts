import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fetchHelm, HELM, parseManifests, ROOT, template } from '../helm/chart.ts';
import { Cluster } from '../helm/cluster/cluster.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';
import { HAS_REGISTRY, Registry } from '../helpers/registry.ts';
import { bundle } from './bundles.ts';

/**
 * `docs/kubernetes.md`, word for word. helm renders and kubectl creates manifests for real. A folder simulates applying, rolling
 * out, `exec`, `logs` and `helm test` (test/helm/cluster/program.ts). The pod of the site is the daemon with the arguments,
 * environment and mounted folders of the rendered Deployment. Image volumes and init containers are rendered but not run.
 */
const PAGE = manualPage('kubernetes');
const BUNDLES: Readonly<Record<string, Buffer>> = {
  '/acme-export-2026-11-01.tar.gz': bundle('november'),
  '/acme-export-2026-12-01.tar.gz': bundle('december'),
  '/handbook-export-2026-11-01.tar.gz': bundle('handbook'),
};
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const INSTALL_PAGE = manualPage('install');

/** Command blocks of a section. */
function commandsOf(section: string): string[] {
  const text = PAGE.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return blocksOf(text, 'sh');
}

let folder = '';
let cluster: Cluster;
let origin: LocalServer;
let env: Record<string, string> = {};

beforeAll(fetchHelm, 120_000);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docshelf-cluster-'));
  cluster = new Cluster(folder);
  origin = await httpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://origin');
    const bytes = BUNDLES[pathname];
    // Like a store with presigned links: without its signature, a link fails.
    if (searchParams.get('signature') !== 'canary-7f3a') response.writeHead(403).end();
    else if (bytes === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  });
  const link = (month: string): string => `${origin.origin}/acme-export-2026-${month}-01.tar.gz?signature=canary-7f3a`;
  const HANDBOOK_URL = link('11').replace('acme', 'handbook');
  env = { URL: link('11'), NEXT_URL: link('12'), HANDBOOK_URL, HOME: folder };
  // Files that the commands name.
  for (const [name, bytes] of Object.entries(BUNDLES)) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'runbooks-export-2026-11-01.tar.gz'), bundle('runbooks'));
  writeFileSync(join(folder, 'ca.crt'), '-----BEGIN CERTIFICATE-----\n');
  writeFileSync(join(folder, 'export-key'), 'svc_example\n');
  writeFileSync(join(folder, 'minisign.key'), 'untrusted comment: a key\n');
  writeFileSync(join(folder, 'database-url'), 'postgres://docshelf:hidden-word@127.0.0.1:1/docs\n');
  writeFileSync(join(folder, 'access-key-id'), 'AK\n');
  writeFileSync(join(folder, 'secret-access-key'), 'SK\n');
  writeFileSync(
    join(folder, 'organizations.yaml'),
    `organizations:\n  - { id: acme, plan: enterprise, domains: { acme: {} }, keys: [{ id: ci, type: admin, sha256: ${DIGEST} }] }\n`,
  );
});
afterEach(async () => {
  await cluster.stop();
  await origin.close();
  rmSync(folder, { recursive: true });
});

const run = (commands: string | undefined): Promise<string> => cluster.run(commands ?? 'false', env);

describe('the commands of docs/kubernetes.md', () => {
  it('install a site from a presigned link, upgrade it without a failed request, and roll it back', async () => {
    const [install, next, list, back] = commandsOf('Install from a presigned link');
    expect(await run(install)).toContain('responds with 200');
    await cluster.pod.untilServing('2026-11-01');

    const statuses = new Map<number, number>();
    let isReading = true;
    const reading = (async () => {
      while (isReading) {
        const { status } = await fetch(`${cluster.pod.site}/`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    })();
    await run(next);
    await cluster.pod.untilServing('2026-12-01');
    isReading = false;
    await reading;
    expect([...statuses.keys()]).toEqual([200]);
    expect(await (await fetch(`${cluster.pod.site}/`)).text()).toContain('december');

    expect(await run(list)).toMatch(/2026-11-01[\s\S]*2026-12-01|2026-12-01[\s\S]*2026-11-01/);
    const fetched = origin.requests.length;
    await run(back);
    await cluster.pod.untilServing('2026-11-01');
    expect(origin.requests.length).toBe(fetched);
    expect(cluster.pod.log()).not.toContain('canary');
  });

  it('apply a new link from a rotated Secret', async () => {
    const [install, rotate] = commandsOf('Use your own Secret for the link');
    await run(install);
    await cluster.pod.untilServing('2026-11-01');
    await run(rotate);
    await cluster.pod.untilServing('2026-12-01');
  });

  it('import bundles without a network', async () => {
    const [importing, second, image, mirror] = commandsOf('Deliver without a network');
    await run(importing);
    await cluster.pod.untilServing('2026-11-01');
    await run(second);
    await cluster.pod.untilServing('2026-11-01');
    expect((await cluster.pod.status()).versions.map(({ version }) => version).sort()).toEqual([
      '2026-11-01',
      '2026-12-01',
    ]);
    await run(image);
    await run(mirror);
    expect(origin.requests).toEqual([]);
  });

  it('reject an unknown setting, and read a token from a Secret', async () => {
    const [levels] = commandsOf('Set config keys');
    expect(await run(levels)).toMatch(/levle[\s\S]*refused/);
    writeFileSync(join(folder, 'admin-token'), 'a-long-random-text');
    const token = blocksOf(manualPage('console'), 'sh').find((block) => block.includes('docs-admin'));
    // Without a bundle, the pod is never ready.
    await run(token?.replace(/^kubectl .* rollout .*$/m, ''));
    const { env: ofPod } = JSON.parse(readFileSync(join(folder, 'pod.json'), 'utf8')) as {
      env: Record<string, string>;
    };
    expect(readFileSync(ofPod.DOCSHELF__ADMIN__TOKEN__FILE ?? '', 'utf8')).toBe('a-long-random-text');
  });

  it('set up the export API, and install on OpenShift', async () => {
    const [exports] = commandsOf('Run the export API');
    expect(await run(exports)).toMatch(/svc_\w+/);
    const [openshift] = commandsOf('OpenShift');
    await run(openshift);
  });

  it('install several sites, each served under its own host', async () => {
    const [install, third] = commandsOf('Several sites');
    await run(install);
    const answers = await run(third);
    for (const place of ['docs.acme.dev/', 'internal.acme.dev/handbook/', 'internal.acme.dev/runbooks/']) {
      expect(answers).toContain(`${place} responds with 200`);
    }
    const { sites } = await cluster.pod.status();
    expect(sites?.map(({ active }) => active?.version)).toEqual(['2026-11-01', '2026-11-01', '2026-11-01']);
    expect(cluster.pod.log()).not.toContain('canary');
  });

  it.runIf(HAS_REGISTRY)('push the chart into a registry, and install it from there', async () => {
    const registry = await Registry.start({ tls: false, auth: 'none' });
    try {
      // The registry of the test has no TLS, and there is no cluster.
      const commands = (commandsOf('Keep the chart in a registry')[0] ?? '')
        .replaceAll('registry.example', registry.host)
        .replace(/^helm (?:push|upgrade) .*$/gm, '$& --plain-http')
        .replace('helm upgrade --install', 'helm template');
      const PATH = `${dirname(HELM)}:${process.env.PATH}`;
      const run = promisify(execFile)('sh', ['-euc', commands], { cwd: folder, env: { ...env, PATH } });
      const { stdout } = await run;
      const text = stdout.slice(stdout.indexOf('---\n'));
      expect(parseManifests(text)).toEqual(template());
    } finally {
      await registry.stop();
    }
  });

  it('are in as many code blocks as this test file executes', () => {
    const counts = {
      'Install from a presigned link': 4,
      'Use your own Secret for the link': 2,
      'Deliver without a network': 4,
      'Set config keys': 1,
      'Several sites': 2,
      'Run the export API': 1,
      'Keep the chart in a registry': 1,
      OpenShift: 1,
    };
    const found = Object.keys(counts).map((section) => [section, commandsOf(section).length]);
    expect(Object.fromEntries(found)).toEqual(counts);
    expect(blocksOf(PAGE, 'sh')).toHaveLength(Object.values(counts).reduce((sum, count) => sum + count, 0));
  });
});

describe('docs/install.md', () => {
  it('shows a command that installs the chart, and names only existing files', async () => {
    const install = /^```sh\n(helm [\s\S]*?)^```/m.exec(INSTALL_PAGE)?.[1];
    await run(install);
    await cluster.pod.untilServing('2026-11-01');
    const named = [...INSTALL_PAGE.matchAll(/`((?:examples|helm)\/[\w./-]*|[\w-]+\.yaml|Dockerfile)`/g)].map(
      ([, name = '']) => name,
    );
    expect(named).toContain('examples/systemd/docshelf.service');
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
});
