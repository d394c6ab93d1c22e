import { describe, expect, test } from 'vitest';
import {
  type Choice,
  type ObservedState,
  type Progress,
  plan,
  type Step,
  type Target,
  targetOf,
  type Wanted,
} from '../../src/deploy/plan.ts';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
const NOW = 'the settings as they are';
const BEFORE = 'the settings as they were';

const wanted = (words: Partial<Wanted> = {}): Wanted => ({
  enabled: true,
  pin: null,
  hasLink: false,
  sha256: null,
  fingerprint: NOW,
  fetchKey: 'the link as it is',
  exportsAnew: false,
  ...words,
});

const active = (lastFetched: string | null = null): NonNullable<ObservedState['active']> => ({
  digest: A,
  version: 'v1',
  lastFetched,
});

/** An operator chose v1, which is still active. */
const chosen = (fingerprint: string): Choice => ({ digest: A, version: 'v1', fingerprint });

type Preloaded = Pick<Progress, 'preloaded'>;

/** v1 is digest A from January, v2 is B, and C is stored without a label. */
const observed = (words: Partial<ObservedState & Preloaded> = {}): ObservedState & Preloaded => ({
  labels: new Map([
    ['v1', A],
    ['v2', B],
  ]),
  digests: new Set([A, B, C]),
  active: null,
  activeCreatedAt: null,
  choice: null,
  preloaded: null,
  ...words,
});

const JANUARY = '2024-01-01T00:00:00.000Z';
const MARCH = '2024-03-01T00:00:00.000Z';
const preloaded = (createdAt: string, isNew = false) => ({ version: 'v2', digest: B, createdAt, isNew });
const serve = (version: string, digest: string, relabel = false): Target => ({
  do: 'serve',
  release: { version, digest },
  relabel,
});
const asFetched = (version: string, digest: string): Target => ({
  do: 'serve',
  release: { version, digest },
  relabel: false,
  asFetched: true,
});
const fetch = (version: string | null): Target => ({ do: 'fetch', version });
const missing = (version: string | null, sha256: string | null = null): Target => ({ do: 'missing', version, sha256 });

describe('targetOf() (which release a deployment should serve)', () => {
  type Found = Partial<ObservedState & Preloaded> & { readonly mustFetch?: boolean };

  test.each<[what: string, Partial<Wanted>, Found, Target]>([
    ['a disabled site, whatever else is set', { enabled: false, pin: 'v1', hasLink: true }, {}, { do: 'off' }],
    ['a pinned version that is stored', { pin: 'v1' }, {}, serve('v1', A)],
    [
      'a pinned version that is stored, with a link that is not fetched',
      { pin: 'v1', hasLink: true },
      {},
      serve('v1', A),
    ],
    ['a pinned version, whatever version is active', { pin: 'v2' }, { active: active() }, serve('v2', B)],
    [
      'a pinned version, whatever version an operator activated',
      { pin: 'v2' },
      { active: active(), choice: chosen(NOW) },
      serve('v2', B),
    ],
    [
      'a pinned version, whatever version is preloaded',
      { pin: 'v1' },
      { preloaded: preloaded(MARCH, true) },
      serve('v1', A),
    ],
    ['a pinned version that is not stored', { pin: 'v9' }, { active: active() }, missing('v9')],
    [
      'a pinned version that is not stored, with a link',
      { pin: 'v9', hasLink: true },
      { mustFetch: false },
      fetch('v9'),
    ],
    [
      'a pinned version with a sha256 that matches its digest',
      { pin: 'v1', sha256: A, hasLink: true },
      {},
      serve('v1', A),
    ],
    [
      'a pinned version with a sha256 that is stored but differs from its digest',
      { pin: 'v1', sha256: C },
      {},
      serve('v1', C, true),
    ],
    [
      'a newly pinned version with a digest that is stored',
      { pin: 'v9', sha256: B, hasLink: true },
      {},
      serve('v9', B, true),
    ],
    ['a pinned version with a digest that is not stored', { pin: 'v1', sha256: 'd' }, {}, missing('v1', 'd')],
    [
      'a pinned version with a digest that is not stored, with a link',
      { pin: 'v1', sha256: 'd', hasLink: true },
      { mustFetch: false },
      fetch('v1'),
    ],
    ['a link at the start of the daemon', { hasLink: true }, { active: active() }, fetch(null)],
    ['a link that was fetched', { hasLink: true }, { mustFetch: false, active: active() }, serve('v1', A)],
    ['a link that was fetched, without an active version', { hasLink: true }, { mustFetch: false }, fetch(null)],
    ['a link, whatever version is preloaded', { hasLink: true }, { preloaded: preloaded(MARCH, true) }, fetch(null)],
    ['a link with a digest that is stored', { hasLink: true, sha256: B }, { active: active() }, asFetched('v2', B)],
    [
      'a link with a digest that is stored and active, whose version label stays',
      { hasLink: true, sha256: A },
      {
        active: active(),
        labels: new Map([
          ['v0', A],
          ['v1', A],
        ]),
      },
      asFetched('v1', A),
    ],
    [
      'a link with a digest that was served, and a version that was imported or activated since',
      { hasLink: true, sha256: B },
      { mustFetch: false, active: active(B) },
      serve('v1', A),
    ],
    ['a link with a stored digest without a version label', { hasLink: true, sha256: C }, {}, fetch(null)],
    ['a link with a digest that is not stored', { hasLink: true, sha256: 'd' }, { active: active() }, fetch(null)],
    [
      'a link with a stored digest, and a version that an operator activated later',
      { hasLink: true, sha256: B },
      { active: active(B), choice: chosen(NOW) },
      serve('v1', A),
    ],
    [
      'a link with a stored digest that changed after an operator activated a version',
      { hasLink: true, sha256: B },
      { active: active(B), choice: chosen(BEFORE) },
      asFetched('v2', B),
    ],
    [
      'a fetched link, and a version that an operator activated later',
      { hasLink: true },
      { mustFetch: false, active: active(B), choice: chosen(NOW) },
      serve('v1', A),
    ],
    [
      'a fetched link, and a version that an operator activated before staticExport changed',
      { hasLink: true },
      { mustFetch: false, active: active(B), choice: chosen(BEFORE) },
      serve('v2', B),
    ],
    [
      'a fetched link whose bundle was removed, and a version that an operator activated before staticExport changed',
      { hasLink: true },
      { mustFetch: false, active: active('d'), choice: chosen(BEFORE) },
      fetch(null),
    ],
    ['neither pinned version nor link, without a version', {}, {}, missing(null)],
    ['neither pinned version nor link, with an active version', {}, { active: active() }, serve('v1', A)],
    [
      'neither pinned version nor link, without an active version but with a preloaded version',
      {},
      { preloaded: preloaded(JANUARY) },
      serve('v2', B),
    ],
    [
      'neither pinned version nor link, with a newer preloaded version',
      {},
      { active: active(), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) },
      serve('v2', B),
    ],
    [
      'neither pinned version nor link, with an older preloaded version',
      {},
      { active: active(), activeCreatedAt: MARCH, preloaded: preloaded(JANUARY, true) },
      serve('v1', A),
    ],
    [
      'neither pinned version nor link, with a preloaded version of the same age',
      {},
      { active: active(), activeCreatedAt: MARCH, preloaded: preloaded(MARCH, true) },
      serve('v1', A),
    ],
    [
      'neither pinned version nor link, with a version that an operator activated although a newer version existed',
      {},
      { active: active(), choice: chosen(NOW), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) },
      serve('v1', A),
    ],
    [
      'neither pinned version nor link, with a version that an operator activated before a newer version arrived',
      {},
      { active: active(), choice: chosen(NOW), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH, true) },
      serve('v2', B),
    ],
    [
      'neither pinned version nor link, with a version that an operator activated before staticExport changed',
      {},
      { active: active(), choice: chosen(BEFORE), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) },
      serve('v2', B),
    ],
  ])(
    'returns the action "off", "serve", "fetch" or "missing" for %s',
    (_, words, { mustFetch = true, ...found }, target) => {
      const there = observed(found);
      expect(targetOf(wanted(words), there, there.preloaded, mustFetch)).toEqual(target);
    },
  );
});

