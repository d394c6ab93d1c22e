import type { ExportReport } from '../../../src/domain/job.ts';
import type { SearchResult } from '../../../src/domain/search.ts';
import type { SiteStatusReport, StatusReport } from '../../../src/domain/status.ts';
import { featuresOf } from '../../helpers/features.ts';
import { STATUS, siteStatus } from '../status-example.ts';

/** Longest text that an operator may see. */
export const LONG = `${'A sentence of some length that goes on. '.repeat(12)}${'x'.repeat(300)}`;
const LONG_LABEL = 'v'.padEnd(128, '0123456789.');
const [FIRST] = STATUS.versions;

const shelf = (sites: readonly SiteStatusReport[]): StatusReport => ({
  ...STATUS,
  deployment: { type: 'air-gapped', domain: null },
  active: null,
  pinned: null,
  versions: [],
  lastError: null,
  sites,
});

const storedAs = (versions: readonly string[]): StatusReport['versions'] =>
  versions.flatMap((version) => (FIRST === undefined ? [] : [{ ...FIRST, version }]));

export const STATES: Readonly<Record<string, StatusReport>> = {
  stale: STATUS,
  ready: { ...STATUS, state: 'ready', lastError: null, notices: [], pending: [] },
  'waiting, with nothing yet': {
    ...STATUS,
    state: 'waiting',
    active: null,
    versions: [],
    lastError: null,
    lastReload: null,
    activity: 'fetching',
  },
  off: { ...STATUS, state: 'off', active: null, search: null },
  'a job running': { ...STATUS, state: 'ready', lastError: null, jobs: { queued: 1, running: 1 } },
  'a refused config': { ...STATUS, lastReload: { at: STATUS.startedAt, ok: false, error: LONG }, notices: [LONG] },
  'a damaged release': {
    ...STATUS,
    lastError: {
      at: STATUS.startedAt,
      code: 'release_damaged',
      message: 'Cannot serve version "v3.2.0": its file "guides/start.html" is damaged',
      next: 'Import the archive once more.',
    },
  },
  'many versions, with long labels': {
    ...STATUS,
    pinned: LONG_LABEL,
    versions: storedAs([LONG_LABEL, ...Array.from({ length: 40 }, (_, at) => `2024-06-${at}`)]),
    active: STATUS.active && { ...STATUS.active, version: LONG_LABEL },
  },
  'several sites': shelf([
    siteStatus('acme'),
    siteStatus('cafe', { state: 'waiting', active: null, hosts: ['cafe.dev', `${'long-'.repeat(11)}name.example`] }),
    siteStatus('x'.repeat(63), { title: LONG, activity: 'unpacking a.zip', lastError: null }),
  ]),
  '200 sites': shelf(Array.from({ length: 200 }, (_, at) => siteStatus(`site-${at}`, { lastError: null }))),
};

/** Features of the deployment in these states: overruled, unavailable, on and off. */
export const AIR_GAPPED = featuresOf('acme', 'air-gapped', { search: true, apiPlayground: false });

export const FINDINGS: ExportReport['findings'] = [
  { kind: 'broken_reference', page: `guides/${'x'.repeat(200)}.html`, detail: LONG },
  ...Array.from({ length: 60 }, (_, at) => ({ kind: 'left_out', page: `draft-${at}.html`, detail: 'noindex' })),
];

/** Result of a search with reasons. */
export const RESULT: SearchResult = {
  content: 'Rotate a key before it ends.',
  path: '/keys/#rotate',
  metadata: {
    ...{ score: 0.8765, title: 'Keys', headings: ['Keys', 'Rotate a key'], version: null, language: 'en', tags: [] },
    highlights: [
      { start: 0, end: 6 },
      { start: 9, end: 12 },
    ],
  },
  reasons: { words: 1.234, meaning: 0.5678, lift: 9, exact: 'title', places: ['title', 'text'], prior: 0.25 },
};
