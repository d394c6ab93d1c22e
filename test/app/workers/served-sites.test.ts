import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { SiteOrder } from '../../../src/app/workers/orders.ts';
import { ServedSites } from '../../../src/app/workers/served-sites.ts';
import { writeFileTable } from '../../../src/files/index.ts';
import { BodyCache } from '../../../src/serve/index.ts';
import { sha256 } from '../../serve/helpers.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A release on disk whose only page has this name. */
async function orderOf(name: string): Promise<SiteOrder> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-served-'));
  folders.push(folder);
  const siteDir = join(folder, 'site');
  await mkdir(siteDir);
  await writeFile(join(siteDir, `${name}.html`), name);
  const file = { path: `${name}.html`, size: name.length, sha256: sha256(name), type: 'text/html; charset=utf-8' };
  await writeFileTable(folder, [file]);
  const facts = { digest: sha256(name), createdAt: '2024-06-01T00:00:00.000Z', siteDir, builtFor: '/' };
  const release = { ...facts, version: name, pages: 1, bytes: 1, trailingSlash: 'never' as const };
  return { release, older: [], form: { trailingSlash: 'auto' } };
}

const PLACE = { domain: '', hosts: [], basePath: '/', isGuarded: false, hasMcp: false };

function open() {
  const faults: string[] = [];
  const sites = new ServedSites({
    bodies: new BodyCache(1024 ** 2),
    handOn: async () => new Response('the daemon'),
    onCache: () => undefined,
    onFault: (_, error) => faults.push(error.code),
  });
  const ask = async (target: string, method = 'GET'): Promise<string> => {
    const incoming = { url: target, method, headers: { host: 'docs.test' } } as IncomingMessage;
    const answer = await sites.answer(new Request(`http://docs.test${target}`, { method }), {
      incoming,
    } as HttpBindings);
    const plain = sites.plain(incoming);
    // Asked again it is prepared, or still the daemon's.
    if (plain !== null) expect(plain.status).toBe(answer.status);
    return answer.status === 404 ? '404' : answer.text();
  };
  return { sites, ask, faults };
}

const places = (isGuarded = false) => ({
  stamp: isGuarded ? 2 : 1,
  isList: false,
  isLogged: true,
  places: [{ ...PLACE, isGuarded }],
});

describe('the sites of a serving process', () => {
  it('hand on what the former version lacks from the moment that the next one is built', async () => {
    const { sites, ask } = open();
    const [june, july] = [await orderOf('june'), await orderOf('july')];
    await sites.use({ sites: [{ key: '', stamp: 1, order: june }], places: places(), tls: null });
    expect([await ask('/june'), await ask('/july')]).toEqual(['june', '404']);
    await sites.prepare({ key: '', stamp: 2, order: july });
    expect([await ask('/june'), await ask('/july')]).toEqual(['june', 'the daemon']);
    await sites.use({ sites: [{ key: '', stamp: 3, order: july, prepared: 2 }], places: null, tls: null });
    expect([await ask('/june'), await ask('/july')]).toEqual(['404', 'july']);
  });

  it('forget what was built for a swap that failed, once something later is served', async () => {
    const { sites, ask } = open();
    const [june, july] = [await orderOf('june'), await orderOf('july')];
    await sites.use({ sites: [{ key: '', stamp: 1, order: june }], places: places(), tls: null });
    await sites.prepare({ key: '', stamp: 2, order: july });
    await sites.use({ sites: [{ key: '', stamp: 3, order: june }], places: null, tls: null });
    expect(await ask('/july')).toBe('404');
  });

  it('are as the later of two orders says, whichever is carried out first', async () => {
    const { sites, ask } = open();
    const [june, july] = [await orderOf('june'), await orderOf('july')];
    await sites.use({ sites: [{ key: '', stamp: 2, order: july }], places: places(), tls: null });
    await sites.use({ sites: [{ key: '', stamp: 1, order: june }], places: null, tls: null });
    expect(await ask('/july')).toBe('july');
  });

  it.each(['/_docshelf/search', '/_docshelf/features.json', '/_docshelf'])('leave %s to the daemon', async (target) => {
    const { sites, ask } = open();
    await sites.use({ sites: [{ key: '', stamp: 1, order: await orderOf('june') }], places: places(), tls: null });
    expect(await ask(target)).toBe('the daemon');
    expect(await ask(target, 'POST')).toBe('the daemon');
    expect(await ask('/june', 'POST')).toBe('This page can only be read\n');
  });

  it('are the daemon’s where readers sign in, and where the release cannot be read', async () => {
    const { sites, ask, faults } = open();
    const june = await orderOf('june');
    await sites.use({ sites: [{ key: '', stamp: 1, order: june }], places: places(), tls: null });
    await ask('/june');
    await sites.use({ sites: [], places: places(true), tls: null });
    expect(await ask('/june')).toBe('the daemon');
    const gone = { ...june, release: { ...june.release, siteDir: '/nowhere/site' } };
    await sites.use({ sites: [{ key: '', stamp: 3, order: gone }], places: { ...places(), stamp: 3 }, tls: null });
    expect(await ask('/june')).toBe('the daemon');
    expect(faults).toHaveLength(1);
  });
});
