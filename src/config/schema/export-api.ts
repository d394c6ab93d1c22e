import * as t from './blocks.ts';

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
