import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { ClientRates } from '../../../src/http/limits/client-rates.ts';
import { type SearchRequest, writeAnswer } from '../../../src/search/index.ts';
import { untilAborted } from '../../helpers/until-aborted.ts';
import { RESULTS, searchThatNotes } from '../api/api-example.ts';
import { AssistantBench, contentOf, JSON_BOTH, messageOf, withMarkdown } from './assistant-bench.ts';

const bench = new AssistantBench();
afterEach(() => bench.end());

const SITE = withMarkdown({
  'index.html': '<title>Acme</title>',
  'guides/index.html': '<title>Guides</title>',
  'guides/start.html': '<title>Start here</title>',
  'guides/größe.html': '<title>Größe</title>',
  'long.html': '<title>Long</title>',
  '404.html': 'nothing',
  '.git/config.html': 'hidden',
  '_docshelf/manifest.html': 'hidden',
  _redirects: '/old /guides/start',
  'script.js': 'alert()',
});
const opened = (...[changes]: Parameters<AssistantBench['open']> extends [unknown, ...infer Rest] ? Rest : never) =>
  bench.open(bench.release(SITE), changes);

const post = (body: string, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  headers: { ...JSON_BOTH, ...headers },
  body,
});
const message = (method: string, params?: object, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

describe.each(['legacy', 'auto'] as const)('session of the official MCP client (%s)', (mode) => {
  it('lists tools, searches, lists pages and reads them', async () => {
    const requests: SearchRequest[] = [];
    const site = await opened({ search: searchThatNotes(requests), origin: 'https://docs.acme.dev' });
    const client = await site.connect(mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['search', true],
      ['read_page', true],
      ['list_pages', true],
    ]);
    expect(JSON.stringify(tools)).not.toContain('"x-');

    const args = { query: ' rotate keys ', pageSize: 5, scoreThreshold: 0.2, filter: { language: 'en' } };
    const found = contentOf(await client.callTool({ name: 'search', arguments: args }));
    expect(requests).toEqual([
      {
        query: 'rotate keys',
        pageSize: 5,
        scoreThreshold: 0.2,
        filter: { version: null, language: 'en', tag: null },
        prefixLast: false,
      },
    ]);
    const [first] = RESULTS;
    expect(found.facts.results).toMatchObject([
      {
        address: `https://docs.acme.dev${first?.path}`,
        title: first?.metadata.title,
        version: first?.metadata.version ?? 'v1',
        content: first?.content,
      },
    ]);

    const listed = contentOf(await client.callTool({ name: 'list_pages', arguments: {} }));
    expect(listed.facts).toEqual({
      version: 'v1',
      total: 3,
      next: null,
      entries: [
        { address: 'https://docs.acme.dev/', title: 'Acme' },
        { folder: '/guides/', pages: 3 },
        { address: 'https://docs.acme.dev/long.html', title: 'Long' },
      ],
    });
    const below = contentOf(await client.callTool({ name: 'list_pages', arguments: { folder: '/guides/' } }));
    const addresses = (below.facts.entries as { address: string; title: string }[]).map(({ address }) => address);
    expect(addresses).toEqual([
      'https://docs.acme.dev/guides/',
      'https://docs.acme.dev/guides/gr%C3%B6%C3%9Fe.html',
      'https://docs.acme.dev/guides/start.html',
    ]);
    for (const address of addresses) {
      const read = contentOf(await client.callTool({ name: 'read_page', arguments: { address: `${address}#x` } }));
      expect(read.facts).toMatchObject({ address, version: 'v1', offset: 0, next: null });
      expect(read.text).toMatch(/^# guides\//);
    }
    expect(site.faults).toEqual([]);
  });

  it('reads pages as resources, including a folder page and a page with an umlaut', async () => {
    const site = await opened();
    const client = await site.connect(mode);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'docshelf://acme/',
      'docshelf://acme/guides/',
      'docshelf://acme/guides/größe.html',
      'docshelf://acme/guides/start.html',
      'docshelf://acme/long.html',
    ]);
    expect(resources[1]).toMatchObject({ title: 'Guides', mimeType: 'text/markdown' });
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown' }]);
    }
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'docshelf://acme/{+path}' }]);
    await expect(client.readResource({ uri: 'docshelf://acme/none' })).rejects.toThrow(/no such page/);
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(/no such page/);
  });

  it('reads the next version after a swap during the session', async () => {
    const site = await opened();
    const client = await site.connect(mode);
    const read = async () => contentOf(await client.callTool({ name: 'read_page', arguments: { address: '/' } })).facts;
    expect(await read()).toMatchObject({ version: 'v1' });
    site.use(bench.release({ 'index.html': '', 'new.html': '' }, 'v2'));
    expect(await read()).toMatchObject({ version: 'v2' });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['docshelf://acme/', 'docshelf://acme/new.html']);
    site.use(null);
    const answer = await client.callTool({ name: 'read_page', arguments: { address: '/' } });
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('no version is active') }],
    });
  });
});

