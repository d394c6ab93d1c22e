import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-token-that-is-long-enough';
const CONFIG_KEY = 'svc_dsc_of-the-config';
/** Has the form of a key that was created at run time. */
const UNKNOWN_KEY = `svc_dsc_${'x'.repeat(43)}`;

class Replica {
  readonly daemon: DaemonProcess;
  readonly #api: string;

  constructor(daemon: DaemonProcess, apiPort: number) {
    this.daemon = daemon;
    this.#api = `http://127.0.0.1:${apiPort}`;
  }

  search(key: string): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return fetch(`${this.#api}/v1/search/acme`, { method: 'POST', headers, body: '{"query":"june"}' });
  }

  keys(method: 'GET' | 'POST' | 'DELETE', id = ''): Promise<Response> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ organization: 'acme', type: 'assistant', name: 'website' });
    return fetch(`${this.daemon.admin}/v1/keys${id && `/${id}`}`, {
      method,
      headers,
      ...(method === 'POST' && { body }),
    });
  }

  async make(): Promise<{ readonly id: string; readonly key: string }> {
    const answer = await this.keys('POST');
    if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; key: string };
  }

  async untilAnswered(key: string, status: number): Promise<void> {
    let last = 0;
    await waitFor(
      async () => {
        last = (await this.search(key)).status;
        return last === status ? true : null;
      },
      () => `a search is answered ${last}, and not ${status}`,
    );
  }
}

interface Replicas {
  readonly postgres: PostgresServer;
  readonly replicas: readonly [Replica, Replica];
}

/** Starts two daemons with separate data folders and one database. */
async function startReplicas(): Promise<Replicas> {
  const postgres = await PostgresServer.start();
  const url = await postgres.createDatabase();
  const start = async (): Promise<Replica> => {
    const folder = await bench.folder();
    await folderOf(join(folder, 'bundles'), { 'acme-export-2024-06-01.tar.gz': bundle('june') });
    await writeFile(join(folder, 'database-url'), url);
    const port = await freePort();
    const keys = [{ id: 'site', type: 'assistant', sha256: sha256Of(CONFIG_KEY) }];
    const config = {
      deployment: { domain: 'acme' },
      admin: { token: TOKEN },
      api: { port },
      search: { model: 'off' },
      organizations: [{ id: 'acme', plan: 'enterprise', domains: { acme: {} }, keys }],
      database: { urlFile: './database-url' },
    };
    const daemon = await bench.start(config, { folder });
    await daemon.until(({ state, search }) => state === 'ready' && search.keyword === 'ready');
    return new Replica(daemon, port);
  };
  const replicas = await Promise.all([start(), start()]);
  return { postgres, replicas };
}

const leftOf = ({ headers }: Response): number => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

describe.skipIf(!HAS_POSTGRES)('daemons on one database', () => {
  test('share the keys that each daemon creates or revokes, and count requests together', async () => {
    const { replicas } = await startReplicas();
    const [one, other] = replicas;
    const made = await one.make();
    expect((await one.search(made.key)).status).toBe(200);
    await other.untilAnswered(made.key, 200);
    const { keys } = (await (await other.keys('GET')).json()) as { keys: { id: string; readOnly: boolean }[] };
    expect(keys.map(({ id, readOnly }) => [id, readOnly])).toEqual([
      ['site', true],
      [made.id, false],
    ]);

    const left = leftOf(await one.search(CONFIG_KEY));
    expect(leftOf(await other.search(made.key))).toBe(left - 1);
    expect(leftOf(await one.search(made.key))).toBe(left - 2);

    expect((await other.keys('DELETE', made.id)).status).toBe(204);
    expect((await other.search(made.key)).status).toBe(401);
    await one.untilAnswered(made.key, 401);
    expect((await one.search(CONFIG_KEY)).status).toBe(200);
    for (const { daemon } of replicas) expect(await daemon.stop()).toBe(0);
  });

  test('serve and search while the database has crashed, change no key, and recover without a restart', async () => {
    const { postgres, replicas } = await startReplicas();
    const [one, other] = replicas;
    const made = await one.make();
    await other.untilAnswered(made.key, 200);

    await postgres.stop('SIGQUIT');
    for (let round = 0; round < 20; round += 1) {
      for (const replica of replicas) {
        const answers = [
          await fetch(`${replica.daemon.site}/`),
          await fetch(`${replica.daemon.site}/_docshelf/search?q=june`),
          await replica.search(made.key),
          await replica.search(CONFIG_KEY),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      }
    }
    for (const replica of replicas) {
      await replica.daemon.until(({ notices }) =>
        notices.some((notice) => notice.includes('The previous keys stay valid')),
      );
      const refused = [
        await replica.keys('POST'),
        await replica.keys('GET'),
        await replica.keys('DELETE', made.id),
        await replica.search(UNKNOWN_KEY),
      ];
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await other.daemon.rewriteConfig({ rateLimits: { onFault: 'closed' } });
    await other.untilAnswered(CONFIG_KEY, 503);
    expect((await one.search(CONFIG_KEY)).headers.get('ratelimit')).toBeNull();

    await postgres.go();
    for (const replica of replicas) {
      await replica.daemon.until(({ notices }) =>
        notices.every((notice) => !notice.includes('The keys that were read last')),
      );
      await replica.untilAnswered(UNKNOWN_KEY, 401);
      await replica.untilAnswered(CONFIG_KEY, 200);
    }
    await expect.poll(async () => (await one.search(CONFIG_KEY)).headers.get('ratelimit')).not.toBeNull();
    const later = await other.make();
    await one.untilAnswered(later.key, 200);
    expect((await one.keys('DELETE', made.id)).status).toBe(204);
    await other.untilAnswered(made.key, 401);
    for (const { daemon } of replicas) expect(daemon.log()).not.toContain('hidden-word');
  });
});