describe('plan() (next step of a deployment)', () => {
  const settled = (words: Partial<Progress> = {}): Progress => ({
    nowMs: 1_000,
    hasStartedRound: true,
    hasCommand: false,
    served: { version: 'v1', digest: A },
    preload: 'done',
    preloaded: null,
    fetching: null,
    fetchedFor: 'the link as it is',
    exportAtMs: null,
    isSettled: true,
    fault: null,
    serveLastAtMs: null,
    pruneAtMs: null,
    ...words,
  });
  const exporting = wanted({ hasLink: true, exportsAnew: true });
  const fetchingExport = { key: 'the link as it is', isExport: true, isAborted: false };

  test.each<[what: string, Wanted, Partial<Progress>, Step]>([
    ['sets no timer if no work is pending', exporting, {}, { do: 'wait', untilMs: null }],
    ['waits for the next export', exporting, { exportAtMs: 5_000 }, { do: 'wait', untilMs: 5_000 }],
    [
      'waits for pruning before a later export',
      exporting,
      { exportAtMs: 5_000, pruneAtMs: 3_000 },
      { do: 'wait', untilMs: 3_000 },
    ],
    ['exports at the time of the next export', exporting, { exportAtMs: 1_000 }, { do: 'export' }],
    [
      'does not export if the settings do not contain staticExport.renew',
      wanted({ hasLink: true }),
      { exportAtMs: 1_000 },
      { do: 'wait', untilMs: null },
    ],
    [
      'does not start a second export while one runs',
      exporting,
      { exportAtMs: 1_000, fetching: fetchingExport },
      { do: 'wait', untilMs: null },
    ],
    [
      'does not export while the preload folder is read',
      exporting,
      { exportAtMs: 1_000, preload: 'running' },
      { do: 'wait', untilMs: null },
    ],
    ['runs a command before an export', exporting, { exportAtMs: 1_000, hasCommand: true }, { do: 'run-command' }],
    [
      'does not export before the first reconciliation has started',
      exporting,
      { exportAtMs: 1_000, hasStartedRound: false },
      { do: 'wait', untilMs: null },
    ],
  ])('chooses the next step: %s', (_, wantedState, progress, step) => {
    expect(plan(wantedState, observed({ active: active() }), settled(progress))).toEqual(step);
  });
});
