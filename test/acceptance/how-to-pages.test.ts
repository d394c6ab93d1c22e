import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../helpers/certificates.ts';
import { openBench } from '../helpers/daemon.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { bundle } from './bundles.ts';
import { PageShell } from './page-shell.ts';

/** Runs the commands of how-to pages in their order. A new block of a page fails its test until the test runs it. */
const bench = openBench(afterEach);

function pageBlocks(page: string, language: string, count: number): readonly string[] {
  const blocks = blocksOf(manualPage(page), language);
  expect(blocks, `${language} blocks of docs/${page}.md`).toHaveLength(count);
  return blocks;
}

const ADMIN_TOKEN = 'token-of-the-manual-page';
const ENV = {
  ADMIN_TOKEN,
  DOCSHELF__ADMIN__TOKEN: ADMIN_TOKEN,
  DOCSHELF__SEARCH__ENABLED: 'false',
  DOCSHELF__STATIC_EXPORT__KEEP: '5',
};
const SERVING = 'staticExport: { enabled: true }\n';
const VERSIONS = ['2026-10-01', '2026-11-01', '2026-12-01'];

/** Starts a daemon with archives of three versions in its folder. @param imported versions to import */
async function openPage(imported: readonly string[]) {
  const shell = await PageShell.open(bench, ENV);
  for (const version of VERSIONS) {
    const archive = bundle(version, { [`only/${version}.html`]: `<!doctype html><title>${version}</title>` });
    await writeFile(join(shell.folder, `acme-export-${version}.tar.gz`), archive);
  }
  await shell.configure(SERVING);
  const daemon = await shell.start();
  for (const version of imported) {
    await shell.sh(`docshelf bundle import acme-export-${version}.tar.gz`);
    await daemon.untilServing(version);
  }
  return { shell, daemon };
}

