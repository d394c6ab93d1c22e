import { boolean, duration, integer, list, optional, path, secret, section, text } from './blocks.ts';

/** How this daemon reaches others: whom it may ask, by which way, and how long it waits. */
export const network = section(
  {
    allowedHosts: list(
      text(
        'host, host:port or *.domain',
        { pattern: '^(?:\\*\\.)?[A-Za-z0-9._:\\[\\]-]{1,261}$' },
        { description: 'A host, host:port, or *.domain for every name below it.' },
      ),
      {
        description:
          'Hosts that docshelf may fetch from. Empty: any host, save in an air-gapped deployment, where it means none.',
        examples: [['bundles.example.com']],
      },
    ),
    allowPrivate: boolean({
      description: 'Whether private addresses may be fetched from. The metadata services of clouds never are.',
      default: true,
    }),
    proxy: secret(
      'env, off, or the http or https URL of a proxy',
      { format: 'proxy' },
      {
        description:
          'env: as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; off: none; else the URL of a proxy, which is never printed.',
        default: 'env',
      },
    ),
    caFile: optional(path({ description: 'Further certificate authorities to trust, in PEM; watched for changes.' })),
    registryAuthFile: optional(
      path({
        description:
          'Credentials of OCI registries that bundles are pulled from: a docker config.json; watched for changes.',
      }),
    ),
    connectTimeout: duration('1s', '10m', { description: 'How long a connection may take to open.', default: '10s' }),
    idleTimeout: duration('1s', '1h', {
      description: 'How long a download may go without a single byte.',
      default: '30s',
    }),
    totalTimeout: duration('1s', '7d', {
      description: 'How long one attempt at a download may take.',
      default: '30m',
    }),
    retries: integer(0, 20, { description: 'Further attempts after a failed one that may succeed later.', default: 4 }),
    redirects: integer(0, 20, { description: 'Redirects that are followed.', default: 5 }),
  },
  'How bundles are fetched.',
);
