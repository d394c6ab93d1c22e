import { type Static, Type } from 'typebox';
import { BUNDLE_LINK_FORMS, FILE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DEFAULT_DOMAIN, DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES, type SwitchedFeatureId } from '../../domain/feature.ts';
import type { NamedFile } from '../read-config-file.ts';
import * as t from './blocks.ts';
import { section } from './blocks.ts';
import { admin, api, basePath, log, metrics, network, perSite, server, traces } from './listeners.ts';
import { database, organizations, organizationsFile, rateLimits, search, siteSearch } from './service.ts';

const keptJobs = t.record(
  { completed: t.integer(1, 1000, 'Number of completed jobs that docshelf keeps per domain.') },
  'Keeps jobs by number.',
);

export const exportApi = t.section(
  {
    enabled: t.boolean('Turns the static export API on.', false, { restart: true }),
    role: t.oneOf(
      ['both', 'api', 'worker'],
      'Part of the API in this daemon: api (responds to calls), worker (runs jobs), or both. api and worker need the database.',
      'both',
      { restart: true },
    ),
    concurrency: t.integer(1, 64, 'Number of jobs that this daemon runs at the same time.', 1),
    queuedMax: t.integer(
      1,
      10_000,
      'Maximum number of waiting jobs per organization. docshelf rejects further jobs.',
      100,
    ),
    deadline: t.duration('1s', '7d', 'Maximum time for one job.', '1h'),
    linkTtl: t.duration('1s', '7d', 'Lifetime of a link to a bundle.', '1h'),
    retention: t.durationOr<'none' | Static<typeof keptJobs>>(
      [{ enum: ['none'] }, keptJobs],
      'none, {completed: 5}, or a duration such as 30d (s, m, h or d)',
      ['1h', '3650d'],
      'Age at which docshelf removes finished jobs. none: docshelf keeps all jobs. The newest completed job of a domain always stays. {completed: 5} keeps the newest 5 completed jobs of each domain, and the newest 5 failed or canceled jobs.',
      'none',
    ),
    browser: t.section(
      {
        sandbox: t.oneOf(
          ['auto', 'off'],
          'Sandbox of Chromium. auto: Chromium uses its sandbox, and cannot run as root. off: Chromium runs without it. Use off only for trusted sites in a container without user namespaces.',
          'auto',
        ),
        tabs: t.integer(1, 32, 'Number of pages that Chromium renders at the same time.', 4),
        pageTimeout: t.duration('1s', '10m', 'Maximum time for one page.', '30s'),
        verify: t.oneOf(
          ['auto', 'off'],
          'Opens exported pages of a crawled site without a network and compares them with the live pages. auto: on if Chromium is installed.',
          'auto',
        ),
      },
      'Chromium of the system, which renders and verifies crawled sites. docshelf uses the program in DOCSHELF_CHROMIUM, or else chromium on PATH.',
    ),
    signingKeyFile: t.optional(
      t.contents(
        'secret',
        {},
        'File with a minisign secret key without a password. docshelf signs every bundle with it.',
      ),
    ),
    store: t.section(
      {
        kind: t.oneOf(['disk', 's3'], 'Kind of store: a folder on disk, or a bucket in S3.', 'disk'),
        bucket: t.optional(t.text('the name of a bucket', {}, 'Name of the bucket (s3).')),
        region: t.optional(t.text('a region', {}, 'Region of the bucket (s3).')),
        endpoint: t.optional(t.httpUrl('URL of an S3 service other than AWS (s3).')),
        pathStyle: t.boolean('Puts the bucket name in the path instead of the host name (s3).', false),
        caFile: t.optional(t.file('certificates', null, 'File with additional certificate authorities in PEM (s3).')),
        prefix: t.optional(t.text('a prefix', {}, 'Prefix of object names (s3).')),
        encryption: t.oneOf(
          ['bucket', 's3', 'kms'],
          'Encryption of objects (s3). bucket: the default of the bucket. s3: keys of S3 (SSE-S3). kms: keys of KMS (SSE-KMS).',
          'bucket',
        ),
        kmsKeyId: t.optional(
          t.text(
            'the id or ARN of a key',
            {},
            'KMS key (s3, with encryption: kms). If it is not set, S3 uses the default key of the account.',
          ),
        ),
        accessKeyId: t.optional(
          t.secret(
            'an access key id',
            {},
            'Access key id (s3). Default: the AWS environment variables for keys or a web identity.',
          ),
        ),
        secretAccessKey: t.optional(t.secret('a secret access key', {}, 'Secret access key (s3).')),
      },
      'Storage of exported bundles.',
      { restart: true },
    ),
    queue: t.section(
      {
        kind: t.optional(
          t.oneOf(
            ['sqlite', 'postgres'],
            'Storage of waiting jobs: sqlite (data folder) or postgres (database). Default: postgres if a database is configured, otherwise sqlite.',
            undefined,
            { restart: true },
          ),
        ),
        lease: t.duration(
          '1s',
          '10m',
          'Time without a heartbeat from a worker, after which another worker resumes its job.',
          '15s',
        ),
      },
      'Queue of export jobs.',
    ),
  },
  'Static export API.',
);

