import * as t from './blocks.ts';

const tls = {
  ...t.certificate({ restart: 'presence' }),
  http2: t.boolean('Offers HTTP/2.', true),
  hsts: t.optional(t.duration('1s', '3650d', 'Strict-Transport-Security, for this long.')),
  certificates: t.list(t.record(t.certificate(), 'A certificate.'), 'Further certificates, chosen by server name.'),
  redirectPort: t.optional(t.port('A port without TLS that redirects here.', undefined, { restart: true })),
};
const tlsOf = (listener: string) => t.section(tls, `TLS on the ${listener}, where it has a certificate.`);

const name = (description: string) => t.text('a name', {}, description);

/** A line of Apache's htpasswd. Verifying a cost of 14 takes 1.5 s, and each further step doubles it. */
const USER = {
  pattern: '^[^:\\s][^:]{0,254}:\\$2[aby]\\$(?:0[4-9]|1[0-4])\\$[./A-Za-z0-9]{53}$',
  eachLine: true,
  expects: 'a user of htpasswd with a bcrypt password of a cost up to 14 (htpasswd -B)',
  bytesMax: 1024 * 1024,
} as const;
const SESSION_KEY = {
  pattern: '^[\\x21-\\x7e]{32,1024}$',
  eachLine: true,
  expects: 'a key of 32 or more visible ASCII characters, without spaces',
} as const;

const auth = t.section(
  {
    kind: t.oneOf(['none', 'basic', 'header', 'oidc'], 'How readers sign in.', 'none'),
    usersFile: t.optional(
      t.contents('secret', USER, 'Users in htpasswd format, bcrypt only (basic); watched for changes.'),
    ),
    name: t.optional(
      t.text(
        'the name of a header',
        { pattern: '^[A-Za-z0-9-]{1,128}$' },
        "Header that holds the reader's name, from trustedProxies alone (header).",
      ),
    ),
    issuer: t.optional(t.httpUrl('URL of the identity provider (oidc).')),
    clientId: t.optional(name('Name of this client (oidc).')),
    clientSecretFile: t.optional(
      t.keyFile('File that holds the secret of the client; without it, a public client (oidc); watched for changes.'),
    ),
    scopes: t.list(name('A name.'), 'Scopes that are asked for besides openid (oidc).'),
    groupsClaim: t.text('a name', {}, 'Claim that holds the groups of a reader (oidc).', 'groups'),
    allowedGroups: t.list(name('A name.'), 'Groups that may read; empty: everybody who signs in (oidc).'),
    sessionTtl: t.duration('1m', '365d', 'How long a sign-in lasts (oidc).', '12h'),
    sessionKeyFile: t.optional(
      t.contents(
        'secret',
        SESSION_KEY,
        'File that holds the keys of session cookies, one a line: the first seals, each opens. Without it, one in the data folder (oidc); watched for changes.',
      ),
    ),
  },
  'Sign-in of readers.',
);

export const perSite = {
  trailingSlash: t.oneOf(
    ['auto', 'always', 'never'],
    "Whether a folder's page answers with or without its slash; auto: as the site's own links ask.",
    'auto',
  ),
  spaFallback: t.boolean('Answers paths without an extension that name no page with the start page.', false),
  versionSwitcher: t.boolean('Adds a switcher of versions to pages, where readers may read several.', false),
  headers: t.section(
    {
      preset: t.oneOf(
        ['none', 'recommended'],
        'Security headers that docshelf sends with pages by itself.',
        'recommended',
      ),
      set: t.map(
        { pattern: '^[A-Za-z0-9-]{1,128}$', 'x-expects': 'the name of a header' },
        t.text('the value of a header', { pattern: '^[\\x20-\\x7e]*$', minLength: 0 }, 'Its value.'),
        "Further headers of every file; one of these wins over the preset and over the site's own, an empty one takes the header away.",
        { examples: [{ 'Access-Control-Allow-Origin': '*' }] },
      ),
    },
    'Headers that are sent beside those of HTTP itself.',
  ),
  auth,
};

/** Segments that no browser normalizes: none is empty, `.` or `..`. It has no lookahead, which helm's validation does not support. */
const BASE_PATH = '^/(?:(?:\\.{0,2}[A-Za-z0-9_~-]|\\.{3})[A-Za-z0-9._~-]*(?:/|$))*$';

export const basePath = (description: string) =>
  t.text('a path that begins with /', { pattern: BASE_PATH }, description, '/', { examples: ['/docs'] });

export const server = t.section(
  {
    host: t.host('Address on which the site listens.', '0.0.0.0', { restart: true }),
    port: t.port('Port of the site; 0 takes a free one.', 8080, { restart: true }),
    publicUrl: t.optional(t.httpUrl('URL under which readers reach the site; absolute addresses are made of it.')),
    basePath: basePath('Path below which the site is served.'),
    ...perSite,
    cacheBytes: t.size('0', '64GiB', 'Memory for hot files; 0 turns the cache off.', '128MiB', { restart: true }),
    trustedProxies: t.list(t.cidr, 'Addresses or networks of proxies whose X-Forwarded-* headers are believed.', {
      examples: [['10.0.0.0/8']],
      restart: true,
    }),
    shutdownTimeout: t.duration('1s', '10m', 'How long requests in flight may take to finish at shutdown.', '20s'),
    readyAfter: t.duration(
      '1s',
      '1d',
      'How long sites that have not ended their first attempt keep the daemon from being ready.',
      '5m',
    ),
    shelf: t.boolean('A page that lists the sites.', true),
    markdown: t.boolean('Answers pages as Markdown, too, to whoever asks for it.', true),
    tls: tlsOf('site listener'),
  },
  'The site listener.',
);

