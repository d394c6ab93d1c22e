import { type Static, Type } from 'typebox';
import { BUNDLE_LINK_FORMS, FILE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DEFAULT_DOMAIN, DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES, type SwitchedFeatureId } from '../../domain/feature.ts';
import type { NamedFile } from '../named-files.ts';
import * as t from './blocks.ts';
import { section } from './blocks.ts';
import { admin, api, basePath, log, metrics, network, perSite, server, traces } from './listeners.ts';
import { database, organizations, organizationsFile, rateLimits, search, siteSearch } from './service.ts';

const keptJobs = {
  type: 'object',
  properties: { completed: t.integer(1, 1000, 'Completed jobs of a domain that are kept.') },
  additionalProperties: false,
  required: ['completed'],
  'x-not-built': true,
};

export const exportApi = t.section(
  {
    enabled: t.boolean('Offers the static export API.', false, { restart: true }),
    role: t.oneOf(
      ['both', 'api', 'worker'],
      'What this daemon does of it: answer calls, run jobs, or both. api and worker need the database.',
      'both',
      {
        restart: true,
      },
    ),
    concurrency: t.integer(1, 64, 'Jobs that run at once in this daemon.', 1),
    queuedMax: t.integer(1, 10_000, 'Jobs of one organization that may wait; the next one is refused.', 100),
    deadline: t.duration('1s', '7d', 'How long one job may run.', '1h'),
    linkTtl: t.duration('1s', '7d', 'How long a link to a bundle works.', '1h'),
    retention: t.durationOr<'none'>(
      [{ enum: ['none'] }, keptJobs],
      'none, a duration such as 30d (s, m, h or d), or {completed: 5}',
      ['1h', '3650d'],
      'How long finished jobs are kept, or how many completed ones a domain.',
      'none',
    ),
    browser: t.section(
      {
        sandbox: t.oneOf(
          ['auto', 'off'],
          "Chromium's sandbox: auto is on, and as root a fault; off where a container gives it no user namespaces, for sites that are trusted.",
          'auto',
        ),
        tabs: t.integer(1, 32, 'Pages that are rendered at once.', 4),
        pageTimeout: t.duration('1s', '10m', 'How long one page may take.', '30s'),
        verify: t.oneOf(
          ['auto', 'off'],
          'Opens pages of a crawled site once more as they are written, without a network, and compares them with the live ones: auto where Chromium is installed.',
          'auto',
        ),
      },
      "The system's Chromium, which renders and verifies crawled sites. It is the one that DOCSHELF_CHROMIUM names, or chromium on PATH.",
    ),
    signingKeyFile: t.optional(
      t.contents('secret', {}, 'File that holds a minisign secret key without password: it signs every bundle.'),
    ),
    store: t.section(
      {
        kind: t.oneOf(['disk', 's3'], 'Where bundles are kept.', 'disk'),
        bucket: t.optional(t.text('the name of a bucket', {}, 'Bucket (s3).')),
        region: t.optional(t.text('a region', {}, 'Region (s3).')),
        endpoint: t.optional(t.httpUrl('Endpoint of another S3 service (s3).')),
        pathStyle: t.boolean('The bucket stands in the path and not in the host name (s3).', false),
        caFile: t.optional(t.file('certificates', null, 'File with further certificate authorities (s3).')),
        prefix: t.optional(t.text('a prefix', {}, 'Prefix of object names (s3).')),
        encryption: t.oneOf(
          ['bucket', 's3', 'kms'],
          'How the store encrypts objects: as the bucket has it by default, with keys of S3 (SSE-S3), or of KMS (SSE-KMS) (s3).',
          'bucket',
        ),
        kmsKeyId: t.optional(
          t.text('the id or ARN of a key', {}, "Key of KMS. Without it: the account's own for S3 (s3, kms)."),
        ),
        accessKeyId: t.optional(
          t.secret(
            'an access key id',
            {},
            "Access key id (s3). Without it: AWS's variables for keys or a web identity.",
          ),
        ),
        secretAccessKey: t.optional(t.secret('a secret access key', {}, 'Secret access key (s3).')),
      },
      'The store of exported bundles.',
      { restart: true },
    ),
    queue: t.section(
      {
        kind: t.optional(
          t.oneOf(
            ['sqlite', 'postgres'],
            'Where jobs wait: in the data folder, or in the database. Without it: postgres where there is a database.',
            undefined,
            { restart: true },
          ),
        ),
        lease: t.duration(
          '1s',
          '10m',
          'How long a job waits for a worker that shows no sign of life, until another one resumes it.',
          '15s',
        ),
      },
      'The queue of export jobs.',
    ),
  },
  'The static export API.',
);

