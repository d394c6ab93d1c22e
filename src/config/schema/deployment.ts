import { Type } from 'typebox';
import { BUNDLE_LINK_FORMS, FILE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DEFAULT_DOMAIN, DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES, type SwitchedFeatureId } from '../../domain/feature.ts';
import type { NamedFile } from '../named-files.ts';
import {
  boolean,
  contents,
  domain,
  duration,
  folder,
  hosts,
  httpUrl,
  integer,
  keyFile,
  list,
  max,
  oneOf,
  optional,
  path,
  record,
  secret,
  section,
  sha256,
  size,
  switchable,
  text,
  version,
} from './blocks.ts';
import { basePath, perSite } from './listeners.ts';
import { search } from './service.ts';

/** This daemon, and the bundles and sites that it serves. */

export const deployment = section(
  {
    type: oneOf(
      DEPLOYMENT_TYPES,
      'The type of this deployment; it decides which features are available.',
      'client-hosted',
    ),
    domain: optional(
      domain(
        `The domain of the site. Without it: that of the first bundle's manifest, else ${DEFAULT_DOMAIN}; kept in the data folder.`,
        undefined,
        { examples: ['acme'] },
      ),
    ),
  },
  'This running daemon.',
);

export const deploy = section(
  {
    parallel: integer(1, 64, 'Archives that are taken in at once.', 2, { notBuilt: true }),
  },
  'How archives are taken in.',
);

export const storage = section(
  { dir: path('The data folder.', './data', { restart: true }) },
  'Where releases are kept.',
);

const limits = section(
  {
    entries: max(integer(1, 10_000_000, 'Entries of an archive.', 200_000)),
    fileBytes: max(size('1', '1024GiB', 'One unpacked file.', '512MiB')),
    totalBytes: max(size('1', '1024GiB', 'All unpacked files together.', '8GiB')),
    ratio: max(integer(1, 100_000, 'Unpacked bytes per byte of the archive, beyond the first 64 MiB.', 200)),
    bundleBytes: max(size('1', '1024GiB', 'An archive as it is fetched or taken in.', '8GiB')),
  },
  'Bounds on an archive; one that exceeds them is refused.',
);

/** A key of minisign: 42 bytes in base64, of which the first two name Ed25519. */
const PUBLIC_KEY = 'RW[A-Za-z0-9+/]{54}$';
const publicKey = Type.Unsafe<string | NamedFile>({
  ...contents(
    'file',
    { pattern: `(?:^|\\n)${PUBLIC_KEY}`, expects: 'a minisign public key' },
    'A minisign public key, or a file that holds one.',
  ),
  anyOf: [{ pattern: `^${PUBLIC_KEY}` }, { minLength: 1 }],
  'x-expects': 'a minisign public key, or a path',
});

const signature = section(
  {
    required: boolean('Refuse a bundle without a valid signature.', false),
    publicKeys: list(
      publicKey,
      'minisign public keys that may sign: files (minisign.pub, watched for changes), or the keys themselves.',
      { examples: [['./minisign.pub'], ['RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK']] },
    ),
    file: optional(
      contents(
        'file',
        {},
        'File that holds the signature, for an archive that has none beside it (<archive>.minisig); watched for changes.',
      ),
    ),
    url: optional(
      secret(
        `a link: ${FILE_LINK_FORMS}`,
        { format: 'link' },
        'Link to the signature, in place of file. A credential: it is never printed.',
      ),
    ),
  },
  'minisign signatures of bundles. Where publicKeys are set, a signature that is there must hold.',
);

const renew = section(
  {
    apiUrl: optional(httpUrl('Base URL of a static export service; the API is below its /v1/static-export.')),
    keyFile: optional(keyFile('File that holds the admin key; watched for changes.')),
    domain: optional(domain('Domain whose newest completed export is fetched. Without it, deployment.domain.')),
    jobId: optional(
      text(
        'a job id: se_ and 16 hex digits',
        { pattern: '^se_[0-9a-f]{16}$' },
        'The job whose bundle is fetched, in place of the newest.',
      ),
    ),
    every: optional(
      duration('1m', '30d', 'How often the site is exported anew and swapped in. Not together with a pinned version.'),
    ),
  },
  'The export service that is asked for a fresh link when bundleUrl has expired, or is not set.',
);

export const staticExport = section(
  {
    enabled: boolean('Turns serving of the bundle on.', false),
    bundleUrl: optional(
      secret(
        `a link: ${BUNDLE_LINK_FORMS}`,
        { format: 'bundle-link' },
        'Link to the bundle, fetched at start. A credential: it is never printed.',
        undefined,
        {
          examples: [
            'https://bundles.example.com/acme-export-2024-06-01.tar.gz?signature=...',
            'oci://registry.example/docs/acme:2024-06-01',
          ],
        },
      ),
    ),
    bundleUrlFile: optional(
      contents(
        'secret',
        { format: 'bundle-link', expects: `a link: ${BUNDLE_LINK_FORMS}` },
        'File that holds the link, in place of bundleUrl; watched for changes.',
      ),
    ),
    version: optional(version('Pins the version that is served.', undefined, { examples: ['2024-06-01', 'v3.2.0'] })),
    sha256: optional(sha256('Digest that the fetched archive must have.')),
    signature,
    preload: folder(
      'Folder of archives that are taken in at start. May be missing where it is the default.',
      './bundles',
    ),
    keep: integer(0, 1000, 'Old releases that stay on disk after a swap.', 3),
    minVersion: optional(version('Oldest version that may be served.', undefined, { notBuilt: true })),
    serveVersions: oneOf(
      ['pinned', 'kept'],
      'The versions that readers can open: the active one, or all that are kept.',
      'pinned',
      { notBuilt: true },
    ),
    from: oneOf(['link', 'exports'], "Where the bundle comes from: its link, or this daemon's own exports.", 'link', {
      notBuilt: true,
    }),
    renew,
    limits,
  },
  'The bundle that is served.',
);

const switched = {
  enabled: optional(boolean('On or off. Without it: on where the feature table says available, else off.')),
  origins: list(
    text('an origin such as https://search.example.com', { format: 'http-url' }, 'An origin that pages may talk to.'),
    'Origins that the feature needs.',
    { notBuilt: true },
  ),
};
const simple = FEATURES.filter(({ key, id }) => key === `features.${id}` && id !== 'search').map(
  ({ id, name }) => [id, switchable(switched, `${name}.`)] as const,
);

export const features = section(
  {
    search: switchable(
      {
        ...switched,
        discoveryUrl: optional(httpUrl('Base URL of the hosted search.')),
        keyFile: optional(keyFile('File that holds the assistant key.')),
      },
      'Documentation search by the hosted service.',
    ),
    ...(Object.fromEntries(simple) as Record<
      Exclude<SwitchedFeatureId, 'search'>,
      ReturnType<typeof switchable<typeof switched>>
    >),
    enforce: oneOf(
      ['off', 'report', 'on'],
      'Whether pages are held to the feature report: not at all, reported, or blocked.',
      'off',
      { notBuilt: true },
    ),
  },
  'What readers find on the site. true and false are short for enabled.',
);

const site = record(
  {
    domain: domain('The domain of the site.'),
    title: optional(text('a title', {}, 'Its title. Without it: that of its first page.')),
    hosts: hosts('Host names that it answers; none: every host that no other site names.'),
    basePath: basePath('Path below which it is served there.'),
    ...perSite,
    staticExport,
    features,
    search,
  },
  'A site.',
);

export const sites = list(
  site,
  'The sites of a daemon that serves several, in place of deployment.domain and staticExport.',
  { notBuilt: true },
);