export const admin = t.section(
  {
    host: t.host('Address on which the admin interface listens.', '127.0.0.1', { restart: true }),
    port: t.port('Port of the admin interface; 0 takes a free one.', 9090, { restart: true }),
    token: t.optional(
      t.secret(
        'a token of 16 or more visible ASCII characters, without spaces',
        { pattern: '^[\\x21-\\x7e]{16}[\\x21-\\x7e]*$' },
        'Bearer token that the admin actions ask for. Without one, every action is refused.',
      ),
    ),
    hosts: t.list(
      t.text('a host name, or *', { pattern: '^(?:\\*|[A-Za-z0-9._:-]{1,255})$' }, 'A host name, or *.'),
      'Names that the listener answers to besides localhost, IP addresses and the name of this machine; *: all.',
    ),
    tls: tlsOf('admin listener'),
  },
  'Health, status, metrics, features and actions.',
);

export const api = t.section(
  {
    host: t.host('Address on which the search and export API listens.', '127.0.0.1', { restart: true }),
    port: t.port('Port of the API; 0 takes a free one.', 8081, { restart: true }),
    publicUrl: t.optional(t.httpUrl('URL under which clients reach the API.')),
    tls: tlsOf('API listener'),
  },
  'The search and export API.',
);

export const metrics = t.section(
  {
    sites: t.integer(0, 100_000, 'Sites up to which metrics carry the label site.', 200),
  },
  'The metrics of the admin interface.',
);

/** RFC 9110, sections 5.1 and 5.5. */
const HEADER_LINE = {
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}:[\\t ]*[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$",
  eachLine: true,
  expects: 'a header, such as Authorization: Bearer …',
} as const;

export const traces = t.section(
  {
    endpoint: t.optional(
      t.httpUrl(
        'URL of an OpenTelemetry collector (OTLP over HTTP, in JSON); /v1/traces is put behind it.',
        undefined,
        {
          restart: 'presence',
          examples: ['http://otel-collector.internal:4318'],
        },
      ),
    ),
    headersFile: t.optional(
      t.contents('secret', HEADER_LINE, 'File of headers for the collector, one a line; watched for changes.'),
    ),
  },
  'Traces of exports and of swaps, off without a collector.',
);

export const log = t.section(
  {
    level: t.oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'The least severe line that is written.',
      'info',
    ),
    format: t.oneOf(['auto', 'json', 'pretty'], 'auto: pretty on a terminal, else JSON.', 'auto', { restart: true }),
    access: t.boolean('Logs every request.', true),
  },
  'The log.',
);

export const network = t.section(
  {
    allowedHosts: t.list(
      t.text(
        'host, host:port, or *.domain without a port (*.example.com in place of *.example.com:443: it stands for every port)',
        { pattern: '^(?:[A-Za-z0-9._:\\[\\]-]{1,261}|\\*\\.[A-Za-z0-9._-]{1,253})$' },
        'A host, host:port, or *.domain for every name below it, at every port.',
      ),
      'Hosts that docshelf may ask: for bundles, registries, crawls, the store, the model and search. Empty: any host, save in an air-gapped deployment, where it means none.',
      { examples: [['bundles.example.com']] },
    ),
    allowPrivate: t.boolean(
      'Whether private addresses may be fetched from. The metadata services of clouds never are.',
      true,
    ),
    proxy: t.secretOr(
      ['env', 'off'],
      'env, off, or the http or https URL of a proxy',
      { format: 'http-url' },
      'env: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; off: none; else the URL of a proxy, which is never printed.',
      'env',
    ),
    caFile: t.optional(
      t.file('certificates', null, 'Further certificate authorities to trust, in PEM; watched for changes.'),
    ),
    registryAuthFile: t.optional(
      t.file(
        'secret',
        null,
        'Credentials of OCI registries that bundles are pulled from: a docker config.json; watched for changes.',
      ),
    ),
    s3: t.section(
      {
        region: t.optional(t.text('a region', {}, 'Region. Without it: us-east-1 with an endpoint, else AWS_REGION.')),
        endpoint: t.optional(t.httpUrl('Endpoint of another S3 service, such as MinIO or Ceph.')),
        pathStyle: t.boolean('The bucket stands in the path and not in the host name.', false),
      },
      "Where the buckets of s3: links are. Credentials are those of the environment: AWS's variables for keys or a web identity.",
    ),
    tokenHosts: t.list(t.host('A host name.'), "Hosts besides its own that a registry's credentials may go to."),
    fileRoots: t.list(t.path('A folder.'), 'Folders that file: links may lead into. Empty: the preload folders.'),
    connectTimeout: t.duration('1s', '10m', 'How long a connection may take to open.', '10s'),
    idleTimeout: t.duration('1s', '1h', 'How long a download may go without a single byte.', '30s'),
    totalTimeout: t.duration('1s', '7d', 'How long one attempt at a download may take.', '30m'),
    retries: t.integer(0, 20, 'Further attempts after a failed one that may succeed later.', 4),
    redirects: t.max(t.integer(0, 20, 'Redirects that are followed.', 5)),
  },
  'How bundles are fetched.',
);