describe('MCP tool read_page', () => {
  it('reads pages with special characters by the addresses that list_pages returns', async () => {
    const names = ['c#', 'st%61rt', 'start', 'what?'];
    const pages = names.map((name, at) => [`${name}.html`, `<main><h1>Page ${at}</h1>`]);
    const site = await bench.open(bench.release(Object.fromEntries(pages) as Record<string, string>));
    const { facts } = contentOf(await site.tool('list_pages'));
    const texts: string[] = [];
    for (const { address } of facts.entries as readonly { address: string }[]) {
      texts.push(contentOf(await site.tool('read_page', { address })).text.trim());
    }
    expect(texts.toSorted()).toEqual(names.map((_, at) => `# Page ${at}`));
  });

  describe('of an address with a fragment', () => {
    const rows = '<p>Common words of every section.</p>'.repeat(20);
    const page = `<main><h1 id="top">Top</h1>${rows}<ul><li><a href="#second">Same name</a></li></ul><h2 id="first">Same name</h2><p>One.</p>
      <section id="second"><h2>Same name</h2><p>Two &amp; <a href="/x">three</a>.</p></section><h2><a name="größe"></a>Größe</h2>${rows}
      <dl><dt id="pkg.fetch" class="sig">pkg.<b>fetch</b>(<i>url</i>)<a class="headerlink" href="#pkg.fetch">¶</a></dt><dd><p>Brings rows.</p></dd></dl>
      <h2 id="code">Code</h2><pre>let a;</pre></main>`;
    const own = `# Top\n\nCommon.\n\n- [Same name](#second)\n\n## Same name\n\nOne.\n\n## Same name {#second}\n\nTwo & [three](/x).\n\n## Größe\n\n- **pkg.fetch**(*url*): Brings rows.\n\n## Code\n`;
    const files = { 'made.html': page, 'own.html': page, 'own.html.md': own, 'own.md': own };

    it('starts at the section of the fragment, or at the page start if no section has the fragment', async () => {
      const site = await bench.open(bench.release(files));
      for (const [address, start] of [
        ['made.html#second', /^## Same name\n\nTwo/],
        ['made.html#first', /^## Same name\n\nOne/],
        ['made.html#gr%C3%B6%C3%9Fe', /^## Größe/],
        ['made.html#pkg.fetch', /^- `pkg\.fetch\(url\)`/],
        ['made.html#code', /^## Code\n\n```\nlet a;/],
        ['made.html#none', /^# Top/],
        ['own.html#second', /^## Same name {#second}\n\nTwo/],
        ['own.html#pkg.fetch', /^- \*\*pkg\.fetch/],
        ['own.html#top', /^# Top/],
      ] as const) {
        const { facts, text } = contentOf(await site.tool('read_page', { address }));
        expect(text, address).toMatch(start);
        expect(facts, address).toMatchObject({ title: 'Top', length: text.length, next: null });
        expect(facts.offset, address).toBe(Number(facts.total) - text.length);
      }
    });

    it('reads from the offset of the call, not from the section, if the call has an offset', async () => {
      const site = await bench.open(bench.release(files));
      const address = 'made.html#second';
      const { facts, text } = contentOf(await site.tool('read_page', { address, offset: 0, length: 5 }));
      expect({ offset: facts.offset, text }).toEqual({ offset: 0, text: '# Top' });
    });
  });

  it('returns a long page in parts that together equal the page, and splits no character', async () => {
    const site = await opened();
    let whole = '';
    for (let offset: unknown = 0; offset !== null; ) {
      const { facts, text } = contentOf(await site.tool('read_page', { address: 'long.html', offset, length: 30_001 }));
      expect(text.isWellFormed()).toBe(true);
      expect(facts).toMatchObject({ offset, length: text.length, total: 80_000 });
      whole += text;
      offset = facts.next;
    }
    expect(whole).toBe('😀'.repeat(40_000));
    // Try offsets inside of a character, a length of one code unit, and an offset after the end of the page.
    for (const [offset, length, facts] of [
      [1, 2, { offset: 0, length: 2, next: 2 }],
      [0, 1, { offset: 0, length: 2, next: 2 }],
      [90_000, 10, { offset: 80_000, length: 0, next: null }],
    ] as const) {
      expect(contentOf(await site.tool('read_page', { address: 'long.html', offset, length })).facts).toMatchObject(
        facts,
      );
    }
  });

  it('resolves an address with or without .html, .md, slash and escapes to its page', async () => {
    const site = await opened();
    for (const [address, path] of [
      ['/guides/start', 'guides/start.html'],
      ['guides/start/', 'guides/start.html'],
      ['/guides/start.md', 'guides/start.html'],
      ['/guides/index.md', 'guides/index.html'],
      ['/guides', 'guides/index.html'],
      ['/guides/gr%C3%B6%C3%9Fe', 'guides/größe.html'],
      ['/guides/größe', 'guides/größe.html'],
      ['docshelf://acme', 'index.html'],
    ] as const) {
      const result = await site.tool('read_page', { address });
      expect(result.content?.[1]?.text, address).toBe(`# ${path}\n`);
    }
  });

  it('rejects an address that is not the address of a page, such as a path with ../, as an unknown page', async () => {
    const site = await opened();
    const addresses = [
      '/none',
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/..%2f..%2fetc%2fpasswd',
      '/guides%2fstart.html',
      '/guides%5cstart.html',
      '\\guides\\start.html',
      '/.git/config.html',
      '/%2egit/config.html',
      '/_docshelf/manifest.html',
      '/%5fdocshelf/manifest.html',
      '/_redirects',
      '/script.js',
      '/guides//start.html',
      '/guides/start.html%00.html',
      '/%',
      '//evil.example/guides/start',
      'https://evil.example/guides/start',
      'file:///etc/passwd',
      `/${'a'.repeat(10_000)}`,
    ];
    for (const address of addresses) {
      const result = await site.tool('read_page', { address });
      expect(result.isError, address).toBe(true);
      expect(result.content?.[0]?.text).toMatch(/^Cannot read ".*": this documentation has no such page\. /);
    }
    expect(site.faults).toEqual(addresses.map(() => 'not_found'));
  });
});

describe('older versions over MCP', () => {
  const june = () =>
    bench.release(
      withMarkdown({ 'index.html': '<title>June</title>', 'guides/old.html': '<title>Old</title>' }),
      'june',
    );
  it.each(['/', '/docs/'])('are listed and read by name and by address, with base path %s', async (basePath) => {
    const site = await opened({ kept: [june()], basePath, origin: 'https://docs.acme.dev' });
    const root = `https://docs.acme.dev${basePath}_docshelf/v/june/`;
    expect(contentOf(await site.tool('list_pages', {})).facts.versions).toEqual(['v1', 'june']);
    const listed = contentOf(await site.tool('list_pages', { version: 'june', folder: '/guides/' })).facts;
    expect(listed).toMatchObject({ version: 'june', entries: [{ address: `${root}guides/old.html`, title: 'Old' }] });
    const below = contentOf(await site.tool('list_pages', { folder: root })).facts;
    expect(below.entries).toMatchObject([{ address: root }, { folder: `${basePath}_docshelf/v/june/guides/` }]);
    for (const args of [
      { address: `${root}guides/old.html` },
      { address: '/guides/old', version: 'june' },
      { address: `${basePath}_docshelf/v/june/guides/old#x` },
      { address: `docshelf://acme${basePath}_docshelf/v/june/guides/old` },
      // The version in the address takes precedence over the parameter `version`.
      { address: `${basePath}_docshelf/v/v1/guides/old`, version: 'june' },
    ]) {
      const { facts, text } = contentOf(await site.tool('read_page', args));
      expect([facts.version, facts.address, text]).toEqual(['june', `${root}guides/old.html`, '# guides/old.html\n']);
    }
    const own = contentOf(await site.tool('read_page', { address: `${basePath}_docshelf/v/v1/guides/start` }));
    expect(own.facts.address).toBe(`https://docs.acme.dev${basePath}guides/start.html`);
    expect(await site.tool('read_page', { address: '/guides/old' })).toMatchObject({ isError: true });
  });

  it('are searched only if the call names their version, and other calls search the active version', async () => {
    const requests: SearchRequest[] = [];
    const site = await opened({ kept: [june()], search: searchThatNotes(requests) });
    for (const args of [{ version: 'june' }, { version: 'v1' }, { version: 'v1', filter: { version: '3.x' } }, {}]) {
      await site.tool('search', { query: 'keys', ...args });
    }
    expect(requests.map(({ filter }) => filter.version)).toEqual(['june', null, '3.x', null]);
  });

  it('are listed in the error for an unknown version', async () => {
    const site = await opened({ kept: [june()], search: searchThatNotes([]) });
    for (const [name, args] of [
      ['search', { query: 'keys' }],
      ['read_page', { address: '/' }],
      ['list_pages', {}],
    ] as const) {
      const { content } = await site.tool(name, { ...args, version: '../may' });
      expect(content?.[0]?.text).toBe(
        'Cannot read version "../may": this documentation has no such version. Use one of these versions: v1, june.',
      );
    }
    const { error } = await site.call('resources/read', { uri: 'docshelf://acme/_docshelf/v/may/' });
    expect(error?.message).toContain('no such version');
  });
});

describe('redirect rules of a site over MCP', () => {
  const RULED = withMarkdown({
    ...Object.fromEntries(Object.entries(SITE).filter(([path]) => path.endsWith('.html'))),
    'internal/plan.html': '<title>Plan</title>',
    'internal/index.html': '<title>Internal</title>',
    'half.html': '<title>Half</title>',
    'moved.html': '<title>Moved</title>',
    _redirects: [
      '/internal/* /404 404!',
      '/half /404 404!',
      '/moved /guides/start 301!',
      '/moved.html /guides/start 301!',
      '/old /older 302',
      '/older /guides/start/',
      '/away https://evil.example/guides/start 302',
      '/guides/start https://docs.acme.dev/guides/start 301!',
      '/round /round/x 302',
      '/round/x /round 302',
      '/shown /long 200',
    ].join('\n'),
  });
  it('apply to MCP clients as to browsers: read_page returns the same pages, and rejects hidden pages', async () => {
    const site = await bench.open(bench.release(RULED));
    const pages: Record<string, string> = {
      '/old': '/guides/start.html',
      '/moved': '/guides/start.html',
      '/moved.html': '/guides/start.html',
      '/half.html': '/half.html',
      '/half.md': '/half.html',
      '/shown': '/long.html',
    };
    for (const [address, page] of Object.entries(pages)) {
      expect(contentOf(await site.tool('read_page', { address })).facts.address, address).toBe(page);
    }
    const hidden = ['/internal/plan', '/internal/plan.html', '/internal/plan.md', '/internal/', '/half', '/away'];
    for (const address of [...hidden, '/round', '/404']) {
      const { content } = await site.tool('read_page', { address });
      expect(content?.[0]?.text, address).toContain('this documentation has no such page');
    }
  });

  it('omit pages from lists if no address resolves to them', async () => {
    const site = await bench.open(bench.release(RULED));
    const { entries } = contentOf(await site.tool('list_pages', { recursive: true })).facts;
    expect((entries as { address: string }[]).map(({ address }) => address)).toEqual([
      '/',
      '/guides/',
      '/guides/größe.html',
      '/guides/start.html',
      '/half.html',
      '/long.html',
    ]);
  });
});

describe('MCP tool list_pages', () => {
  it('continues after the cursor of the call, even if pages were added or removed', async () => {
    const site = await opened();
    const list = async (args: object) => contentOf(await site.tool('list_pages', args)).facts;
    const first = await list({ recursive: true, limit: 2 });
    expect(first).toMatchObject({ total: 5, next: '/guides/' });
    site.use(bench.release({ 'index.html': '', 'guides/a.html': '', 'zoo.html': '' }, 'v2'));
    const rest = await list({ recursive: true, limit: 2, cursor: first.next });
    expect(rest).toMatchObject({ version: 'v2', next: null });
    expect(rest.entries).toMatchObject([{ address: '/guides/a.html' }, { address: '/zoo.html' }]);
  });

  it('accepts every folder address that it lists, also with a base path, and rejects unknown folders', async () => {
    const files = { 'index.html': '', 'a b/ü?/x.html': '<title>X</title>', 'a b/y.html': '' };
    const site = await bench.open(bench.release(files), { basePath: '/docs/' });
    const list = (folder: string) => site.tool('list_pages', { folder });
    expect(contentOf(await list('/')).facts.entries).toEqual([
      { address: '/docs/', title: null },
      { folder: '/docs/a%20b/', pages: 2 },
    ]);
    expect(contentOf(await list('/docs/a%20b/')).facts.entries).toEqual([
      { address: '/docs/a%20b/y.html', title: null },
      { folder: '/docs/a%20b/ü%3F/', pages: 1 },
    ]);
    expect(contentOf(await list('a b/ü%3f')).facts.entries).toEqual([
      { address: '/docs/a%20b/ü%3F/x.html', title: 'X' },
    ]);
    expect(await list('/nowhere')).toMatchObject({ isError: true });
  });

  it('quickly rejects a folder name with thousands of slashes', async () => {
    const site = await opened();
    const folder = `a${'/'.repeat(16_000)}b`;
    const begin = process.cpuUsage();
    const answers = Array.from({ length: 20 }, () => site.tool('list_pages', { folder }));
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ isError: true });
    // A quadratic implementation took 7 s.
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(5);
  });
});

describe('MCP tools', () => {
  it('reject invalid arguments with an error that states the reason', async () => {
    const site = await opened({ search: searchThatNotes([]) });
    const calls = [
      ['search', {}, '"query" is missing'],
      ['search', { query: '  ' }, '"query" is empty'],
      ['search', { query: 'a'.repeat(1_001) }, '"query" has more than 1000'],
      ['search', { query: 'a', pageSize: 51 }, '"pageSize" must be at most 50'],
      ['search', { query: 'a', pagesize: 5 }, '"pagesize" is unknown'],
      ['search', { query: 'a', filter: { tag: 7 } }, '"filter.tag" must be a string'],
      ['read_page', {}, '"address" is missing'],
      ['read_page', { address: 7 }, '"address" must be a string'],
      ['read_page', { address: '/', offset: -1 }, '"offset" must be at least 0'],
      ['read_page', { address: '/', length: 60_001 }, '"length" must be at most 60000'],
      ['read_page', { address: '/', length: 1.5 }, '"length" must be an integer'],
      ['list_pages', { limit: 501 }, '"limit" must be at most 500'],
      ['list_pages', { folder: ['/'] }, '"folder" must be a string'],
    ] as const;
    for (const [name, args, reason] of calls) {
      const content = [{ text: expect.stringContaining(reason) }];
      expect(await site.tool(name, args), reason).toMatchObject({ isError: true, content });
    }
    expect(site.faults).toEqual(calls.map(() => 'bad_request'));
  });

  it('return an error if search is off or fails', async () => {
    const off = await opened();
    expect(await off.tool('search', { query: 'a' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('search is off') }],
    });
    const building = new DocshelfError('index_building', 'Cannot search yet: the index is being built');
    const site = await opened({ search: { search: () => Promise.reject(building) } });
    expect(await site.tool('search', { query: 'a' })).toMatchObject({
      isError: true,
      content: [{ text: 'Cannot search yet: the index is being built.' }],
    });
  });

  it('return an error without details if the search throws an unexpected error', async () => {
    const reported: unknown[] = [];
    const broken = new Error('secret: /srv/data/x');
    const site = await opened({
      search: { search: () => Promise.reject(broken) },
      onError: (error) => reported.push(error),
    });
    const answer = JSON.stringify(await site.tool('search', { query: 'a' }));
    expect(answer).toContain('isError');
    expect(answer).not.toContain('secret');
    expect(reported).toHaveLength(1);
  });

  it('shorten the text of very long search results', async () => {
    const long = RESULTS.flatMap((result) =>
      Array.from({ length: 50 }, () => ({ ...result, content: 'ab'.repeat(5_000) })),
    );
    const site = await opened({ search: { search: async () => writeAnswer(long) } });
    const result = await site.tool('search', { query: 'a', pageSize: 50 });
    expect(result.content?.[0]?.text.length).toBeLessThan(90_000);
  });
});

const CANCEL = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });

describe('MCP endpoint', () => {
  it('responds with 405 to every method except POST', async () => {
    const site = await opened();
    for (const method of ['GET', 'DELETE', 'HEAD', 'PUT', 'OPTIONS', 'PATCH']) {
      for (const path of ['/_docshelf/mcp', '/mcp']) {
        const response = await site.send({ method }, path);
        expect([response.status, response.headers.get('allow')], method).toEqual([405, 'POST']);
      }
    }
  });

  it('has the short address /mcp unless the release has a page with the path /mcp', async () => {
    const site = await opened();
    const body = message('tools/list');
    expect((await messageOf(await site.send(post(body), '/mcp'))).result?.tools).toHaveLength(3);
    for (const files of [{ 'mcp.html': 'page' }, { 'mcp/index.html': 'page' }, { mcp: 'file' }] as readonly Record<
      string,
      string
    >[]) {
      site.use(bench.release({ 'index.html': '', ...files }));
      expect((await site.send(post(body), '/mcp')).status).toBe(405);
      expect((await site.send({}, '/mcp')).status).toBe(200);
      expect((await messageOf(await site.send(post(body)))).result?.tools).toHaveLength(3);
    }
  });

  it('keeps its short address if a redirect rule for all paths targets the host of the request', async () => {
    const site = await bench.open(bench.release({ ...SITE, _redirects: '/* http://127.0.0.1/:splat 301!' }));
    const { host } = new URL(site.url);
    site.use(bench.release({ ...SITE, _redirects: `/* http://${host}/:splat 301!` }));
    expect((await site.send(post(message('tools/list')), '/mcp')).status).toBe(200);
    expect((await site.send({}, '/guides/start')).status).toBe(200);
  });

  it('keeps its short address if spaFallback serves the start page for all unknown paths', async () => {
    const site = await opened({ form: { trailingSlash: 'auto', spaFallback: true } });
    expect((await site.send({}, '/app')).status).toBe(200);
    expect((await site.send({}, '/mcp')).status).toBe(405);
    expect((await site.send(post(message('tools/list')), '/mcp')).status).toBe(200);
  });

  it('rejects requests of every method if the Origin header is invalid or names another origin', async () => {
    const site = await opened();
    for (const origin of ['https://evil.example', 'null', 'file://', site.url.replace('127.0.0.1', 'evil.example')]) {
      for (const method of ['POST', 'GET', 'OPTIONS']) {
        const response = await site.send({ method, headers: { ...JSON_BOTH, origin } });
        expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null]);
      }
    }
    const own = new URL(site.url).origin;
    expect((await site.send(post(message('ping'), { origin: own }))).status).toBe(200);
    // Use a host name that an attacker points to this address (DNS rebinding).
    const { hostname, port, pathname } = new URL(site.url);
    const headers = { ...JSON_BOTH, host: 'evil.example', origin: 'http://evil.example' };
    const status = await new Promise((resolve) => {
      const sent = request({ hostname, port, path: pathname, method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.end(message('ping'));
    });
    expect(status).toBe(403);
  });

  it('responds to an invalid message with a JSON-RPC error', async () => {
    const site = await opened();
    for (const [body, status, code] of [
      ['{', 400, -32700],
      ['', 400, -32700],
      ['"a"', 400, -32600],
      ['null', 400, -32600],
      ['[]', 400, -32600],
      ['{}', 400, -32600],
      [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, 400, -32600],
      ['{"__proto__":{"method":"ping"}}', 400, -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
      [`[${Array.from({ length: 21 }, (_, id) => message('ping', {}, id)).join()}]`, 400, -32600],
      // Cancel a request of the same batch.
      [`[${message('tools/list')},${CANCEL}]`, 400, -32600],
      [message('no/such/method'), 200, -32601],
      [message('tools/call', { name: 'delete_everything' }), 200, -32602],
      [message('tools/call', { arguments: {} }), 200, -32602],
      [message('resources/list', { cursor: '%%%' }), 200, -32602],
      [message('subscriptions/listen', { notifications: {} }), 200, -32601],
    ] as const) {
      const response = await site.send(post(body));
      expect([response.status, (await messageOf(response)).error?.code], body).toEqual([status, code]);
    }
  });

  it('responds to a batch with an array of results, and to notifications alone with 202', async () => {
    const site = await opened();
    const batch = `[${message('ping', {}, 'a')},${message('tools/list', {}, 'b')}]`;
    const response = await site.send(post(batch));
    expect(response.headers.get('cache-control')).toBe('no-store');
    const ids = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '').id);
    expect(ids.toSorted()).toEqual(['a', 'b']);
    const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const noted = await site.send(post(note));
    expect([noted.status, await noted.text()]).toEqual([202, '']);
  });

  it.each<[string | null, string]>([
    ['application/json', 'application/json'],
    ['APPLICATION/JSON;charset=utf-8', 'application/json'],
    ['application/*', 'application/json'],
    ['*/*', 'application/json'],
    ['', 'application/json'],
    [null, 'application/json'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['application/json, text/event-stream;q=0', 'application/json'],
    ['application/json, text/event-stream;q=0.5', 'application/json'],
    ['application/json;q=0.5, text/event-stream', 'text/event-stream'],
    ['application/json, text/event-stream', 'text/event-stream'],
    ['text/event-stream', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['application/json;q=0, */*', 'text/event-stream'],
  ])('responds to Accept %s with %s, for a request, a batch and a notification', async (accept, type) => {
    const site = await opened();
    const sendBody = async (body: string) => {
      const sent = request(site.url, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
      if (accept !== null) sent.setHeader('Accept', accept);
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      let text = '';
      for await (const part of answer.setEncoding('utf8')) text += part;
      return { status: answer.statusCode, type: answer.headers['content-type'], text };
    };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const one = await sendBody(message('initialize', params));
    expect(one).toMatchObject({ status: 200, type });
    if (type === 'application/json') expect(JSON.parse(one.text)).toMatchObject({ id: 1, result: {} });
    const batch = await sendBody(`[${message('ping', {}, 'a')},${message('tools/list', {}, 'b')}]`);
    expect(batch).toMatchObject({ status: 200, type });
    if (type === 'application/json') expect(JSON.parse(batch.text)).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    const single = await sendBody(`[${message('ping', {}, 'a')}]`);
    if (type === 'application/json') expect(JSON.parse(single.text)).toMatchObject([{ id: 'a' }]);
    const note = await sendBody(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    expect([note.status, note.text]).toEqual([202, '']);
  });

  it('responds with one JSON object even if the page contains line separators', async () => {
    const site = await bench.open(bench.release({ 'index.html': 'x', 'index.html.md': '# a\u2028b\r\ndata: {}\n' }));
    const body = message('tools/call', { name: 'read_page', arguments: { address: '/' } });
    const response = await site.send(post(body, { accept: '*/*' }));
    expect(contentOf((JSON.parse(await response.text()) as { result: object }).result).text).toBe(
      '# a\u2028b\r\ndata: {}\n',
    );
  });

  it('responds with 406 if Accept excludes JSON and event streams, at /_docshelf/mcp and at /mcp', async () => {
    const site = await opened();
    const none = 'application/json;q=0';
    for (const accept of ['text/html', none, `${none}, text/event-stream;q=0.0`, '*/*;q=0']) {
      for (const path of ['/_docshelf/mcp', '/mcp']) {
        const response = await site.send(post(message('ping'), { accept }), path);
        expect([response.status, (await messageOf(response)).error?.code], accept).toEqual([406, -32_000]);
      }
    }
    expect((await site.send(post(message('ping'), { accept: '*/*' }), '/mcp')).status).toBe(200);
  });

  it('accepts only JSON of at most 64 KiB and known protocol versions', async () => {
    const site = await opened();
    const body = message('ping', { _meta: { fill: 'x'.repeat(64 * 1024) } });
    expect((await site.send(post(body))).status).toBe(413);
    const stream = new Blob([body]).stream();
    expect((await site.send({ ...post(''), body: stream, duplex: 'half' } as RequestInit)).status).toBe(413);
    expect((await site.send(post(message('ping'), { 'content-type': 'text/plain' }))).status).toBe(415);
    expect((await site.send(post(message('ping'), { 'content-encoding': 'gzip' }))).status).toBe(415);
    expect((await site.send(post(message('ping'), { 'mcp-protocol-version': '1999-01-01' }))).status).toBe(400);
    expect((await site.send(post(message('ping'), { 'mcp-protocol-version': '2025-06-18' }))).status).toBe(200);
  });

  it('limits requests per client, and counts each message of a batch', async () => {
    const clients = () => new ClientRates({ policy: { burst: 3, perSecond: 0.001 } });
    const one = await opened({ clients: clients() });
    const statuses = [];
    for (let at = 0; at < 4; at++) statuses.push((await one.send(post(message('ping')))).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const batched = await opened({ clients: clients() });
    const batch = `[${Array.from({ length: 4 }, (_, id) => message('ping', {}, id)).join()}]`;
    const refused = await batched.send(post(batch));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1000']);
  });

  it('aborts a search when its client disconnects', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const search = {
      search: (_: SearchRequest, signal: AbortSignal) => {
        begun.resolve(signal);
        return untilAborted(signal);
      },
    };
    const site = await opened({ search });
    const leaving = new AbortController();
    const pending = site.send({
      ...post(message('tools/call', { name: 'search', arguments: { query: 'a' } })),
      signal: leaving.signal,
    });
    const signal = await begun.promise;
    leaving.abort();
    await expect(pending).rejects.toThrow();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve());
    });
  });

  it('returns the correct response to each of many concurrent requests', async () => {
    const site = await opened();
    const clients = await Promise.all([1, 2, 3, 4].map((at) => site.connect(at % 2 === 0 ? 'legacy' : 'auto')));
    const paths = ['/', '/guides/', '/guides/start', '/long'];
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const address = paths[at % paths.length] ?? '';
        const answer = await clients[at % clients.length]?.callTool({
          name: 'read_page',
          arguments: { address, length: 40 },
        });
        return [address, contentOf(answer ?? {}).facts.title];
      }),
    );
    const titles: Readonly<Record<string, string>> = {
      '/': 'index.html',
      '/guides/': 'guides/index.html',
      '/guides/start': 'guides/start.html',
      '/long': '',
    };
    for (const [address, title] of answers) expect(title).toBe(titles[String(address)]);
  });
});
