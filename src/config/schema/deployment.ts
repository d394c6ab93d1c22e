import { Type } from 'typebox';
import { DEFAULT_DOMAIN, DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import {
  boolean,
  cidr,
  domain,
  duration,
  host,
  httpUrl,
  integer,
  list,
  oneOf,
  optional,
  path,
  port,
  secret,
  section,
  sha256,
  size,
  switchable,
  text,
  version,
} from './blocks.ts';

/** The deployment side of contract section 2: what this daemon is, what it serves, and where it listens. */

export const deployment = section(
  {
    type: oneOf(DEPLOYMENT_TYPES, {
      description: 'The type of this deployment; it decides which features are available.',
      default: 'client-hosted',
    }),
    domain: optional(
      domain({
        description: `The domain of the site. Without it: that of the first bundle's manifest, else ${DEFAULT_DOMAIN}; kept in the data folder.`,
        examples: ['acme'],
      }),
    ),
  },
  'This running daemon.',
);

export const server = section(
  {
    host: host({ description: 'Address on which the site listens.', default: '0.0.0.0' }),
    port: port({ description: 'Port of the site; 0 takes a free one.', default: 8080 }),
    basePath: text(
      'a path that begins with /',
      { pattern: '^/[A-Za-z0-9._~/-]*$' },
      {
        description: 'Path below which the site is served.',
        default: '/',
        examples: ['/docs'],
      },
    ),
    trailingSlash: oneOf(['auto', 'always', 'never'], {
      description: "Whether a folder's page answers with or without its slash; auto: as the site's own links ask.",
      default: 'auto',
    }),
    workers: integer(1, 64, { description: 'Processes that serve the site.', default: 1 }),
    cacheBytes: size('0', '64GiB', { description: 'Memory for hot files; 0 turns the cache off.', default: '128MiB' }),
    trustedProxies: list(cidr, {
      description: 'Addresses or networks of proxies whose X-Forwarded-* headers are believed.',
      examples: [['10.0.0.0/8']],
    }),
    shutdownTimeout: duration('1s', '10m', {
      description: 'How long requests in flight may take to finish at shutdown.',
      default: '20s',
    }),
    tls: section(
      {
        certFile: optional(path({ description: 'Certificate chain in PEM.' })),
        keyFile: optional(path({ description: 'Private key in PEM.' })),
      },
      'TLS on the site listener.',
    ),
  },
  'The site listener.',
);

export const admin = section(
  {
    host: host({ description: 'Address on which the admin interface listens.', default: '127.0.0.1' }),
    port: port({ description: 'Port of the admin interface; 0 takes a free one.', default: 9090 }),
    token: optional(
      secret(
        'a token of visible ASCII characters, without spaces',
        { pattern: '^[\\x21-\\x7e]{1,4096}$' },
        {
          description: 'Bearer token that the admin actions ask for. Without one, every action is refused.',
        },
      ),
    ),
  },
  'Health, status, metrics, features and actions.',
);

export const storage = section(
  { dir: path({ description: 'The data folder. A change needs a restart.', default: './data' }) },
  'Where releases are kept.',
);

const limits = section(
  {
    entries: integer(1, 10_000_000, { description: 'Entries of an archive.', default: 200_000 }),
    fileBytes: size('1', '1024GiB', { description: 'One unpacked file.', default: '512MiB' }),
    totalBytes: size('1', '1024GiB', { description: 'All unpacked files together.', default: '8GiB' }),
    ratio: integer(1, 100_000, {
      description: 'Unpacked bytes per byte of the archive, beyond the first 64 MiB.',
      default: 200,
    }),
    bundleBytes: size('1', '1024GiB', { description: 'An archive as it is fetched or taken in.', default: '8GiB' }),
  },
  'Bounds on an archive; one that exceeds them is refused.',
);

const publicKey = Type.Unsafe<string>({
  anyOf: [
    { type: 'string', pattern: '^RW[A-Za-z0-9+/]{54}$' },
    { type: 'string', minLength: 1, maxLength: 4096 },
  ],
  description: 'A minisign public key, or a file that holds one.',
  'x-unit': 'word-or-path',
  'x-expects': 'a minisign public key, or a path',
});

const signature = section(
  {
    required: boolean({ description: 'Refuse a bundle without a valid signature.', default: false }),
    publicKeys: list(publicKey, {
      description:
        'minisign public keys that may sign: files (minisign.pub, watched for changes), or the keys themselves.',
      examples: [['./minisign.pub'], ['RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK']],
    }),
    file: optional(
      path({
        description:
          'File that holds the signature, for an archive that has none beside it (<archive>.minisig); watched for changes.',
      }),
    ),
    url: optional(
      secret(
        'an http, https or file URL',
        { format: 'link' },
        { description: 'Link to the signature, in place of file. A credential: it is never printed.' },
      ),
    ),
  },
  'minisign signatures of bundles. Where publicKeys are set, a signature that is there must hold.',
);

const renew = section(
  {
    apiUrl: optional(
      httpUrl({ description: 'Base URL of a static export service; the API is below its /v1/static-export.' }),
    ),
    keyFile: optional(path({ description: 'File that holds the admin key; watched for changes.' })),
    domain: optional(
      domain({ description: 'Domain whose newest completed export is fetched. Without it, deployment.domain.' }),
    ),
    jobId: optional(
      text(
        'a job id: se_ and 16 hex digits',
        { pattern: '^se_[0-9a-f]{16}$' },
        { description: 'The job whose bundle is fetched, in place of the newest.' },
      ),
    ),
    every: optional(
      duration('1m', '30d', {
        description: 'How often the site is exported anew and swapped in. Not together with a pinned version.',
      }),
    ),
  },
  'The export service that is asked for a fresh link when bundleUrl has expired, or is not set.',
);

export const staticExport = section(
  {
    enabled: boolean({ description: 'Turns serving of the bundle on.', default: false }),
    bundleUrl: optional(
      secret(
        'an http, https or file URL, or oci://registry/repository:tag',
        { format: 'bundle-link' },
        {
          description:
            'Link to the bundle, fetched at start: https, http, file:, or an artifact in a registry (oci://registry/repository:tag, or @sha256:…). A credential: it is never printed.',
          examples: [
            'https://bundles.example.com/acme-export-2024-06-01.tar.gz?signature=...',
            'oci://registry.example/docs/acme:2024-06-01',
          ],
        },
      ),
    ),
    bundleUrlFile: optional(
      path({ description: 'File that holds the link, in place of bundleUrl; watched for changes.' }),
    ),
    version: optional(version({ description: 'Pins the version that is served.', examples: ['2024-06-01', 'v3.2.0'] })),
    sha256: optional(sha256({ description: 'Digest that the fetched archive must have.' })),
    signature,
    preload: path({
      description: 'Folder of archives that are taken in at start. May be missing where it is the default.',
      default: './bundles',
    }),
    keep: integer(0, 1000, { description: 'Old releases that stay on disk after a swap.', default: 3 }),
    minVersion: optional(version({ description: 'Oldest version that may be served.' })),
    renew,
    limits,
  },
  'The bundle that is served.',
);

const ORIGIN = text(
  'an origin such as https://search.example.com',
  { format: 'http-url' },
  {
    description: 'An origin that pages may talk to.',
  },
);
const wish = {
  enabled: optional(
    boolean({ description: 'On or off. Without it: on where the feature table says available, else off.' }),
  ),
  origins: list(ORIGIN, { description: 'Origins that the feature needs.' }),
};

export const features = section(
  {
    search: switchable(
      {
        ...wish,
        discoveryUrl: optional(httpUrl({ description: 'Base URL of the hosted search.' })),
        keyFile: optional(path({ description: 'File that holds the assistant key.' })),
      },
      'Documentation search by the hosted service.',
    ),
    assistant: switchable(wish, 'AI assistant.'),
    analytics: switchable(wish, 'Web analytics.'),
    apiPlayground: switchable(wish, 'API playground ("Try it").'),
    enforce: oneOf(['off', 'report', 'on'], {
      description: 'Whether pages are held to the feature report: not at all, reported, or blocked.',
      default: 'off',
    }),
  },
  'What readers find on the site. true and false are short for enabled.',
);

export const log = section(
  {
    level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      description: 'The least severe line that is written.',
      default: 'info',
    }),
    format: oneOf(['auto', 'json', 'pretty'], {
      description: 'auto: pretty on a terminal, else JSON.',
      default: 'auto',
    }),
    access: boolean({ description: 'Whether every request is logged.', default: true }),
  },
  'The log.',
);
