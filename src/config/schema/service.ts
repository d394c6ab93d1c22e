import { type Static, Type } from 'typebox';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import * as t from './blocks.ts';

const id = (of: string) =>
  t.text(
    'a name of letters, digits, ".", "_" or "-"',
    { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' },
    `Name of the ${of}.`,
  );

const hostedModel = t.record(
  {
    url: t.httpUrl('URL of the embeddings endpoint.'),
    model: t.text('the name of a model', {}, 'Name of the model.'),
    keyFile: t.optional(t.keyFile('File with the API key.')),
  },
  'A hosted model.',
);

const model = Type.Unsafe<string | Static<typeof hostedModel>>({
  anyOf: [{ enum: ['builtin', 'off'] }, { type: 'string', minLength: 1, maxLength: 4096 }, hostedModel],
  description:
    'Model for search by meaning: builtin, off, a folder, or a hosted model. For a folder named off, write ./off.',
  default: 'builtin',
  'x-unit': 'path',
  'x-names': 'folder',
  'x-restart': true,
  'x-expects': 'builtin, off, a folder, or {url, model, keyFile}',
});

const widget = Type.Unsafe<boolean | 'replace'>({
  anyOf: [{ type: 'boolean' }, { enum: ['replace'] }],
  description: 'Adds the docshelf search box to pages. replace: instead of the search box of the site.',
  default: false,
  'x-expects': 'true, false or replace',
});

const searchPerSite = {
  enabled: t.boolean('Turns the search engine of the daemon on.', true, { restart: true }),
  widget,
  mcp: t.boolean('Serves the Model Context Protocol for assistants at /_docshelf/mcp and /mcp.', false),
  model,
};

export const siteSearch = t.section(searchPerSite, 'Search over the site.');

export const search = t.section(
  {
    ...searchPerSite,
    memory: t.size(
      '64MiB',
      '64GiB',
      'Memory limit of the process that builds the search index and computes vectors. A process that exceeds the limit ends, and docshelf retries later. With several sites, a second process can use half of this limit.',
      '384MiB',
      { restart: true },
    ),
    keys: t.list(
      t.record({ id: id('key'), sha256: t.sha256('SHA-256 digest of the key.') }, 'A key.'),
      'Assistant keys of a daemon without organizations. docshelf then uses one organization with deployment.domain and these keys.',
    ),
  },
  'Search over the site.',
);

/** A NUL character would end a word of the command or a variable early (execve(2)). */
const WORD = { pattern: '^[^\\x00]*$' };

const source = t.record(
  {
    kind: t.oneOf(['crawl', 'folder', 'markdown', 'command'], 'Method by which docshelf reads the site.'),
    url: t.optional(t.httpUrl('Start address of the crawl (crawl).')),
    render: t.oneOf(
      ['none', 'chromium'],
      'Renderer of pages (crawl). Use chromium for sites whose scripts write or load the content.',
      'none',
    ),
    scripts: t.oneOf(
      ['keep', 'drop'],
      'Keeps or drops the scripts of rendered pages (crawl with render: chromium). In the export, kept scripts run again on content that they already wrote, at an address that ends in .html.',
      'drop',
    ),
    allowAddresses: t.list(
      t.text(
        'a network such as 10.0.0.0/8, an IP address, or host:port',
        { format: 'private-place' },
        'A network in CIDR notation, or host:port.',
      ),
      'Private addresses that this crawl may contact (crawl). A network permits its addresses only for the origin of the site and for the host:port pairs of network.allowedHosts. An entry host:port permits one more host. docshelf never contacts its own listeners or the metadata services of clouds.',
      { examples: [['10.1.0.0/16', 'assets.internal:8443']] },
    ),
    robots: t.oneOf(
      ['respect', 'ignore'],
      'Handling of robots.txt and robots meta tags (crawl). Use ignore only for your own sites.',
      'respect',
    ),
    cookieFile: t.optional(
      t.headerFile(
        'File with the Cookie header (crawl). docshelf sends it only to the origin of the site, and watches the file.',
      ),
    ),
    bearerFile: t.optional(
      t.headerFile(
        'File with the bearer token (crawl). docshelf sends it only to the origin of the site, and watches the file.',
      ),
    ),
    headersFile: t.optional(
      t.file(
        'secret',
        t.HEADER_LINE,
        'File with headers, one per line, such as X-Key: value (crawl). docshelf sends them only to the origin of the site, and watches the file.',
      ),
    ),
    concurrency: t.integer(1, 256, 'Number of requests to one host at the same time (crawl).', 16),
    rate: t.max(t.integer(0, 100_000, 'Maximum number of requests to one host per second (crawl). 0: no limit.', 0)),
    limits: t.section(
      {
        pages: t.max(t.integer(1, 1_000_000, 'Maximum number of pages.', 100_000)),
        depth: t.max(t.integer(1, 100_000, 'Maximum number of links from the start address to a page.', 100)),
        queryVariants: t.max(
          t.integer(0, 1_000_000, 'Maximum number of page addresses that differ only in their query.', 100),
        ),
        pageBytes: t.max(t.size('1KiB', '1GiB', 'Maximum size of one page.', '16MiB')),
        requestTimeout: t.duration('1s', '1h', 'Maximum time for one request.', '2m'),
      },
      'Limits for a crawl, because a site can be endless (crawl). docshelf omits pages beyond a limit and lists the omission in the report.',
    ),
    path: t.optional(t.path('Folder with the site (folder, markdown).')),
    workDir: t.optional(t.path('Working folder of the command (command).')),
    command: t.list(
      t.text('a word', WORD, 'Program or argument.'),
      'Program and arguments, run without a shell (command).',
      { examples: [['npm', 'run', 'build']] },
    ),
    output: t.optional(
      t.text(
        'a path inside workDir',
        { format: 'inner-path' },
        'Folder that the command creates, relative to workDir (command).',
      ),
    ),
    environment: t.map(
      { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', 'x-expects': 'a name of letters, digits and "_"' },
      t.secret('text', { ...WORD, minLength: 0 }, 'Value of the variable.'),
      'Environment variables of the command in addition to PATH, HOME and LANG (command). docshelf treats the values as credentials and never prints them.',
    ),
    timeout: t.duration('1s', '1d', 'Maximum time for the command (command).', '15m'),
  },
  'Source of the pages of an export. A key with a kind in parentheses, such as (crawl), applies only to this kind.',
);

const site = t.record({ hosts: t.hosts('Full host names of the site.'), source: t.optional(source) }, 'One site.');

const organization = t.record(
  {
    id: id('organization'),
    plan: t.text('a word', {}, 'Plan of the organization. Only the plan enterprise can export.', 'none'),
    domains: t.map({ pattern: DOMAIN_PATTERN.source, 'x-expects': t.DOMAIN_RULE }, site, 'Sites by domain.'),
    keys: t.list(
      t.record(
        {
          id: id('key'),
          type: t.oneOf(['admin', 'assistant'], 'Type of the key, which decides the permitted calls.'),
          sha256: t.sha256('SHA-256 digest of the key.'),
        },
        'A key.',
      ),
      'Keys of the organization. You can create more keys while the daemon runs (GET, POST and DELETE /v1/keys).',
    ),
  },
  'An organization.',
);

export const organizations = t.list(
  organization,
  'Organizations and their domains. If the list is empty, docshelf uses one organization with deployment.domain.',
);

export const organizationsFile = t.optional(
  t.path('YAML file that contains organizations. Use it instead of organizations in the config.'),
);

export const database = t.section(
  {
    urlFile: t.optional(
      t.contents(
        'secret',
        {
          format: 'database-url',
          expects: 'a URL such as postgres://user:password@host:5432/name?sslmode=verify-full',
        },
        'File with the URL of PostgreSQL, for jobs, keys, and limits. New connections use a changed URL.',
        undefined,
        { restart: 'presence' },
      ),
    ),
    caFile: t.optional(
      t.file(
        'certificates',
        null,
        'File with additional certificate authorities in PEM for sslmode verify-ca and verify-full.',
      ),
    ),
  },
  'Database of a service on several machines.',
);

export const rateLimits = t.section(
  {
    onFault: t.oneOf(
      ['open', 'closed'],
      'Searches while the database is unavailable. open: docshelf runs them. closed: docshelf responds with 503.',
      'open',
    ),
  },
  'Rate limits.',
);
