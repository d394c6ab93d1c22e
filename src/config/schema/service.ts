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
    keyFile: t.optional(t.keyFile('File that holds the key.')),
  },
  'A hosted model.',
);

const model = Type.Unsafe<string | Static<typeof hostedModel>>({
  anyOf: [{ enum: ['builtin', 'off'] }, { type: 'string', minLength: 1, maxLength: 4096 }, hostedModel],
  description:
    'What computes meanings: builtin, off (keywords only), a folder that holds a model, or a hosted one. A folder of the name builtin or off is written ./builtin or ./off.',
  default: 'builtin',
  'x-unit': 'path',
  'x-names': 'folder',
  'x-restart': true,
  'x-expects': 'builtin, off, a folder, or {url, model, keyFile}',
});

const widget = Type.Unsafe<boolean | 'replace'>({
  anyOf: [{ type: 'boolean' }, { enum: ['replace'] }],
  description: "Adds docshelf's search box to pages; replace: in place of the site's own.",
  default: false,
  'x-expects': 'true, false or replace',
});

const searchPerSite = {
  enabled: t.boolean('The search engine inside the daemon.', true, { restart: true }),
  widget,
  mcp: t.boolean('Answers assistants by the Model Context Protocol, at /_docshelf/mcp and at /mcp.', false),
  model,
};

export const siteSearch = t.section(searchPerSite, 'Search over the site.');

export const search = t.section(
  {
    ...searchPerSite,
    memory: t.size(
      '64MiB',
      '64GiB',
      'Memory of the process that indexes and embeds. If it needs more, docshelf ends it and retries later. A second process, for smaller sites while a build takes longer than 5 s, may use half of it.',
      '384MiB',
      { restart: true },
    ),
    keys: t.list(
      t.record({ id: id('key'), sha256: t.sha256('SHA-256 digest of the key.') }, 'A key.'),
      'Assistant keys of a daemon without organizations: its own organization has deployment.domain and these keys.',
    ),
  },
  'Search over the site.',
);

const source = t.record(
  {
    kind: Type.Unsafe<'crawl' | 'folder' | 'markdown'>({
      anyOf: [{ enum: ['crawl', 'folder', 'markdown'] }, { enum: ['command'], 'x-not-built': true }],
      description: 'How the site is read.',
    }),
    url: t.optional(t.httpUrl('Where the crawl begins (crawl).')),
    render: t.oneOf(
      ['none', 'chromium'],
      'chromium renders pages, for sites whose scripts write or load what is read (crawl).',
      'none',
    ),
    scripts: t.oneOf(
      ['keep', 'drop'],
      'What becomes of the scripts of pages that scripts have written (crawl with render). Kept, they run once more on what they have written already, at an address that ends in .html.',
      'drop',
    ),
    allowAddresses: t.list(
      t.text(
        'a network such as 10.0.0.0/8, an IP address, or host:port',
        { format: 'private-place' },
        'A network in CIDR notation, or host:port.',
      ),
      "What this crawl may reach on private addresses (crawl): a network, for the site's own origin and the host:port pairs of network.allowedHosts; host:port, for another host. The metadata services of clouds and docshelf's own listeners are never reached.",
      { examples: [['10.1.0.0/16', 'assets.internal:8443']] },
    ),
    robots: t.oneOf(
      ['respect', 'ignore'],
      'What holds of robots.txt and robots metas (crawl); ignore is for sites of your own.',
      'respect',
    ),
    cookieFile: t.optional(
      t.headerFile("File that holds the Cookie header for the site's origin alone (crawl); watched for changes."),
    ),
    bearerFile: t.optional(
      t.headerFile("File that holds the bearer token for the site's origin alone (crawl); watched for changes."),
    ),
    headersFile: t.optional(
      t.path("File that holds headers for the site's origins alone, one a line (crawl).", undefined, {
        notBuilt: true,
      }),
    ),
    concurrency: t.integer(1, 256, 'Requests to one host at a time (crawl).', 16),
    rate: t.max(t.integer(0, 100_000, 'Requests to one host in a second (crawl); 0: as many as it answers.', 0)),
    limits: t.section(
      {
        pages: t.max(t.integer(1, 1_000_000, 'Pages of the site.', 100_000)),
        depth: t.max(t.integer(1, 100_000, 'Links from the start to a page.', 100)),
        queryVariants: t.max(t.integer(0, 1_000_000, 'Addresses of pages that differ in their query alone.', 100)),
        pageBytes: t.max(t.size('1KiB', '1GiB', 'One page.', '16MiB')),
        requestTimeout: t.duration('1s', '1h', 'How long one request may take.', '2m'),
      },
      'Bounds on a site without end (crawl); what lies beyond is left out, and the report says so.',
    ),
    path: t.optional(t.path('The folder (folder, markdown).')),
    workDir: t.optional(t.path('Folder that the command runs in (command).', undefined, { notBuilt: true })),
    command: t.list(t.text('a word', {}, 'A word of it.'), 'Program and arguments, run without a shell (command).', {
      notBuilt: true,
    }),
    output: t.optional(t.text('a path', {}, 'Folder that it leaves (command).', undefined, { notBuilt: true })),
    environment: t.map(
      {},
      Type.Unsafe<string>({ type: 'string' }),
      'Variables that it sees besides PATH, HOME and LANG (command).',
      { notBuilt: true },
    ),
    timeout: t.duration('1s', '1d', 'How long it may run (command).', '15m', { notBuilt: true }),
  },
  'Where the pages of an export come from.',
);

const site = t.record(
  {
    hosts: t.hosts('Full host names of the site.'),
    source: t.optional(source),
  },
  'One site.',
);

const organization = t.record(
  {
    id: id('organization'),
    plan: t.text('a word', {}, 'Plan; only enterprise exports.', 'none'),
    domains: t.map({ pattern: DOMAIN_PATTERN.source, 'x-expects': t.DOMAIN_RULE }, site, 'Sites by domain.'),
    keys: t.list(
      t.record(
        {
          id: id('key'),
          type: t.oneOf(['admin', 'assistant'], 'What the key may do.'),
          sha256: t.sha256('SHA-256 digest of the key.'),
        },
        'A key.',
      ),
      'Keys of the organization; more are made while the daemon runs (GET, POST and DELETE /v1/keys).',
    ),
  },
  'An organization.',
);

export const organizations = t.list(
  organization,
  "Who owns which domains. Without any, an organization of docshelf's own owns deployment.domain.",
);

export const organizationsFile = t.optional(
  t.path('A YAML file with the key organizations, in place of the key here.'),
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
        'File that holds the URL of a PostgreSQL database for the queue of export jobs, keys made at run time and the limits of organizations; watched for changes, which hold for new connections. sslmode: disable, require, verify-ca or verify-full. A Unix socket is written as postgres://user:password@%2Frun%2Fpostgresql/name.',
        undefined,
        { restart: 'presence' },
      ),
    ),
    caFile: t.optional(
      t.file('certificates', null, 'File with further certificate authorities for sslmode verify-ca and verify-full.'),
    ),
  },
  'The database of a service on several machines.',
);

export const rateLimits = t.section(
  {
    onFault: t.oneOf(['open', 'closed'], 'With the database away: searches pass (open) or get 503 (closed).', 'open'),
  },
  'Limits on requests.',
);