export const deployment = t.section(
  {
    type: t.oneOf(
      DEPLOYMENT_TYPES,
      'The type of this deployment; it decides which features are available.',
      'client-hosted',
    ),
    domain: t.optional(
      t.domain(
        `The domain of the site. Without it: that of the first bundle's manifest, else ${DEFAULT_DOMAIN}; kept in the data folder.`,
        undefined,
        { examples: ['acme'] },
      ),
    ),
  },
  'This running daemon.',
);

export const deploy = t.section(
  {
    parallel: t.integer(
      1,
      64,
      'Archives that are unpacked at once, over all sites; four times as many are fetched.',
      2,
    ),
  },
  'How archives are taken in.',
);

export const storage = t.section(
  { dir: t.path('The data folder.', './data', { restart: true }) },
  'Where releases are kept.',
);

const limits = t.section(
  {
    entries: t.max(t.integer(1, 10_000_000, 'Files of an archive; it may hold as many folders.', 1_000_000)),
    fileBytes: t.max(t.size('1', '1024GiB', 'One unpacked file.', '512MiB')),
    totalBytes: t.max(t.size('1', '1024GiB', 'All unpacked files together.', '8GiB')),
    ratio: t.max(t.integer(1, 100_000, 'Unpacked bytes per byte of the archive, beyond the first 64 MiB.', 200)),
    bundleBytes: t.max(t.size('1', '1024GiB', 'An archive as it is fetched or taken in.', '8GiB')),
  },
  'Bounds on an archive; one that exceeds them is refused.',
);

/** A public key of minisign: 42 bytes in base64, of which the first two name Ed25519. */
const PUBLIC_KEY = 'RW[A-Za-z0-9+/]{54}$';
const publicKey = Type.Unsafe<string | NamedFile>({
  ...t.contents(
    'file',
    { pattern: `(?:^|\\n)${PUBLIC_KEY}`, expects: 'a minisign public key' },
    'A minisign public key, or a file that holds one.',
  ),
  anyOf: [{ pattern: `^${PUBLIC_KEY}` }, { minLength: 1 }],
  'x-expects': 'a minisign public key, or a path',
});

const signature = t.section(
  {
    required: t.optional(
      t.boolean('Refuse a bundle without a valid signature. Without it: where publicKeys has any.', undefined),
    ),
    publicKeys: t.list(
      publicKey,
      'minisign public keys that may sign: files (minisign.pub, watched for changes), or the keys themselves.',
      { examples: [['./minisign.pub'], ['RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK']] },
    ),
    file: t.optional(
      t.contents(
        'file',
        {},
        'File that holds the signature, for an archive that has none beside it (<archive>.minisig); watched for changes.',
      ),
    ),
    url: t.optional(
      t.secret(
        `a link: ${FILE_LINK_FORMS}`,
        { format: 'link' },
        'Link to the signature, in place of file. A credential: it is never printed.',
      ),
    ),
  },
  'minisign signatures of bundles. Where publicKeys are set, a signature that is there must hold.',
);

const renew = t.section(
  {
    apiUrl: t.optional(t.httpUrl('Base URL of a static export service; the API is below its /v1/static-export.')),
    keyFile: t.optional(t.keyFile('File that holds the admin key; watched for changes.')),
    domain: t.optional(t.domain('Domain whose newest completed export is fetched. Without it, deployment.domain.')),
    jobId: t.optional(
      t.text(
        'a job id: se_ and 16 hex digits',
        { pattern: '^se_[0-9a-f]{16}$' },
        'The job whose bundle is fetched, in place of the newest.',
      ),
    ),
    every: t.optional(
      t.duration(
        '1m',
        '30d',
        'How often the site is exported anew and swapped in. Not together with a pinned version.',
      ),
    ),
  },
  'The export service that is asked for a fresh link when bundleUrl has expired, or is not set.',
);

