import { afterEach, describe, expect, test } from 'vitest';
import { OwnExportDesk } from '../../src/app/own-exports.ts';
import type { Config } from '../../src/config/index.ts';

const CONFIG = {
  organizations: [{ id: 'acme-inc', plan: 'enterprise', keys: [], domains: { acme: { hosts: [], source: null } } }],
} as unknown as Config;

const desks: OwnExportDesk[] = [];
afterEach(async () => {
  for (const desk of desks.splice(0)) await desk.stop();
});

/** Creates a desk whose exports are a list of job ids, newest last. Also returns the domains for which the desk reported an export. */
function deskOver(jobs: string[], isOpen: Promise<unknown> = Promise.resolve()) {
  const reported: string[] = [];
  const calls: unknown[][] = [];
  const service = {
    newest: async (...request: unknown[]) => {
      calls.push(request);
      const jobId = jobs.at(-1);
      return jobId === undefined ? null : { jobId, sha256: 'a'.repeat(64), signature: null, traceparent: null };
    },
    read: async (...request: unknown[]) => {
      calls.push(request);
      return { stream: [] as unknown as AsyncIterable<Uint8Array>, sizeBytes: 0, fileName: 'x' };
    },
  };
  const desk = new OwnExportDesk({
    service: isOpen.then(() => service),
    config: () => CONFIG,
    onNewer: (domain) => reported.push(domain),
    pollMs: 600_000,
  });
  desks.push(desk);
  const look = async (): Promise<void> => {
    desk.look();
    await desk.stop();
  };
  return { desk, look, reported, calls };
}

describe('OwnExportDesk (gives sites the exports of their own daemon)', () => {
  test('reads exports as the organization that owns the domain, and finds no export for an unknown domain', async () => {
    const { desk, calls } = deskOver(['se_1']);
    expect(await desk.newest('acme', 'v1')).toMatchObject({ jobId: 'se_1' });
    expect(await desk.newest('globex', null)).toBe(null);
    expect(calls).toEqual([['acme-inc', 'acme', 'v1']]);
    const { signal } = new AbortController();
    await desk.read('acme', 'se_1', signal);
    expect(calls.at(-1)).toEqual(['acme-inc', 'se_1', signal]);
    await expect(desk.read('globex', 'se_1', signal)).rejects.toMatchObject({ code: 'no_bundle' });
  });

  test('returns the newest export only after the export service has started', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { desk } = deskOver(['se_1'], promise);
    let found: unknown;
    const finding = desk.newest('acme', null).then((newest) => {
      found = newest;
    });
    await Promise.resolve();
    expect(found).toBe(undefined);
    resolve();
    await finding;
    expect(found).toMatchObject({ jobId: 'se_1' });
  });

  test('calls onNewer() once for each new export, unless the site has already found that export with newest()', async () => {
    const jobs: string[] = [];
    const { desk, look, reported } = deskOver(jobs);
    await look();
    await desk.newest('acme', null);
    await look();
    expect(reported).toEqual([]);
    jobs.push('se_1');
    await look();
    await look();
    expect(reported).toEqual(['acme']);
    jobs.push('se_2');
    await desk.newest('acme', null);
    await look();
    expect(reported).toEqual(['acme']);
  });
});
