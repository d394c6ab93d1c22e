import { type Static, Type } from 'typebox';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import {
  boolean,
  cidr,
  DOMAIN_RULE,
  duration,
  durationOrNone,
  host,
  httpUrl,
  integer,
  list,
  oneOf,
  optional,
  path,
  port,
  record,
  secret,
  section,
  sha256,
  size,
  text,
} from './blocks.ts';

/** The service side of contract section 2: search, the static export API, and who may ask for them. */

const id = (of: string) =>
  text(
    'a name of letters, digits, ".", "_" or "-"',
    { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' },
    { description: `Name of the ${of}.` },
  );

export const api = section(
  {
    host: host({ description: 'Address on which the search and export API listens.', default: '127.0.0.1' }),
    port: port({ description: 'Port of the API; 0 takes a free one.', default: 8081 }),
    publicUrl: optional(httpUrl({ description: 'URL under which clients reach the API.' })),
  },
  'The search and export API.',
);

const hostedModel = record(
  {
    url: httpUrl({ description: 'URL of the embeddings endpoint.' }),
    model: text('the name of a model', {}, { description: 'Name of the model.' }),
    keyFile: optional(path({ description: 'File that holds the key.' })),
  },
  { description: 'A hosted model.' },
);

export const search = section(
  {
    enabled: boolean({ description: 'The search engine inside the daemon.', default: true }),
    widget: oneOf([false, true, 'replace'], {
      description: "Whether pages get docshelf's search box; replace: in place of the site's own.",
      default: false,
    }),
    mcp: boolean({ description: 'Whether the API answers the Model Context Protocol.', default: false }),
    model: Type.Unsafe<string | Static<typeof hostedModel>>({
      anyOf: [{ enum: ['builtin', 'off'] }, { type: 'string', minLength: 1, maxLength: 4096 }, hostedModel],
      description:
        'What computes meanings: builtin, off (keywords only), a folder that holds a model, or a hosted one. A folder of the name builtin or off is written ./builtin or ./off.',
      default: 'builtin',
      'x-unit': 'word-or-path',
      'x-expects': 'builtin, off, a folder, or {url, model, keyFile}',
    }),
    keys: list(
      record(
        { id: id('key'), sha256: sha256({ description: 'SHA-256 digest of the key.' }) },
        { description: 'A key.' },
      ),
      {
        description:
          'Assistant keys of a daemon without organizations: its own organization has deployment.domain and these keys.',
      },
    ),
  },
  'Search over the site.',
);

export const exportApi = section(
  {
    enabled: boolean({ description: 'Whether the static export API is offered.', default: false }),
    role: oneOf(['both', 'api', 'worker'], {
      description: 'What this daemon does of it: answer calls, run jobs, or both.',
      default: 'both',
    }),
    concurrency: integer(1, 64, { description: 'Jobs that run at once in this daemon.', default: 1 }),
    queuedMax: integer(1, 10_000, {
      description: 'Jobs of one organization that may wait; the next one is refused.',
      default: 100,
    }),
    deadline: duration('1s', '7d', { description: 'How long one job may run.', default: '1h' }),
    linkTtl: duration('1s', '7d', { description: 'How long a link to a bundle works.', default: '1h' }),
    retention: durationOrNone('1h', '3650d', { description: 'How long finished jobs are kept.', default: 'none' }),
    browser: section(
      {
        sandbox: oneOf(['auto', 'off'], {
          description:
            'Whether Chromium shuts its pages in: auto unless docshelf runs as root; off where a container gives it no user namespaces.',
          default: 'auto',
        }),
        tabs: integer(1, 32, { description: 'Pages that are rendered at once.', default: 4 }),
        pageTimeout: duration('1s', '10m', { description: 'How long one page may take.', default: '30s' }),
        verify: oneOf(['auto', 'off'], {
          description:
            'Whether pages of a crawled site are opened once more as they are written, without a network, and compared with the live ones: auto where Chromium is installed.',
          default: 'auto',
        }),
      },
      "The system's Chromium, which renders and verifies crawled sites. It is the one that DOCSHELF_CHROMIUM names, or chromium on PATH.",
    ),
    signingKeyFile: optional(
      path({ description: 'File that holds a minisign secret key without password: it signs every bundle.' }),
    ),
    store: section(
      {
        kind: oneOf(['disk', 's3'], { description: 'Where bundles are kept.', default: 'disk' }),
        bucket: optional(text('the name of a bucket', {}, { description: 'Bucket (s3).' })),
        region: optional(text('a region', {}, { description: 'Region (s3).' })),
        endpoint: optional(httpUrl({ description: 'Endpoint of another S3 service (s3).' })),
        pathStyle: boolean({
          description: 'Whether the bucket stands in the path and not in the host name (s3).',
          default: false,
        }),
        caFile: optional(path({ description: 'File with further certificate authorities (s3).' })),
        prefix: optional(text('a prefix', {}, { description: 'Prefix of object names (s3).' })),
        accessKeyId: optional(secret('an access key id', {}, { description: 'Access key id (s3).' })),
        secretAccessKey: optional(secret('a secret access key', {}, { description: 'Secret access key (s3).' })),
      },
      'The store of exported bundles.',
    ),
    queue: section(
      {
        kind: oneOf(['sqlite', 'postgres'], { description: 'Where jobs wait.', default: 'sqlite' }),
        lease: duration('1s', '10m', {
          description:
            'How long a job waits for a worker that says nothing any more, until another one goes on with it.',
          default: '15s',
        }),
        url: optional(secret('a connection URL', {}, { description: 'Connection URL (postgres).' })),
      },
      'The queue of export jobs.',
    ),
  },
  'The static export API.',
);

const source = record(
  {
    kind: oneOf(['crawl', 'folder', 'markdown'], { description: 'How the site is read.' }),
    url: optional(httpUrl({ description: 'Where the crawl begins (crawl).' })),
    render: oneOf(['none', 'chromium'], {
      description:
        'Whether pages are rendered by Chromium, for sites whose scripts write or load what is read (crawl).',
      default: 'none',
    }),
    scripts: oneOf(['keep', 'drop'], {
      description:
        'What becomes of the scripts of pages that scripts have written (crawl with render). Kept, they run once more on what they have written already, at an address that ends in .html.',
      default: 'drop',
    }),
    allowAddresses: list(cidr, {
      description:
        'Private networks that this crawl may reach (crawl). The metadata services of clouds are never reached.',
      examples: [['127.0.0.0/8', '10.1.0.0/16']],
    }),
    robots: oneOf(['respect', 'ignore'], {
      description: 'Whether robots.txt and robots metas hold (crawl); ignore is for sites of your own.',
      default: 'respect',
    }),
    cookieFile: optional(
      path({
        description: "File that holds the Cookie header for the site's origin alone (crawl); watched for changes.",
      }),
    ),
    bearerFile: optional(
      path({
        description: "File that holds the bearer token for the site's origin alone (crawl); watched for changes.",
      }),
    ),
    concurrency: integer(1, 256, { description: 'Requests to one host at a time (crawl).', default: 16 }),
    rate: integer(0, 100_000, {
      description: 'Requests to one host in a second (crawl); 0: as many as it answers.',
      default: 0,
    }),
    limits: section(
      {
        pages: integer(1, 1_000_000, { description: 'Pages of the site.', default: 100_000 }),
        depth: integer(1, 100_000, { description: 'Links from the start to a page.', default: 100 }),
        queryVariants: integer(0, 1_000_000, {
          description: 'Addresses of pages that differ in their query alone.',
          default: 100,
        }),
        pageBytes: size('1KiB', '1GiB', { description: 'One page.', default: '16MiB' }),
        requestTimeout: duration('1s', '1h', { description: 'How long one request may take.', default: '2m' }),
      },
      'Bounds on a site without end (crawl); what lies beyond is left out, and the report says so.',
    ),
    path: optional(path({ description: 'The folder (folder, markdown).' })),
  },
  { description: 'Where the pages of an export come from.' },
);

const site = record(
  {
    hosts: list(host({ description: 'A full host name.' }), { description: 'Full host names of the site.' }),
    source: optional(source),
  },
  { description: 'One site.' },
);

const organization = record(
  {
    id: id('organization'),
    plan: text('a word', {}, { description: 'Plan; only enterprise exports.', default: 'none' }),
    domains: Type.Unsafe<Record<string, Static<typeof site>>>({
      type: 'object',
      propertyNames: { pattern: DOMAIN_PATTERN.source, 'x-expects': DOMAIN_RULE },
      additionalProperties: site,
      description: 'Sites by domain.',
      default: {},
    }),
    keys: list(
      record(
        {
          id: id('key'),
          type: oneOf(['admin', 'assistant'], { description: 'What the key may do.' }),
          sha256: sha256({ description: 'SHA-256 digest of the key.' }),
        },
        { description: 'A key.' },
      ),
      { description: 'Keys of the organization.' },
    ),
  },
  { description: 'An organization.' },
);

export const organizations = list(organization, {
  description: "Who owns which domains. Without any, an organization of docshelf's own owns deployment.domain.",
});

export const organizationsFile = optional(
  path({ description: 'A YAML file with the key organizations, in place of the key here.' }),
);
