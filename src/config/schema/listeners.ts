import * as t from './blocks.ts';

const tls = {
  ...t.certificate({ restart: 'presence' }),
  http2: t.boolean('Turns HTTP/2 on.', true),
  hsts: t.optional(t.duration('1s', '3650d', 'Sends Strict-Transport-Security with this duration.')),
  certificates: t.list(
    t.record(t.certificate(), 'A certificate.'),
    'Additional certificates. docshelf selects one by server name (SNI).',
  ),
  redirectPort: t.optional(t.port('Port without TLS that redirects to this listener.', undefined, { restart: true })),
};
const tlsOf = (listener: string) => t.section(tls, `TLS on the ${listener}. It is on if certFile and keyFile are set.`);

const name = (description: string) => t.text('a name', {}, description);

/** The maximum bcrypt cost is 14, because a check of cost 14 takes 1.5 s, and each further step doubles the time. */
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
    kind: t.oneOf(['none', 'basic', 'header', 'oidc'], 'Method by which readers sign in.', 'none'),
    usersFile: t.optional(
      t.contents(
        'secret',
        USER,
        'File of users in htpasswd format, with bcrypt only (basic). docshelf watches the file.',
      ),
    ),
    name: t.optional(
      t.text(
        'the name of a header',
        { pattern: '^[A-Za-z0-9-]{1,128}$' },
        'Header with the name of the reader (header). docshelf accepts it from trustedProxies only.',
      ),
    ),
    issuer: t.optional(t.httpUrl('URL of the identity provider (oidc).')),
    clientId: t.optional(name('Client id of docshelf at the provider (oidc).')),
    clientSecretFile: t.optional(
      t.keyFile(
        'File with the client secret (oidc). Without it, docshelf is a public client. docshelf watches the file.',
      ),
    ),
    scopes: t.list(name('A name.'), 'Scopes that docshelf requests in addition to openid (oidc).'),
    groupsClaim: t.text('a name', {}, 'Claim with the groups of a reader (oidc).', 'groups'),
    allowedGroups: t.list(
      name('A name.'),
      'Groups whose members may read (oidc). If the list is empty, every reader who signs in may read.',
    ),
    sessionTtl: t.duration('1m', '365d', 'Lifetime of a sign-in (oidc).', '12h'),
    sessionKeyFile: t.optional(
      t.contents(
        'secret',
        SESSION_KEY,
        'File with keys of session cookies, one per line (oidc). docshelf encrypts with the first key and decrypts with all keys. docshelf watches the file. Default: a key in the data folder.',
      ),
    ),
  },
  'Sign-in of readers. A key with a kind in parentheses, such as (oidc), applies only to this kind.',
);

export const perSite = {
  trailingSlash: t.oneOf(
    ['auto', 'always', 'never'],
    'Trailing slash in the address of the index page of a folder. auto: as in the links of the site.',
    'auto',
  ),
  spaFallback: t.boolean('Serves the start page for paths that have no extension and match no page.', false),
  versionSwitcher: t.boolean('Adds a version switcher to pages if readers can open several versions.', false),
  headers: t.section(
    {
      preset: t.oneOf(['none', 'recommended'], 'Security headers that docshelf adds to pages.', 'recommended'),
      set: t.map(
        { pattern: '^[A-Za-z0-9-]{1,128}$', 'x-expects': 'the name of a header' },
        t.text('the value of a header', { pattern: '^[\\x20-\\x7e]*$', minLength: 0 }, 'Value of the header.'),
        'Additional headers of every file. They override the headers of the preset and of the site. An empty value removes the header.',
        { examples: [{ 'Access-Control-Allow-Origin': '*' }] },
      ),
    },
    'Response headers that docshelf adds to the standard HTTP headers.',
  ),
  auth,
};

/** Rejects path segments that browsers normalize (empty, `.`, `..`). Uses no lookahead, which Helm's validation does not support. */
const BASE_PATH = '^/(?:(?:\\.{0,2}[A-Za-z0-9_~-]|\\.{3})[A-Za-z0-9._~-]*(?:/|$))*$';

export const basePath = (description: string) =>
  t.text('a path that begins with /', { pattern: BASE_PATH }, description, '/', { examples: ['/docs'] });

export const server = t.section(
  {
    host: t.host('Address on which the site listener listens.', '0.0.0.0', { restart: true }),
    port: t.port('Port of the site. 0 selects a free port.', 8080, { restart: true }),
    publicUrl: t.optional(
      t.httpUrl('URL under which readers reach the site. docshelf builds absolute addresses from it.'),
    ),
    basePath: basePath('Path under which docshelf serves the site.'),
    ...perSite,
    cacheBytes: t.size('0', '64GiB', 'Memory for frequently read files. 0 turns the cache off.', '128MiB', {
      restart: true,
    }),
    trustedProxies: t.list(t.cidr, 'Addresses or networks of proxies. docshelf trusts their X-Forwarded-* headers.', {
      examples: [['10.0.0.0/8']],
      restart: true,
    }),
    shutdownTimeout: t.duration('1s', '10m', 'Maximum time for open requests to finish at shutdown.', '20s'),
    readyAfter: t.duration(
      '1s',
      '1d',
      'Maximum time that a starting daemon waits until each site has loaded a version or failed. Until then, it is not ready.',
      '5m',
    ),
    shelf: t.boolean('Serves a page that lists the sites.', true),
    markdown: t.boolean('Also serves pages as Markdown to clients that request it.', true),
    tls: tlsOf('site listener'),
  },
  'Site listener.',
);