export const deployment = t.section(
  {
    type: t.oneOf(
      DEPLOYMENT_TYPES,
      'Type of this deployment. It decides which features are available.',
      'client-hosted',
    ),
    domain: t.optional(
      t.domain(
        `Domain of the site. Default: the domain in the manifest of the first bundle, otherwise ${DEFAULT_DOMAIN}. docshelf stores the domain in the data folder.`,
        undefined,
        { examples: ['acme'] },
      ),
    ),
  },
  'Type and domain of this daemon.',
);

export const deploy = t.section(
  {
    parallel: t.integer(
      1,
      64,
      'Number of archives that docshelf unpacks at the same time, over all sites. docshelf fetches up to four times as many archives at the same time.',
      2,
    ),
  },
  'Import of archives.',
);

export const storage = t.section({ dir: t.path('Data folder.', './data', { restart: true }) }, 'Storage of releases.');

const limits = t.section(
  {
    entries: t.max(
      t.integer(
        1,
        10_000_000,
        'Maximum number of files in an archive. The same maximum applies to the number of folders.',
        1_000_000,
      ),
    ),
    fileBytes: t.max(t.size('1', '1024GiB', 'Maximum size of one unpacked file.', '512MiB')),
    totalBytes: t.max(t.size('1', '1024GiB', 'Maximum size of all unpacked files together.', '8GiB')),
    ratio: t.max(
      t.integer(1, 100_000, 'Maximum number of unpacked bytes per byte of the archive, after the first 64 MiB.', 200),
    ),
    bundleBytes: t.max(
      t.size(
        '1',
        '1024GiB',
        'Maximum size of an archive that docshelf downloads, or receives as an upload or on standard input. It does not apply to the preload folder and the inbox.',
        '8GiB',
      ),
    ),
  },
  'Limits for an archive. docshelf rejects an archive that exceeds one of them.',
);

/** Public key of minisign: 42 bytes in base64, of which the first two are the code of Ed25519. */
const PUBLIC_KEY = 'RW[A-Za-z0-9+/]{54}$';
const publicKey = Type.Unsafe<string | NamedFile>({
  ...t.contents(
    'file',
    { pattern: `(?:^|\\n)${PUBLIC_KEY}`, expects: 'a minisign public key' },
    'A minisign public key, or a file with such a key.',
  ),
  anyOf: [{ pattern: `^${PUBLIC_KEY}` }, { minLength: 1 }],
  'x-expects': 'a minisign public key, or a path',
});

const signature = t.section(
  {
    required: t.optional(
      t.boolean(
        'Rejects a bundle without a valid signature. Default: true if publicKeys contains a key, otherwise false.',
        undefined,
      ),
    ),
    publicKeys: t.list(
      publicKey,
      'Trusted minisign public keys: files (minisign.pub), which docshelf watches, or the keys themselves.',
      { examples: [['./minisign.pub'], ['RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK']] },
    ),
    file: t.optional(
      t.contents(
        'file',
        {},
        'File with the signature, if there is no file <archive>.minisig next to the archive. docshelf watches the file.',
      ),
    ),
    url: t.optional(
      t.secret(
        `a link: ${FILE_LINK_FORMS}`,
        { format: 'link' },
        'Link to the signature, instead of file. docshelf treats it as a credential and never prints it.',
      ),
    ),
  },
  'minisign signatures of bundles. If publicKeys is set, docshelf rejects a bundle with an invalid signature.',
);