describe('the commands of how-to pages', () => {
  test('publish, preview, roll back, pin, keep and remove versions (versions.md)', async () => {
    const [publish = '', stage = '', diff = '', activate = '', list = '', back = '', removeBad = '', ...rest] =
      pageBlocks('versions', 'sh', 10);
    const [older = '', audit = '', remove = ''] = rest;
    const [pin = '', keep = ''] = pageBlocks('versions', 'yaml', 2);
    const { shell, daemon } = await openPage(['2026-10-01']);

    expect(await shell.sh(publish)).toMatch(/2026-11-01[\s\S]*2026-10-01/);
    expect((await daemon.status()).active?.version).toBe('2026-11-01');
    expect(await shell.sh(stage)).toMatch(
      /http\S+\/_docshelf\/v\/2026-12-01\/\S+[\s\S]+http\S+\/_docshelf\/v\/2026-12-01\/\S+/,
    );
    expect((await daemon.status()).active?.version).toBe('2026-11-01');
    expect(await shell.sh(diff)).toMatch(/only\/2026-1[12]-01[\s\S]*only\/2026-1[12]-01/);

    await shell.sh(activate);
    expect(await shell.sh(list)).toMatch(/2026-12-01 +active/);
    await shell.sh(back);
    expect((await daemon.status()).active?.version).toBe('2026-11-01');

    await shell.configure(pin);
    await shell.sh('docshelf reload');
    expect(await shell.sh(list)).toMatch(/2026-11-01 +active, pinned/);
    await expect(shell.sh(back)).rejects.toThrow(/pin/);
    await shell.sh(removeBad);
    expect((await daemon.status()).versions.map(({ version }) => version)).not.toContain('2026-12-01');
    expect(await shell.sh('docshelf bundle import acme-export-2026-12-01.tar.gz')).toContain('pins another version');

    await shell.configure(SERVING);
    await shell.sh('docshelf reload');
    await shell.sh(older);
    expect((await daemon.status()).active?.version).toBe('2026-11-01');
    await shell.configure(keep);
    await shell.sh('docshelf reload');
    const old = await fetch(`${daemon.site}/_docshelf/v/2026-10-01/guides/start`);
    expect([old.status, await old.text()]).toEqual([200, expect.stringContaining('2026-10-01')]);
    await shell.sh(audit);
    await shell.sh(remove);
    expect((await daemon.status()).versions.map(({ version }) => version)).not.toContain('2026-10-01');
  });

  test('change the config and show the result (reload.md)', async () => {
    const [reload = '', status = '', broken = ''] = pageBlocks('reload', 'sh', 3);
    const [pin = ''] = pageBlocks('reload', 'yaml', 1);
    const { shell, daemon } = await openPage(['2026-11-01', '2026-10-01']);

    await shell.configure(pin);
    await shell.sh(reload);
    await daemon.untilServing('2026-11-01');
    expect(JSON.parse(await shell.sh(status))).toMatchObject({
      state: 'ready',
      active: { version: '2026-11-01' },
      pinned: '2026-11-01',
      lastReload: { ok: true, error: null },
      pending: [],
    });

    await shell.configure(SERVING);
    await shell.sh('docshelf reload');
    // The version that was chosen before the pin is active again.
    expect((await daemon.status()).active?.version).toBe('2026-10-01');
    await shell.configure('staticExport: [');
    await expect(shell.sh(broken)).rejects.toThrow(/ended with 78/);
    expect((await daemon.status()).active?.version).toBe('2026-11-01');
  });

  test('set up redirects, rewrites, hidden pages and headers (redirects.md)', async () => {
    const [redirects = '', force = '', rewrite = '', folder = '', hide = '', headers = ''] = pageBlocks(
      'redirects',
      'text',
      6,
    );
    const [set = ''] = pageBlocks('redirects', 'yaml', 1);
    const [pack = '', take = '', send = '', header = '', inspect = '', ...change] = pageBlocks('redirects', 'sh', 9);
    const page = (title: string) => `<!doctype html><title>${title}</title><p>${title}</p>`;
    const { shell, daemon } = await openPage([]);
    await writeFiles(join(shell.folder, 'site'), {
      'index.html': page('Home'),
      'guides/start.html': page('Start'),
      _redirects: [redirects, force, rewrite, folder, hide].join('\n'),
      _headers: headers,
      'index.php': 'a script',
      'app/index.html': page('App'),
      'fr/404.html': page('Perdu'),
      '404.html': page('Lost'),
      'internal/plan.html': page('Plan'),
      'downloads/list.html': page('Downloads'),
      'embed/map.html': page('Map'),
    });
    const get = (path: string) => fetch(`${daemon.site}${path}`, { redirect: 'manual' });
    const summary = async (path: string) => {
      const response = await get(path);
      return [response.status, response.headers.get('location') ?? /<p>(.*)<\/p>/.exec(await response.text())?.[1]];
    };

    await shell.sh(pack);
    expect(await shell.sh(inspect)).not.toMatch(/_redirects|_headers/);
    await shell.sh(take);
    expect((await daemon.status()).notices).toEqual([]);
    expect(await summary('/docs/a')).toEqual([301, 'https://docs.example.com/a']);
    expect(await summary('/index.php')).toEqual([301, '/']);
    expect(await summary('/app/anything')).toEqual([200, 'App']);
    expect(await summary('/fr/rien')).toEqual([404, 'Perdu']);
    expect(await summary('/internal/plan')).toEqual([404, 'Lost']);
    expect((await get('/downloads/list')).headers.get('x-robots-tag')).toBe('noindex');
    expect((await get('/embed/map')).headers.get('x-frame-options')).toBeNull();
    expect(await shell.sh(send)).toMatch(/^HTTP\/1\.1 301 [\s\S]*^location: \/new\r$/m);
    expect(await shell.sh(header)).toMatch(/^x-robots-tag: noindex\r$/m);
    const changed = await shell.sh(['rm -r site', ...change].join('\n'));
    expect(changed.match(/^root *$/gm)).toHaveLength(2);
    expect(changed.match(/^notes +none$/gm)).toHaveLength(2);

    await shell.configure(`${set}${SERVING}`);
    await shell.sh('docshelf reload');
    const { headers: sent } = await get('/guides/start');
    expect([sent.get('x-robots-tag'), sent.get('x-frame-options')]).toEqual(['noindex', null]);
  });

  test('mount a site under a path (base-path.md)', async () => {
    const [send = '', audit = ''] = pageBlocks('base-path', 'sh', 2);
    const [mount = ''] = pageBlocks('base-path', 'yaml', 1);
    const { shell, daemon } = await openPage(['2026-11-01']);
    await shell.configure(`${mount}${SERVING}`);
    await shell.sh('docshelf reload');
    expect(await shell.sh(send)).toMatch(/^HTTP\/1\.1 200 /);
    expect((await fetch(`${daemon.site}/team/docs`, { redirect: 'manual' })).status).toBe(308);
    expect(await (await fetch(`${daemon.site}/team/docs/`)).text()).toContain('href="/team/docs/guides/start"');
    await shell.sh(audit.replace('VERSION', '2026-11-01'));
  });

  test('report features, and block other origins (features.md, block-other-origins.md)', async () => {
    const [report = ''] = pageBlocks('features', 'sh', 1);
    const [audit = '', status = ''] = pageBlocks('block-other-origins', 'sh', 2);
    const [allow = ''] = pageBlocks('block-other-origins', 'yaml', 1);
    const { shell, daemon } = await openPage(['2026-11-01']);
    expect(await shell.sh(report)).toMatch(/assistant[\s\S]*"id":"assistant"[\s\S]*"id":"assistant"/);
    await shell.sh(audit.replace('VERSION', '2026-11-01'));
    await shell.configure(`${allow}${SERVING}`);
    await shell.sh('docshelf reload');
    const { headers } = await fetch(daemon.site);
    expect(headers.get('content-security-policy-report-only')).toContain('https://stats.example.com');
    expect(JSON.parse(await shell.sh(status))).toMatchObject({ lastReload: { ok: true } });
  });

  test('check the certificate of a config (tls.md)', async () => {
    const [check = ''] = pageBlocks('tls', 'sh', 1);
    const [config = ''] = pageBlocks('tls', 'yaml', 2);
    const shell = await PageShell.open(bench);
    const { cert, key } = makeCertificate({ names: ['docs.acme.dev'] });
    await writeFile(join(shell.folder, 'tls.crt'), cert);
    await writeFile(join(shell.folder, 'tls.key'), key);
    await shell.configure(config);
    await shell.sh(check);
    await shell.configure(config.replace('docs.acme.dev', 'docs.globex.dev'));
    expect(await shell.sh(`${check.trim()} 2>&1`)).toContain('docs.globex.dev');
  });

  test('preview and check a folder of Markdown (markdown-sites.md)', async () => {
    const [preview = '', check = ''] = pageBlocks('markdown-sites', 'sh', 2);
    const shell = await PageShell.open(bench);
    await writeFiles(join(shell.folder, 'docs'), { 'index.md': '# Lantern\n' });
    await shell.sh(check);
    const page = await shell.sh(`
      ${preview.trim()} --port 0 > preview.log &
      until grep -q 'Preview at' preview.log; do sleep 0.1; done
      curl -s "$(sed -n 's/^Preview at \\(.*\\): .*/\\1/p' preview.log)"
      kill $!
      wait $!`);
    expect(page).toContain('<h1>Lantern</h1>');
  });
});
