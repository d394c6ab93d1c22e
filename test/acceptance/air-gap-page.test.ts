import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { chartPackage } from '../../scripts/release/packages.ts';
import { gzip, tar } from '../../scripts/release/tree.ts';
import { fetchHelm } from '../helm/chart.ts';
import { Cluster } from '../helm/cluster/cluster.ts';
import { openBench, waitFor } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { httpServer } from '../helpers/local-server.ts';
import { manualBlocks } from '../helpers/manual-blocks.ts';
import { PROGRAM } from '../helpers/program.ts';
import { HAS_REGISTRY, Registry } from '../helpers/registry.ts';
import { runShell, writePrograms } from '../helpers/shell.ts';
import { bundle } from './bundles.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterAll);
const HAS_MINISIGN = spawnSync('minisign', ['-v']).error === undefined;
const ARCHIVE = 'acme-export-2026-11-01.tar.gz';

/** Each page continues in the folder of the pages before it, but packs its own transfer folder. */
const PAGES = ['air-gap-host', 'air-gap', 'signatures'];
/** Commands, and the configs that apply from there on. */
const blocks = PAGES.flatMap((page) => manualBlocks(page).map((block) => ({ page, ...block })));

/** Programs that this machine lacks. Each one records its call and does the part that the page needs next. */
const STANDINS = {
  // The images of this machine are the lines of a file.
  docker: `case "$1" in
load) grep -q image "$3" && echo docshelf:0.1.0 >> images ;;
tag) grep -qx "$2" images && echo "$3" >> images ;;
push) grep -qx "$2" images ;;
*) false ;;
esac`,
  sudo: '[ "$1" = systemctl ] || exec "$@"',
  oras: '[ "$1" = push ] && exec "$DOCSHELF_NODE" "$DOCSHELF_PUSH" "$2" "$3"',
};

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/**
 * helm packages and renders for real. A folder simulates applying, rolling out and `exec` (test/helm/cluster/program.ts). Its
 * pod is the daemon with the arguments, environment and mounted folders of the rendered Deployment.
 */
const needsCluster = (text: string): boolean => /(?:^|\| )(?:kubectl|helm upgrade|helm test) /m.test(text);

