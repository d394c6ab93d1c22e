import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKey } from '../../src/cli/keys.ts';

test.each([
  ['admin', /^svc_[A-Za-z0-9_-]{43}$/],
  ['assistant', /^svc_dsc_[A-Za-z0-9_-]{43}$/],
] as const)('createKey() creates a different key of type %s on each call, with its digest', (type, form) => {
  const created = createKey({ org: 'acme', type });
  expect(created.key).toMatch(form);
  expect(created.sha256).toBe(createHash('sha256').update(created.key).digest('hex'));
  expect(created).toMatchObject({ organization: 'acme', type, id: `${type}-${created.sha256.slice(0, 8)}` });
  expect(createKey({ org: 'acme', type }).key).not.toBe(created.key);
});

test.each([{ org: 'a b' }, { org: '' }, { org: 'acme', id: '{x' }])(
  'createKey() rejects an invalid organization or key ID: %o',
  (names) => {
    expect(() => createKey({ type: 'admin', ...names })).toThrow(expect.objectContaining({ code: 'usage' }));
  },
);
