import { describe, expect, test } from 'vitest';
import { plan, type Shelf, type Step, type Wish } from '../../src/deploy/plan.ts';
import type { ActivePointer } from '../../src/deploy/releases/release-store.ts';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
const NOW = 'the settings as they are';
const BEFORE = 'the settings as they were';

const wish = (words: Partial<Wish> = {}): Wish => ({
  enabled: true,
  pin: null,
  hasLink: false,
  sha256: null,
  fingerprint: NOW,
  ...words,
});

const active = (words: Partial<ActivePointer> = {}): ActivePointer => ({
  digest: A,
  version: 'v1',
  activatedAt: '2024-07-01T00:00:00.000Z',
  heldAgainst: null,
  lastFetched: null,
  history: [],
  ...words,
});

/** v1 is digest A, of January; v2 is B; C is stored and has no label. */
const shelf = (words: Partial<Shelf> = {}): Shelf => ({
  labels: new Map([
    ['v1', A],
    ['v2', B],
  ]),
  digests: new Set([A, B, C]),
  active: null,
  activeCreatedAt: null,
  preloaded: null,
  ...words,
});

const JANUARY = '2024-01-01T00:00:00.000Z';
const MARCH = '2024-03-01T00:00:00.000Z';
const preloaded = (createdAt: string, isNew = false) => ({ version: 'v2', digest: B, createdAt, isNew });
const serve = (version: string, digest: string, relabel = false): Step => ({
  do: 'serve',
  release: { version, digest },
  relabel,
});
const fetch = (version: string | null): Step => ({ do: 'fetch', version });
const missing = (version: string | null, sha256: string | null = null): Step => ({ do: 'missing', version, sha256 });

describe('plan()', () => {
  test.each<[what: string, Wish, Shelf, mustFetch: boolean, Step]>([
    ['off, whatever else is set', wish({ enabled: false, pin: 'v1', hasLink: true }), shelf(), true, { do: 'off' }],

    ['a pin that is stored', wish({ pin: 'v1' }), shelf(), true, serve('v1', A)],
    ['a pin that is stored, with a link: no fetch', wish({ pin: 'v1', hasLink: true }), shelf(), true, serve('v1', A)],
    ['a pin whatever is active', wish({ pin: 'v2' }), shelf({ active: active() }), true, serve('v2', B)],
    [
      'a pin whatever an operator held',
      wish({ pin: 'v2' }),
      shelf({ active: active({ heldAgainst: NOW }) }),
      true,
      serve('v2', B),
    ],
    [
      'a pin whatever is preloaded',
      wish({ pin: 'v1' }),
      shelf({ preloaded: preloaded(MARCH, true) }),
      true,
      serve('v1', A),
    ],
    ['a pin that is not stored', wish({ pin: 'v9' }), shelf({ active: active() }), true, missing('v9')],
    ['a pin that is not stored, with a link', wish({ pin: 'v9', hasLink: true }), shelf(), false, fetch('v9')],
    ['a pin with the digest that it has', wish({ pin: 'v1', sha256: A, hasLink: true }), shelf(), true, serve('v1', A)],
    ['a pin with another digest that is stored', wish({ pin: 'v1', sha256: C }), shelf(), true, serve('v1', C, true)],
    [
      'a new pin with a digest that is stored',
      wish({ pin: 'v9', sha256: B, hasLink: true }),
      shelf(),
      true,
      serve('v9', B, true),
    ],
    ['a pin with a digest that is nowhere', wish({ pin: 'v1', sha256: 'd' }), shelf(), true, missing('v1', 'd')],
    [
      'a pin with a digest that is nowhere, with a link',
      wish({ pin: 'v1', sha256: 'd', hasLink: true }),
      shelf(),
      false,
      fetch('v1'),
    ],

    ['a link at a start', wish({ hasLink: true }), shelf({ active: active() }), true, fetch(null)],
    ['a link that was fetched', wish({ hasLink: true }), shelf({ active: active() }), false, serve('v1', A)],
    ['a link that was fetched, nothing active', wish({ hasLink: true }), shelf(), false, fetch(null)],
    [
      'a link, whatever is preloaded',
      wish({ hasLink: true }),
      shelf({ preloaded: preloaded(MARCH, true) }),
      true,
      fetch(null),
    ],
    [
      'a link with a digest that is stored',
      wish({ hasLink: true, sha256: B }),
      shelf({ active: active() }),
      true,
      serve('v2', B),
    ],
    ['a link with a digest that has lost its label', wish({ hasLink: true, sha256: C }), shelf(), true, fetch(null)],
    [
      'a link with a digest that is nowhere',
      wish({ hasLink: true, sha256: 'd' }),
      shelf({ active: active() }),
      true,
      fetch(null),
    ],
    [
      'a link with a stored digest, against which an operator chose',
      wish({ hasLink: true, sha256: B }),
      shelf({ active: active({ heldAgainst: NOW, lastFetched: B }) }),
      true,
      serve('v1', A),
    ],
    [
      'a link with a digest that changed since an operator chose',
      wish({ hasLink: true, sha256: B }),
      shelf({ active: active({ heldAgainst: BEFORE, lastFetched: B }) }),
      true,
      serve('v2', B),
    ],
    [
      'a fetched link and a choice that holds',
      wish({ hasLink: true }),
      shelf({ active: active({ heldAgainst: NOW, lastFetched: B }) }),
      false,
      serve('v1', A),
    ],
    [
      'a fetched link and a choice that the settings ended',
      wish({ hasLink: true }),
      shelf({ active: active({ heldAgainst: BEFORE, lastFetched: B }) }),
      false,
      serve('v2', B),
    ],
    [
      'a fetched link whose bundle is gone and a choice that the settings ended',
      wish({ hasLink: true }),
      shelf({ active: active({ heldAgainst: BEFORE, lastFetched: 'd' }) }),
      false,
      fetch(null),
    ],

    ['neither, nothing there', wish(), shelf(), true, missing(null)],
    ['neither, with what is active', wish(), shelf({ active: active() }), true, serve('v1', A)],
    ['neither, nothing active, one preloaded', wish(), shelf({ preloaded: preloaded(JANUARY) }), true, serve('v2', B)],
    [
      'neither, a newer one preloaded',
      wish(),
      shelf({ active: active(), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) }),
      true,
      serve('v2', B),
    ],
    [
      'neither, an older one preloaded',
      wish(),
      shelf({ active: active(), activeCreatedAt: MARCH, preloaded: preloaded(JANUARY, true) }),
      true,
      serve('v1', A),
    ],
    [
      'neither, one of the same age preloaded',
      wish(),
      shelf({ active: active(), activeCreatedAt: MARCH, preloaded: preloaded(MARCH, true) }),
      true,
      serve('v1', A),
    ],
    [
      "neither, an operator's choice against a newer one that was there",
      wish(),
      shelf({ active: active({ heldAgainst: NOW }), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) }),
      true,
      serve('v1', A),
    ],
    [
      "neither, an operator's choice and a newer one that came since",
      wish(),
      shelf({ active: active({ heldAgainst: NOW }), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH, true) }),
      true,
      serve('v2', B),
    ],
    [
      "neither, an operator's choice that the settings ended",
      wish(),
      shelf({ active: active({ heldAgainst: BEFORE }), activeCreatedAt: JANUARY, preloaded: preloaded(MARCH) }),
      true,
      serve('v2', B),
    ],
  ])('decides on %s', (_, asked, there, mustFetch, step) => {
    expect(plan(asked, there, mustFetch)).toEqual(step);
  });
});