export const admin = t.section(
  {
    host: t.host('Address on which the admin interface listens.', '127.0.0.1', { restart: true }),
    port: t.port('Port of the admin interface. 0 selects a free port.', 9090, { restart: true }),
    token: t.optional(
      t.secret(
        'a token of 16 or more visible ASCII characters, without spaces',
        { pattern: '^[\\x21-\\x7e]{16}[\\x21-\\x7e]*$' },
        'Bearer token for admin actions. If it is not set, docshelf rejects every action.',
      ),
    ),
    hosts: t.list(
      t.text('a host name, or *', { pattern: '^(?:\\*|[A-Za-z0-9._:-]{1,255})$' }, 'A host name, or *.'),
      'Host names that the listener accepts in addition to localhost, IP addresses and the name of this machine. * accepts all names.',
    ),
    tls: tlsOf('admin listener'),
  },
  'Admin interface: health, status, metrics, features and actions.',
);

export const api = t.section(
  {
    host: t.host('Address on which the search and export API listens.', '127.0.0.1', { restart: true }),
    port: t.port('Port of the API. 0 selects a free port.', 8081, { restart: true }),
    publicUrl: t.optional(t.httpUrl('URL under which clients reach the API.')),
    tls: tlsOf('API listener'),
  },
  'Search and export API.',
);

export const metrics = t.section(
  {
    sites: t.integer(
      0,
      100_000,
      'Maximum number of sites with the label site in metrics. If the config has more sites, docshelf omits the label.',
      200,
    ),
  },
  'Metrics of the admin interface.',
);

export const traces = t.section(
  {
    endpoint: t.optional(
      t.httpUrl(
        'URL of an OpenTelemetry collector (OTLP over HTTP, in JSON). docshelf appends /v1/traces.',
        undefined,
        { restart: 'presence', examples: ['http://otel-collector.internal:4318'] },
      ),
    ),
    headersFile: t.optional(
      t.contents(
        'secret',
        t.HEADER_LINE,
        'File with headers for the collector, one per line. docshelf watches the file.',
      ),
    ),
  },
  'Traces of exports and swaps. They are off if endpoint is not set.',
);

export const log = t.section(
  {
    level: t.oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'Lowest severity of log lines that docshelf writes.',
      'info',
    ),
    format: t.oneOf(['auto', 'json', 'pretty'], 'Format of log lines. auto: pretty on a terminal, else json.', 'auto', {
      restart: true,
    }),
    access: t.boolean('Logs every request.', true),
    queries: t.boolean('Logs the text of searches.', false),
  },
  'Log.',
);

export const network = t.section(
  {
    allowedHosts: t.list(
      t.text(
        'host, host:port, or *.domain without a port (*.example.com instead of *.example.com:443, because it applies to every port)',
        { pattern: '^(?:[A-Za-z0-9._:\\[\\]-]{1,261}|\\*\\.[A-Za-z0-9._-]{1,253})$' },
        'A host, host:port, or *.domain for all its subdomains at every port.',
      ),
      'Hosts that docshelf may contact for bundles, registries, crawls, S3 buckets, the embedding model and the hosted search. Empty: every host, or none in an air-gapped deployment.',
      { examples: [['bundles.example.com']] },
    ),
    allowPrivate: t.boolean(
      'Allows requests to private addresses. docshelf never contacts the metadata services of clouds.',
      true,
    ),
    proxy: t.secretOr(
      ['env', 'off'],
      'env, off, or the http or https URL of a proxy',
      { format: 'http-url' },
      'Proxy for outbound requests. env: the proxy from HTTPS_PROXY, HTTP_PROXY and NO_PROXY. off: no proxy. Or the URL of a proxy, which docshelf never prints.',
      'env',
    ),
    caFile: t.optional(
      t.file(
        'certificates',
        null,
        'File with additional trusted certificate authorities in PEM. docshelf watches the file.',
      ),
    ),
    registryAuthFile: t.optional(
      t.file(
        'secret',
        null,
        'File with credentials for the OCI registries of bundles, in the format of a Docker config.json. docshelf watches the file.',
      ),
    ),
    s3: t.section(
      {
        region: t.optional(
          t.text('a region', {}, 'Region. If it is not set: us-east-1 with an endpoint, else AWS_REGION.'),
        ),
        endpoint: t.optional(t.httpUrl('URL of an S3 service other than AWS, such as MinIO or Ceph.')),
        pathStyle: t.boolean('Puts the bucket name in the path instead of the host name.', false),
      },
      'S3 service for s3: links. Credentials come from the AWS environment variables for keys or a web identity.',
    ),
    tokenHosts: t.list(
      t.host('A host name.'),
      'Hosts other than the registry itself to which docshelf may send the credentials of a registry.',
    ),
    fileRoots: t.list(
      t.path('A folder.'),
      'Folders that file: links may point into. If the list is empty: the preload folders.',
    ),
    connectTimeout: t.duration('1s', '10m', 'Maximum time to open a connection.', '10s'),
    idleTimeout: t.duration('1s', '1h', 'Maximum time that a download may receive no data.', '30s'),
    totalTimeout: t.duration('1s', '7d', 'Maximum time for one attempt at a download.', '30m'),
    retries: t.integer(0, 20, 'Number of retries after a failure that may be temporary.', 4),
    redirects: t.max(t.integer(0, 20, 'Maximum number of redirects that docshelf follows.', 5)),
  },
  'Outbound requests.',
);
