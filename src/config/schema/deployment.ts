import { Type } from 'typebox';
import { BUNDLE_LINK_FORMS, FILE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DEFAULT_DOMAIN, DEPLOYMENT_TYPES } from '../../domain/deployment.ts';
import { FEATURES, type SwitchedFeatureId } from '../../domain/feature.ts';
import type { NamedFile } from '../named-files.ts';
import * as t from './blocks.ts';
import { basePath, perSite } from './listeners.ts';
import { siteSearch } from './service.ts';

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

/** A key of minisign: 42 bytes in base64, of which the first two name Ed25519. */
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