describe.skipIf(!HAS_REGISTRY || !HAS_MINISIGN)('the commands of the pages about air gaps and signatures', () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  let replace: (text: string) => string;
  let cluster: Cluster;
  const outcomes: { readonly page: string; readonly text: string; readonly outcome: Outcome }[] = [];

  /** Runs one block in a separate shell. A daemon that the block starts in the background keeps running. */
  async function sh(text: string): Promise<Outcome> {
    const { code, stdout, stderr } = await runShell(text, folder, {
      env: environment,
      onEnd: (end) => bench.onEnd(end),
    });
    return { code, output: stdout + stderr };
  }

  beforeAll(async () => {
    fetchHelm();
    folder = await bench.folder();
    cluster = new Cluster(folder);
    bench.onEnd(() => cluster.stop());
    const origin = await startOrigin({ [`/${ARCHIVE}`]: bundle('november') });
    const registry = await Registry.start({ tls: false, auth: 'none' });
    bench.onEnd(() => registry.stop());
    const noted = ([name, script]: [string, string]) => [name, `echo "${name} $*" >> "$DOCSHELF_CALLS"\n${script}`];
    writePrograms(folder, Object.fromEntries(Object.entries(STANDINS).map(noted)));
    // Files of a release that the pages name: the chart and small stand-ins.
    await writeFile(join(folder, 'docshelf-0.1.0-image-amd64.tar'), 'an image');
    const release = { version: '0.1.0', revision: '', date: new Date(0) };
    await writeFile(join(folder, 'docshelf-0.1.0-chart.tgz'), await chartPackage(release));
    const launcher = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
    const program = await tar(
      [{ path: 'docshelf-0.1.0-linux-x64/bin/docshelf', bytes: launcher, mode: 0o755 }],
      release.date,
    );
    await writeFile(join(folder, 'docshelf-0.1.0-linux-x64.tar.gz'), await gzip(program));
    // Replaces `oras push` with the helper of the registry tests.
    const push = join(folder, 'push.mjs');
    await writeFile(
      push,
      `const [target, file] = process.argv.slice(2);
      const [, repository, tag] = /^[^/]+\\/(.+):([^:]+)$/.exec(target);
      const [name, mediaType] = file.split(/:(.*)/s);
      await fetch('http://127.0.0.1:' + process.env.DOCSHELF_PUSH_PORT, { method: 'POST', body: JSON.stringify({ repository, tag, name, mediaType }) });`,
    );
    const pusher = await pushServer(registry, () => folder);
    const [site, admin, api] = await freePorts(3);
    environment = {
      BUNDLE_URL: `${origin.origin}/${ARCHIVE}?signature=1`,
      DOCSHELF_CLUSTER: folder,
      DOCSHELF_NODE: process.execPath,
      DOCSHELF_CALLS: join(folder, 'calls'),
      DOCSHELF_PUSH: push,
      DOCSHELF_PUSH_PORT: String(pusher),
      DOCSHELF__SERVER__PORT: String(site),
      DOCSHELF__ADMIN__PORT: String(admin),
      DOCSHELF__API__PORT: String(api),
      DOCSHELF__NETWORK__PROXY: 'off',
    };
    // This machine cannot use port 9090, the host name, and /mnt/share.
    const share = join(folder, 'share');
    await mkdir(share);
    await writeFile(join(share, ARCHIVE), bundle('november'));
    replace = (text) =>
      text
        .replaceAll('127.0.0.1:9090', `127.0.0.1:${admin}`)
        .replaceAll('registry.internal:5000', registry.host)
        .replaceAll('/mnt/share', share)
        .replaceAll('/etc/docshelf/', '');

    for (const { page, kind, text } of blocks) {
      // Each page begins outside the air gap, before anything is packed.
      if (text.includes('--output transfer')) await rm(join(folder, 'transfer'), { recursive: true, force: true });
      if (kind === 'yaml') await mergeConfig(replace(text));
      else outcomes.push({ page, text, outcome: await (needsCluster(text) ? inCluster : sh)(replace(text)) });
    }
  }, 400_000);

  async function inCluster(text: string): Promise<Outcome> {
    return cluster.run(text, environment as Record<string, string>).then(
      (output) => ({ code: 0, output }),
      (error: Error) => ({ code: 1, output: error.message }),
    );
  }

  async function mergeConfig(text: string): Promise<void> {
    const file = join(folder, 'config.yaml');
    const known = parse(await readFile(file, 'utf8')) as Record<string, object>;
    const more = parse(text) as Record<string, object>;
    const merged = { ...known };
    for (const [key, value] of Object.entries(more)) merged[key] = { ...known[key], ...value };
    await writeFile(file, stringify(merged));
  }

  test('are in more than eight code blocks, which this test file executes', () => {
    expect(blocks.filter(({ kind }) => kind === 'sh').length).toBeGreaterThan(8);
    expect(blocks.filter(({ kind }) => kind === 'yaml').length).toBeGreaterThan(2);
  });

  test('all exit with 0', () => {
    const failed = outcomes.filter(({ outcome }) => outcome.code !== 0);
    expect(failed).toEqual([]);
    expect(outcomes.length).toBe(blocks.filter(({ kind }) => kind === 'sh').length);
  });

  test('call docker load, docker push and oras push', async () => {
    const calls = await readFile(join(folder, 'calls'), 'utf8');
    for (const call of ['docker load', 'docker push', 'oras push']) expect(calls).toContain(call);
  });

  test('configure a pod that serves the example bundle and rejects an unsigned bundle', async () => {
    const { active } = await cluster.pod.untilServing('2026-11-01');
    expect(active?.version).toBe('2026-11-01');
    expect(await (await fetch(`${cluster.pod.site}/`)).text()).toContain('november');
    const unsigned = join(folder, 'unsigned.tar.gz');
    await writeFile(unsigned, bundle('december'));
    await cluster.pod.untilLogged(/"event":"reloaded"|reloaded the config/);
    const command = `kubectl --namespace docs exec -i deploy/docshelf -- docshelf bundle import - --json < ${unsigned}`;
    await expect(cluster.run(command, environment as Record<string, string>)).rejects.toThrow('"code": "no_signature"');
  });

  test('verify the checksums and the signature of the transfer folder', () => {
    const all = outcomes.map(({ outcome }) => outcome.output).join('');
    expect(all).toContain(`bundles/${ARCHIVE}: OK`);
    expect(all).toMatch(/SHA256SUMS is signed with key [0-9A-F]{16}/);
  });

  test('configure a daemon that serves the example bundle', async () => {
    const answer = await waitFor(
      () =>
        fetch(`http://127.0.0.1:${environment.DOCSHELF__SERVER__PORT}/`).then(
          (response) => response.text(),
          () => null,
        ),
      () => 'the daemon does not answer',
    );
    expect(answer).toContain('november');
  });
});

/** Pushes for the stand-in of oras, which is a separate process. */
async function pushServer(registry: Registry, folder: () => string): Promise<number> {
  const server = await httpServer(async (request, response) => {
    const { repository, tag, name, mediaType } = JSON.parse(await text(request));
    await registry.push(repository, tag, [{ bytes: await readFile(join(folder(), name)), mediaType, title: name }]);
    response.end();
  });
  return Number(server.host.split(':')[1]);
}
