import { describe, expect, it } from 'vitest';
import { queueKind } from '../../src/app/slices.ts';
import { errorOf, load } from './folder.ts';

const loadWith = (yaml: string, url = 'postgres://docshelf:hidden-word@db.acme.dev/docs\n') =>
  load(yaml, { files: { url } });

const DATABASE = 'database: { urlFile: url }';
const faultsOf = async (...args: Parameters<typeof loadWith>) => (await errorOf(loadWith(...args))).faults;

describe('the database section', () => {
  it('moves the job queue to PostgreSQL, unless exportApi.queue.kind is sqlite', async () => {
    expect(queueKind((await loadWith('{}')).config)).toBe('sqlite');
    const { config } = await loadWith(DATABASE);
    expect(queueKind(config)).toBe('postgres');
    expect(config.database.urlFile?.text.reveal()).toContain('hidden-word');
    expect(JSON.stringify(config)).not.toContain('hidden-word');
    expect(queueKind((await loadWith(`${DATABASE}\nexportApi: { queue: { kind: sqlite } }`)).config)).toBe('sqlite');
  });

  it('requires a file with a PostgreSQL URL, and no error shows the content of the file', async () => {
    const [fault, ...others] = await faultsOf(DATABASE, 'mysql://docshelf:hidden-word@db/docs');
    expect(others).toEqual([]);
    expect(fault).toMatchObject({
      key: 'database.urlFile',
      message: expect.stringContaining('it does not contain a URL'),
    });
    expect(fault?.message).not.toContain('hidden-word');
  });

  it('requires that network.allowedHosts lists the host of the URL, except for a Unix socket', async () => {
    for (const head of ['deployment: { type: air-gapped }', 'network: { allowedHosts: [other.dev] }']) {
      expect(await faultsOf(`${head}\n${DATABASE}`)).toMatchObject([
        { key: 'database.urlFile', message: expect.stringContaining('network.allowedHosts does not list') },
      ]);
      await loadWith(`${head}\n${DATABASE}`, 'postgres://docshelf@%2Frun%2Fpostgresql/docs');
    }
    await loadWith(`network: { allowedHosts: ["db.acme.dev:5432"] }\n${DATABASE}`);
  });

  it('allows the role worker, which needs no api.publicUrl', async () => {
    const { config } = await loadWith(
      `${DATABASE}\napi: { host: 0.0.0.0 }\nexportApi: { enabled: true, role: worker }`,
    );
    expect(config.exportApi.role).toBe('worker');
  });

  it('allows an exportApi.deadline of 7 days', async () => {
    const { config } = await loadWith(`${DATABASE}\nexportApi: { deadline: 7d }`);
    expect(config.exportApi.deadlineMs).toBe(7 * 86_400_000);
  });

  it.each([
    ['exportApi: { queue: { kind: postgres } }', 'exportApi.queue.kind', 'set database.urlFile'],
    ['exportApi: { role: worker }', 'exportApi.role', 'set database.urlFile'],
    [
      `${DATABASE}\nexportApi: { role: api, queue: { kind: sqlite } }`,
      'exportApi.role',
      'exportApi.queue.kind to postgres',
    ],
  ])('is rejected if it contradicts exportApi.queue or exportApi.role: %j', async (yaml, key, next) => {
    expect(await faultsOf(yaml)).toMatchObject([
      { code: 'config_invalid', key, message: expect.stringContaining(next) },
    ]);
  });
});