export const staticExport = t.section(
  {
    enabled: t.boolean('Turns serving of the bundle on.', false),
    bundleUrl: t.optional(
      t.secret(
        `a link: ${BUNDLE_LINK_FORMS}`,
        { format: 'bundle-link' },
        'Link to the bundle, fetched at start. A credential: it is never printed.',
        undefined,
        {
          examples: [
            'https://bundles.example.com/acme-export-2024-06-01.tar.gz?signature=...',
            'oci://registry.example/docs/acme:2024-06-01',
            's3://bundles/acme-export-2024-06-01.tar.gz',
          ],
        },
      ),
    ),
    bundleUrlFile: t.optional(
      t.contents(
        'secret',
        { format: 'bundle-link', expects: `a link: ${BUNDLE_LINK_FORMS}` },
        'File that holds the link, in place of bundleUrl; watched for changes.',
      ),
    ),
    version: t.optional(
      t.version('Pins the version that is served.', undefined, { examples: ['2024-06-01', 'v3.2.0'] }),
    ),
    sha256: t.optional(t.sha256('Digest that the fetched archive must have.')),
    signature,
    preload: t.folder(
      'Folder of archives that are taken in at start. May be missing where it is the default.',
      './bundles',
    ),
    keep: t.integer(0, 1000, 'Old releases that stay on disk after a swap.', 3),
    minVersion: t.optional(
      t.version(
        'Bundles of older versions are refused, but for the pinned one. Dates are compared with dates, semantic versions with such; a mix is refused too.',
      ),
    ),
    serveVersions: t.oneOf(
      ['pinned', 'kept'],
      'The versions that readers can open: the active one, or all kept ones that have been active.',
      'pinned',
    ),
    from: t.oneOf(
      ['link', 'exports'],
      'Where the bundle comes from: its link, or the newest completed export of the domain in this daemon (the newest of that version, where version pins one).',
      'link',
    ),
    renew,
    limits,
  },
  'The bundle that is served.',
);

const switched = {
  enabled: t.optional(t.boolean('On or off. Without it: on where the feature table says available, else off.')),
  origins: t.list(
    t.text('an origin such as https://search.example.com', { format: 'http-url' }, 'An origin that pages may talk to.'),
    'Origins that the feature needs; with features.enforce, pages may load from them.',
  ),
};
const simple = FEATURES.filter(({ key, id }) => key === `features.${id}` && id !== 'search').map(
  ({ id, name }) => [id, t.switchable(switched, `${name}.`)] as const,
);

export const features = t.section(
  {
    search: t.switchable(
      {
        ...switched,
        discoveryUrl: t.optional(t.httpUrl('Base URL of the hosted search.')),
        keyFile: t.optional(t.keyFile('File that holds the assistant key.')),
      },
      'Documentation search by the hosted service.',
    ),
    ...(Object.fromEntries(simple) as Record<
      Exclude<SwitchedFeatureId, 'search'>,
      ReturnType<typeof t.switchable<typeof switched>>
    >),
    enforce: t.optional(
      t.oneOf(
        ['off', 'report', 'on'],
        'Whether pages are held to the feature report by a Content-Security-Policy: not at all, reported, or blocked. Without it: on where air-gapped, else off.',
      ),
    ),
  },
  'What readers find on the site. true and false are short for enabled.',
);

const site = t.record(
  {
    domain: t.domain('The domain of the site.'),
    title: t.optional(t.text('a title', {}, 'Its title. Without it: that of its first page.')),
    hosts: t.hosts('Host names that it answers; none: every host that no other site names.'),
    basePath: basePath('Path below which it is served there.'),
    ...perSite,
    staticExport,
    features,
    search: siteSearch,
  },
  'A site.',
);

export const sites = t.list(
  site,
  'The sites of a daemon that serves several, in place of deployment.domain and staticExport.',
);

/**
 * The whole config (contract, section 2). Decoding, `config.schema.json`, `docs/config.md` and the chart's schema derive from it. After
 * a change, run `sh scripts/run.sh node scripts/generate.ts`.
 */
const keys = section(
  {
    deployment,
    staticExport,
    sites,
    server,
    admin,
    api,
    storage,
    deploy,
    network,
    features,
    search,
    exportApi,
    database,
    rateLimits,
    organizations,
    organizationsFile,
    metrics,
    traces,
    log,
  },
  'The config of docshelf. Every key may be left out.',
);

export const schemaSource = Type.Unsafe<Static<typeof keys>>({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'docshelf config',
  ...keys,
});

/** The checked config, deeply frozen. Sizes are bytes, durations milliseconds, paths absolute. */
export type Config = Static<typeof schemaSource>;
