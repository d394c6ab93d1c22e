/**
 * Takes the pictures of the console that the manual shows, of a daemon of the built program with three sites:
 *
 *     sh scripts/run.sh build && sh scripts/run.sh node scripts/screenshots/console.ts
 *
 * Chromium is that of DOCSHELF_CHROMIUM, or the system's.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';

const ROOT = join(import.meta.dirname, '../..');
const IMAGES = join(ROOT, 'docs/images');
const TOKEN = 'a-token-for-pictures';
const SITES = { acme: ['2024-06-01', '2024-07-15', '2024-09-02'], handbook: ['v3.2.0'], runbooks: [] };

const folder = mkdtempSync(join(tmpdir(), 'docshelf-pictures-'));
const daemon = spawn(process.execPath, [join(ROOT, 'dist/main.js'), 'serve', '--config', configIn(folder)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(daemon, 'exit');
const browser = await chromium.launch({
  executablePath: process.env.DOCSHELF_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const admin = await adminOf(daemon.stdout);
  for (const [domain, versions] of Object.entries(SITES))
    for (const version of versions) await takeIn(admin, domain, version);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${admin}/sign-in`);
  await page.getByLabel('Admin token').fill(TOKEN);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await picture(page, 'console-sites.png');
  await page.goto(`${admin}/sites/acme`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'console-site.png');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'light' });
  await picture(page, 'console-phone.png');
} finally {
  await browser.close();
  daemon.kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

function configIn(home: string): string {
  const sites = Object.keys(SITES).map((domain) => ({
    domain,
    basePath: `/${domain}`,
    staticExport: { enabled: true, preload: join(home, 'none') },
  }));
  mkdirSync(join(home, 'none'));
  const config = {
    sites,
    server: { host: '127.0.0.1', port: 0 },
    admin: { port: 0, token: TOKEN },
    api: { port: 0 },
    storage: { dir: join(home, 'data') },
    search: { model: 'off' },
    log: { format: 'json' },
  };
  const file = join(home, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function adminOf(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    const found = /admin on (https?:[^\s",]+)/.exec(text)?.[1];
    if (found !== undefined) {
      output.resume();
      return found;
    }
  }
  throw new Error(`the daemon has ended: ${text}`);
}

async function takeIn(admin: string, domain: string, version: string): Promise<void> {
  const site = join(folder, 'site');
  mkdirSync(site, { recursive: true });
  for (const name of ['index', 'install', 'guide'])
    writeFileSync(join(site, `${name}.html`), `<!doctype html><title>${domain}</title><h1>${name} of ${version}</h1>`);
  const body = execFileSync('tar', ['-czf', '-', '-C', site, '.']);
  const address = `${admin}/v1/sites/${domain}/bundles/${domain}.tar.gz?version=${version}`;
  const answer = await fetch(address, { method: 'PUT', headers: { Authorization: `Bearer ${TOKEN}` }, body });
  if (!answer.ok) throw new Error(await answer.text());
}

async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready');
  await page.screenshot({ path: join(IMAGES, name), animations: 'disabled' });
}
