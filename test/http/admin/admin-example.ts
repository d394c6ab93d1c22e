import type { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { AdminActions, SiteActions } from '../../../src/http/admin/actions.ts';
import { type AdminOptions, createAdminApp } from '../../../src/http/admin/app.ts';
import type { ObservedSite, SiteFindings } from '../../../src/http/admin/observed-site.ts';
import { JobDesk } from '../../../src/http/job-desk.ts';
import type { KeyActions } from '../../../src/http/keys/key-desk.ts';
import type { ListedKey } from '../../../src/http/keys/key-schemas.ts';
import { Metrics, type Readings } from '../../../src/http/metrics/metrics.ts';
import { featuresOf } from '../../helpers/features.ts';
import { memoryAudit } from '../audit/memory-audit.ts';
import { STATUS } from '../status-example.ts';

export const TOKEN = 'correct-horse';
export const BEARER = { Authorization: `Bearer ${TOKEN}` };
export const DIGEST = 'd'.repeat(64);
export const FEATURES = featuresOf();

export const READINGS: Readings = {
  states: [{ site: null, state: 'ready' }],
  isReady: true,
  jobs: null,
  volume: null,
  dependencies: [],
  certificates: [],
};

const DIFF = {
  added: [{ page: 'new.html', title: 'New' }],
  removed: [],
  moved: [{ page: 'there.html', title: 'Moves', from: 'here.html' }],
  changed: [{ page: 'index.html', title: 'Home', wordsAdded: 3, wordsRemoved: 1 }],
  unchanged: 1_170,
  leftOut: { added: 0, removed: 0, moved: 0, changed: 0 },
};

export const KEY: ListedKey = {
  id: 'key_4f1c09a7e2b85d36',
  organization: 'acme',
  type: 'admin',
  name: 'ci',
  createdAt: '2026-11-23T10:00:00.000Z',
  expiresAt: null,
  expired: false,
  lastUsedAt: null,
  readOnly: false,
};

function keysThatNote(calls: unknown[][]): KeyActions {
  return {
    list: async (organization) => {
      calls.push(['listKeys', organization]);
      return [KEY];
    },
    create: async (wanted) => {
      calls.push(['createKey', wanted]);
      return { ...KEY, ...wanted, expiresAt: wanted.expiresAt ?? null, key: 'svc_secret' };
    },
    revoke: async (id) => {
      calls.push(['revokeKey', id]);
      return KEY;
    },
  };
}

/** Actions that record their calls. */
export function actionsThatNote(calls: unknown[][], changes: Partial<SiteActions> = {}): AdminActions {
  const note = <T>(result: T, ...call: unknown[]): Promise<T> => {
    calls.push(call);
    return Promise.resolve(result);
  };
  const ofSite: SiteActions = {
    domain: 'acme',
    activeVersion: () => null,
    onBundleRefused: (source) => calls.push(['refused', source]),
    activate: (version) => note({ version, digest: DIGEST }, 'activate', version),
    rollback: () => note({ version: 'v1', digest: DIGEST }, 'rollback'),
    preview: (version) =>
      note({ version, digest: DIGEST, link: 'http://a/?preview=b', expiresAt: '' }, 'preview', version),
    diff: (before, after) => note({ ...DIFF, before, after }, 'diff', before, after),
    remove: (version) => note(undefined, 'remove', version),
    upload: async (fileName, body, { signal: _, ...rest }) => {
      const bytes = await new Response(body).text();
      return note({ version: 'v9', digest: DIGEST, activated: true, unpacked: true }, 'upload', fileName, bytes, rest);
    },
    ...changes,
  };
  return {
    keys: keysThatNote(calls),
    jobs: new JobDesk({ service: async () => null, organizations: () => [] }),
    reload: () => note({ at: '2024-06-01T00:00:00.000Z', ok: true, error: null }, 'reload'),
    site: (domain) => {
      if (domain !== null) calls.push(['site', domain]);
      return { ...ofSite, domain: domain ?? ofSite.domain };
    },
  };
}

export function observedAt(
  address: string,
  findings: Partial<SiteFindings> = {},
  search: ObservedSite['search'] = async () => [],
): ObservedSite {
  const none = { policy: 'off', origins: [], ruleFaults: [], ruleFaultCount: 0, notices: [] } as const;
  return { address, findings: () => ({ ...none, ...findings }), canRollBack: async () => true, search };
}

export type AppChanges = Partial<Omit<AdminOptions, 'actions'>> & { readonly actions?: Partial<AdminActions> };

export function appWith(changes: AppChanges = {}) {
  const calls: unknown[][] = [];
  const { lines, audit } = memoryAudit();
  const faults: DocshelfError[] = [];
  const app = createAdminApp({
    endpoint: 'token',
    programVersion: '0.1.0',
    token: () => new Secret(TOKEN),
    hosts: () => [],
    trustedProxies: [],
    readiness: () => ({ ready: true, reason: null }),
    readings: async () => READINGS,
    status: async () => STATUS,
    features: () => FEATURES,
    observe: (domain) => observedAt(`https://${domain}.example/`),
    metrics: new Metrics(),
    service: () => ({
      organizations: [
        { id: 'acme', plan: 'enterprise', sites: [{ domain: 'acme', hosts: [], source: null }], keys: [] },
      ],
      apiUrl: 'http://127.0.0.1:8081',
    }),
    audit,
    revisions: { changes: () => '', jobs: async () => '' },
    folder: async () => null,
    lastGood: () => null,
    onError: (error) => faults.push(error),
    ...changes,
    actions: { ...actionsThatNote(calls), ...changes.actions },
  });
  return { app, calls, lines, faults };
}
