import { expect, it } from 'vitest';
import { forWorker } from '../../../src/http/site/site.ts';
import { loadSiteRules, type SnapshotOptions } from '../../../src/site/index.ts';
import { type Files, releases, serve } from '../../site/helpers.ts';
import { siteApp } from './site-example.ts';

/** @param active files of the active release. The former release had a service worker at several paths */
async function scriptAt(
  path: string,
  active: Files,
  form: Partial<SnapshotOptions> = {},
  headers = {},
): Promise<string> {
  const old = releases.make({ 'sw.js': 'old', 'offline.js': 'old', 'sw.mjs': 'old' });
  const release = releases.make({ 'index.html': 'start', 'a.html': 'a', ...active });
  const { server } = serve([release, old], { ...form, rules: await loadSiteRules(release) });
  const app = siteApp({ server, basePath: form.basePath ?? '/' });
  const sent = { 'service-worker': 'script', ...headers };
  const answer = await forWorker({ method: 'GET', headers: sent }, app.request(path, { headers: sent }));
  const body = await answer.text();
  const isRetired = body.includes('registration.unregister()');
  if (isRetired) expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  return `${answer.status} ${isRetired ? 'retired' : body}`;
}

it.each<[string, string, Files, Partial<SnapshotOptions>]>([
  ['the active version does not contain the script', '/sw.js', {}, {}],
  ['only an older release contains the script', '/offline.js', {}, {}],
  ['the start page is served at all paths', '/worker', {}, { spaFallback: true }],
  ['a rule serves a page at all paths', '/worker', { _redirects: '/* /index.html 200' }, {}],
  ['a rule serves a page at all paths except scripts', '/sw.js', { _redirects: '/* /index.html 200' }, {}],
  ['a rule redirects', '/sw.js', { _redirects: '/* /new/:splat 301' }, {}],
  ['a rule redirects from the file', '/sw.js', { 'sw.js': 'new', _redirects: '/sw.js /b.js 301!' }, {}],
  ['a rule redirects to another host', '/sw.js', { _redirects: '/* https://docs.example/:splat 308!' }, {}],
  ['a rule hides the file', '/sw.js', { 'sw.js': 'new', _redirects: '/sw.js /a 404!' }, {}],
  ['a folder has the name of the script', '/sw.js', { 'sw.js/index.html': 'x' }, {}],
  ['the site has a 404 page', '/sw.js', { '404.html': 'not here' }, {}],
  ['only the Markdown of a page exists', '/a.md', {}, { markdown: true }],
  ['the script is outside the base path', '/sw.js', { 'sw.js': 'new' }, { basePath: '/docs/' }],
  ['the script is in a hidden folder', '/.git/sw.js', { '.git/sw.js': 'new' }, {}],
])(
  'forWorker() (removal of outdated service workers) responds to a request for a service worker with a script that unregisters this worker if %s',
  async (_, path, files, form) => {
    expect(await scriptAt(path, files, form)).toBe('200 retired');
  },
);

it.each<[string, string, Files, Partial<SnapshotOptions>, string]>([
  ['a script', '/sw.js', { 'sw.js': 'new' }, {}, '200 new'],
  ['a module', '/sw.mjs', { 'sw.mjs': 'new' }, {}, '200 new'],
  ['a script in the base path', '/docs/sw.js', { 'sw.js': 'new' }, { basePath: '/docs/' }, '200 new'],
  ['a script of another name', '/sw.js', { 'w.js': 'new', _redirects: '/sw.js /w.js 200' }, {}, '200 new'],
])(
  'forWorker() (removal of outdated service workers) returns the script of the site if the service worker still exists as %s',
  async (_, path, files, form, expected) => {
    expect(await scriptAt(path, files, form)).toBe(expected);
  },
);

it.each(['', 'other', 'scripts'])(
  'forWorker() (removal of outdated service workers) does not change the response to a request with the header Service-Worker: %j',
  async (field) => {
    expect(await scriptAt('/sw.js', {}, {}, { 'service-worker': field })).toBe('404 Not found\n');
    expect(await scriptAt('/offline.js', {}, {}, { 'service-worker': field })).toBe('200 old');
  },
);

it.each([401, 403, 405, 429, 500, 503, 304])(
  'forWorker() (removal of outdated service workers) does not change a response with status %i, because the status may be temporary',
  async (status) => {
    const headers = { 'service-worker': 'script' };
    const answer = new Response(null, { status });
    expect(await forWorker({ method: 'GET', headers }, answer)).toBe(answer);
  },
);
