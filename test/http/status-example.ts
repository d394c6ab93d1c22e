import type { SiteStatusReport, StatusReport } from '../../src/domain/status.ts';

const DIGEST = '3f1c5b9a7d20'.padEnd(64, '0');
const OLDER = '9b07aa41e6cc'.padEnd(64, '1');

/** A daemon that serves the newer of two versions, with a value for each field. */
export const STATUS: StatusReport = {
  state: 'stale',
  deployment: { type: 'air-gapped', domain: 'acme' },
  active: {
    version: 'v3.2.0',
    digest: DIGEST,
    pages: 1170,
    bytes: 48_444_211,
    activatedAt: '2024-06-01T09:30:00.000Z',
  },
  pinned: 'v3.2.0',
  versions: [
    {
      version: 'v3.2.0',
      digest: DIGEST,
      pages: 1170,
      files: 2411,
      bytes: 48_444_211,
      source: 'preload',
      createdAt: '2024-05-31T22:00:00.000Z',
      fetchedAt: '2024-06-01T09:29:00.000Z',
    },
    {
      version: '2024-05-01',
      digest: OLDER,
      pages: 1102,
      files: 2308,
      bytes: 46_002_100,
      source: 'url',
      createdAt: '2024-05-01T00:00:00.000Z',
      fetchedAt: '2024-05-02T08:00:00.000Z',
    },
  ],
  lastReload: { at: '2024-06-02T07:15:00.000Z', ok: true, error: null },
  lastError: {
    at: '2024-06-02T07:15:02.000Z',
    code: 'link_expired',
    message: 'Cannot fetch "https://bundles.example.com/acme-export-2024-06-01.tar.gz": the link has expired',
    next: 'Generate a fresh one and set staticExport.bundleUrl to it.',
  },
  notices: ['2 names differ only by case: Guide.html, guide.html.'],
  activity: null,
  pending: ['server.port'],
  search: { keyword: 'ready', semantic: 'off', sections: 8123, embedded: 0 },
  jobs: { queued: 0, running: 0 },
  startedAt: '2024-05-30T12:00:00.000Z',
  programVersion: '0.1.0',
};

/** Status of a site in a list. */
export const siteStatus = (domain: string, changes: Partial<SiteStatusReport> = {}): SiteStatusReport => ({
  ...STATUS,
  deployment: { type: 'air-gapped', domain },
  title: null,
  hosts: [],
  basePath: `/${domain}/`,
  ...changes,
});
