import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const STAGED_AT = '/_docshelf/v/v2';

interface Imported {
  readonly preview: { readonly link: string; readonly expiresAt: string };
}

const open = (address: string, cookie?: string): Promise<Response> =>
  fetch(address, { redirect: 'manual', ...(cookie === undefined ? {} : { headers: { cookie } }) });
const cookieOf = (answer: Response): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
const withoutDate = ({ headers }: Response): object => {
  const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(headers);
  return rest;
};

async function withStaged() {
  const folder = await bench.folder();
  await folderOf(folder, { 'one.tar.gz': bundle('one'), 'two.tar.gz': bundle('two'), 'three.tar.gz': bundle('three') });
  await bench.writeConfig(folder, {});
  const run = async (...args: string[]) => {
    const result = await bench.run(['bundle', ...args, '--json'], { cwd: folder });
    expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
    return result.json<Imported & { link: string }>();
  };
  await run('import', 'one.tar.gz', '--version', 'v1');
  return { folder, run };
}

/** Opens a link like a browser does. @returns the cookie */
async function follow(link: string): Promise<string> {
  const opened = await open(link);
  expect([opened.status, opened.headers.get('location')]).toEqual([302, `${STAGED_AT}/`]);
  expect(opened.headers.get('cache-control')).toBe('no-store');
  expect(opened.headers.get('set-cookie')).toMatch(
    /^docshelf-preview-[0-9a-f]{12}=[\w-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  return cookieOf(opened);
}

const targetOf = (daemon: DaemonProcess, link: string): string => {
  const { pathname, search } = new URL(link);
  return daemon.site + pathname + search;
};

describe('a staged version', () => {
  test('is available only through the preview link that the import prints', async () => {
    const { folder, run } = await withStaged();
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing('v1');
    const { preview } = await run('import', 'two.tar.gz', '--version', 'v2', '--no-activate');
    expect(preview.link).toMatch(new RegExp(`^${daemon.site}${STAGED_AT}/\\?preview=`));
    const unknown = await open(`${daemon.site}/_docshelf/v/v9/`);
    const closed = await open(`${daemon.site}${STAGED_AT}/`);
    expect([closed.status, await closed.text()]).toEqual([404, await unknown.text()]);
    expect(withoutDate(closed)).toEqual(withoutDate(unknown));

    const cookie = await follow(preview.link);
    const page = await open(`${daemon.site}${STAGED_AT}/`, cookie);
    expect(await page.text()).toContain('<p>two</p>');
    expect([page.headers.get('cache-control'), page.headers.get('x-robots-tag')]).toEqual(['no-store', 'noindex']);
    expect((await open(`${daemon.site}${STAGED_AT}/none`, cookie)).headers.get('cache-control')).toBe('no-store');
    expect(await (await open(`${daemon.site}/_docshelf/versions.json`, cookie)).text()).not.toContain('v2');
    for (const address of [
      preview.link.replace('preview=', 'preview=A'),
      preview.link.replace('/v2/', '/v1/'),
      `${daemon.site}${STAGED_AT}/?preview=`,
    ])
      expect((await open(address)).headers.get('set-cookie')).toBeNull();

    // The label now names another staged release.
    await run('import', 'three.tar.gz', '--version', 'v2', '--no-activate');
    expect((await open(`${daemon.site}${STAGED_AT}/`, cookie)).status).toBe(404);
    expect((await open(preview.link)).status).toBe(404);
    await run('import', 'two.tar.gz', '--version', 'v2', '--no-activate');
    expect((await open(`${daemon.site}${STAGED_AT}/`, cookie)).status).toBe(200);
    await run('activate', 'v2');
    const active = await open(`${preview.link}&a=b`);
    expect([active.status, active.headers.get('location')]).toEqual([302, '/?a=b']);
    expect(daemon.log()).not.toContain('preview=');
  });

  test('is available, even if no version is active, through a preview link that was created while no daemon was running', async () => {
    const { folder, run } = await withStaged();
    const { preview } = await run('import', 'two.tar.gz', '--version', 'v2', '--no-activate');
    const { link } = await run('preview', 'v2');
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing('v1');
    const cookie = await follow(targetOf(daemon, preview.link));
    await follow(targetOf(daemon, link));
    await daemon.stop();
    const config = {
      server: { host: '127.0.0.1', port: 0 },
      staticExport: { enabled: true, version: 'v9' },
    };
    const next = await bench.start(config, { folder });
    await next.untilError('version_not_found');
    expect((await open(`${next.site}${STAGED_AT}/`, cookie)).status).toBe(200);
    expect((await open(`${next.site}${STAGED_AT}/`)).status).toBe(503);
    expect(await bench.run(['bundle', 'preview', 'v7', '--json'], { cwd: folder })).toMatchObject({ code: 69 });
  });
});
