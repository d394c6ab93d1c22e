import { expect, it } from 'vitest';
import { policyHeaders } from '../../src/app/slices.ts';
import { load } from '../config/folder.ts';

const policyOf = async (yaml: string, basePath = '/') => policyHeaders((await load(yaml)).config, 'acme', basePath);

it.each<[string, string | null]>([
  ['deployment: { type: client-hosted }', null],
  ['deployment: { type: air-gapped }', 'Content-Security-Policy'],
  ['deployment: { type: air-gapped }\nfeatures: { enforce: off }', null],
  ['deployment: { type: air-gapped }\nfeatures: { enforce: report }', 'Content-Security-Policy-Report-Only'],
  ['features: { enforce: on }', 'Content-Security-Policy'],
])('policyHeaders() for the config %s returns the header %s', async (yaml, name) => {
  const [first] = Object.keys(await policyOf(yaml));
  expect(first ?? null).toBe(name);
});

it('the content security policy allows the site and the origins of enabled features, and sends reports to the site', async () => {
  const features =
    'features: { enforce: on, analytics: { enabled: true, origins: ["https://stats.example/x;y", "https://stats.example"] }, assistant: { enabled: false, origins: ["https://ai.example"] } }';
  const headers = await policyOf(features, '/docs/');
  expect(headers).toEqual({
    'Content-Security-Policy':
      "default-src 'self' https://stats.example data: blob: 'unsafe-inline' 'unsafe-eval'; object-src 'none'; base-uri 'self'; form-action 'self' https://stats.example; frame-ancestors 'self'; webrtc 'block'; report-uri /docs/_docshelf/csp-report",
    'X-DNS-Prefetch-Control': 'off',
  });
  const airGapped = await policyOf(`deployment: { type: air-gapped }\n${features}`);
  expect(airGapped['Content-Security-Policy']).not.toContain('stats.example');
});