const renew = t.section(
  {
    apiUrl: t.optional(
      t.httpUrl('Base URL of a static export service. docshelf calls its API under /v1/static-export.'),
    ),
    keyFile: t.optional(t.keyFile('File with the admin key of the service. docshelf watches the file.')),
    domain: t.optional(t.domain('Domain whose newest completed export docshelf fetches. Default: deployment.domain.')),
    jobId: t.optional(
      t.text(
        'a job id: se_ and 16 hex digits',
        { pattern: '^se_[0-9a-f]{16}$' },
        'Job whose bundle docshelf fetches, instead of the newest export.',
      ),
    ),
    every: t.optional(
      t.duration(
        '1m',
        '30d',
        'Interval after which docshelf exports the site again and swaps in the new version. You cannot combine it with a pinned version.',
      ),
    ),
  },
  'Export service from which docshelf gets a new link if bundleUrl has expired or is not set.',
);

export const staticExport = t.section(
  {
    enabled: t.boolean('Serves the bundle.', false),
    bundleUrl: t.optional(
      t.secret(
        `a link: ${BUNDLE_LINK_FORMS}`,
        { format: 'bundle-link' },
        'Link to the bundle, which docshelf fetches at start. docshelf treats the link as a credential and never prints it.',
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
        'File with the link, instead of bundleUrl. docshelf watches the file.',
      ),
    ),
    version: t.optional(
      t.version('Version to serve. If it is not set, docshelf serves the version that it activated last.', undefined, {
        examples: ['2024-06-01', 'v3.2.0'],
      }),
    ),
    sha256: t.optional(
      t.sha256('SHA-256 digest of the archive. docshelf rejects a fetched archive with another digest.'),
    ),
    signature,
    preload: t.folder(
      'Folder of archives that docshelf imports at start. The folder must exist if you set it. The default folder may be missing.',
      './bundles',
    ),
    keep: t.integer(0, 1000, 'Number of old releases that docshelf keeps on disk after a swap.', 3),
    minVersion: t.optional(
      t.version(
        'Oldest version that docshelf accepts, except for the pinned one. The label and this value must both be dates, or both be semantic versions. docshelf rejects any other label.',
      ),
    ),
    serveVersions: t.oneOf(
      ['pinned', 'kept'],
      'Versions that readers can open. pinned: the active version. kept: all kept versions that have been active.',
      'pinned',
    ),
    from: t.oneOf(
      ['link', 'exports'],
      'Source of the bundle. link: bundleUrl or bundleUrlFile. exports: the newest completed export of the domain in this daemon. If a version is pinned, docshelf uses only exports of this version.',
      'link',
    ),
    renew,
    limits,
  },
  'Bundle that docshelf serves.',
);

const switched = {
  enabled: t.optional(
    t.boolean(
      'Turns the feature on or off. Default: on if the feature is available in this type of deployment, otherwise off.',
    ),
  ),
  origins: t.list(
    t.text(
      'an origin such as https://search.example.com',
      { format: 'http-url' },
      'Origin to which pages may send requests.',
    ),
    'Origins that the feature needs. With features.enforce, pages may load content from them.',
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
        keyFile: t.optional(t.keyFile('File with the assistant key.')),
      },
      'Documentation search of the hosted service.',
    ),
    ...(Object.fromEntries(simple) as Record<
      Exclude<SwitchedFeatureId, 'search'>,
      ReturnType<typeof t.switchable<typeof switched>>
    >),
    enforce: t.optional(
      t.oneOf(
        ['off', 'report', 'on'],
        'Content Security Policy that allows only the site and the origins of enabled features. off: docshelf sends no policy. report: browsers report violations. on: browsers block them. Default: on behind an air gap, otherwise off.',
      ),
    ),
  },
  'Features for readers of the site. true and false are short forms of enabled: true and enabled: false.',
);

const site = t.record(
  {
    domain: t.domain('Domain of the site.'),
    title: t.optional(
      t.text('a title', {}, 'Title of the site. If it is not set, docshelf uses the title of the first page.'),
    ),
    hosts: t.hosts('Host names of the site. If the list is empty, the site serves all hosts that no other site lists.'),
    basePath: basePath('Path under which docshelf serves the site.'),
    ...perSite,
    staticExport,
    features,
    search: siteSearch,
  },
  'A site.',
);

export const sites = t.list(
  site,
  'Sites of a daemon that serves several, instead of deployment.domain and staticExport.',
);

/**
 * After a change of this schema, run `sh scripts/run.sh node scripts/generate.ts` to update the generated schemas and
 * `docs/config.md`.
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
  'Config of docshelf. Every key is optional.',
);

export const schemaSource = Type.Unsafe<Static<typeof keys>>({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'docshelf config',
  ...keys,
});

/** The checked config, deeply frozen. Sizes are bytes, durations milliseconds, paths absolute. */
export type Config = Static<typeof schemaSource>;
