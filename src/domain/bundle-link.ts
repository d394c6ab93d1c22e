import { type S3Place, s3UrlOf } from './egress.ts';

interface LinkScheme {
  readonly form: string;
  readonly isSound: (link: string) => boolean;
  /** True if the scheme can also link to a signature file. An OCI link names a whole artifact instead of a file. */
  readonly isFile: boolean;
}

const isUrl = URL.canParse;

export const LINK_SCHEMES = {
  https: { form: 'https://…', isSound: isUrl, isFile: true },
  http: { form: 'http://…', isSound: isUrl, isFile: true },
  file: { form: 'file:///…', isSound: isUrl, isFile: true },
  oci: {
    form: 'oci://registry/repository:tag (or @sha256:…), the repository in small letters',
    isSound: (link) => parseOciReference(link) !== null,
    isFile: false,
  },
  s3: { form: 's3://bucket/key', isSound: (link) => parseS3Link(link) !== null, isFile: true },
} as const satisfies Readonly<Record<string, LinkScheme>>;

function schemeOf(link: string): LinkScheme | null {
  const name = /^([a-z][a-z0-9+.-]*):/i.exec(link)?.[1]?.toLowerCase() ?? '';
  return (LINK_SCHEMES as Readonly<Record<string, LinkScheme | undefined>>)[name] ?? null;
}

/** True for text that begins with `scheme://` or `known-scheme:`. For a local file with this beginning, the operator adds `./`. */
export const isLinkLike = (text: string): boolean => schemeOf(text) !== null || /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

export const isBundleLink = (link: string): boolean => schemeOf(link)?.isSound(link) === true;

export const isFileLink = (link: string): boolean => isBundleLink(link) && schemeOf(link)?.isFile === true;

const formsOf = (schemes: readonly LinkScheme[]) =>
  schemes.map(({ form }, index) => `${index > 0 && index === schemes.length - 1 ? 'or ' : ''}${form}`).join(', ');
export const BUNDLE_LINK_FORMS = formsOf(Object.values(LINK_SCHEMES));
export const FILE_LINK_FORMS = formsOf(Object.values(LINK_SCHEMES).filter(({ isFile }) => isFile));

export interface OciReference {
  readonly registry: string;
  readonly repository: string;
  /** Unlike a digest (`sha256:` and 64 hex digits), a tag can later name another bundle. */
  readonly tag: string | null;
  readonly digest: string | null;
}

/**
 * Matches the registry of an OCI link. OCI links follow the OCI distribution specification ("Pulling manifests"), with hosts as
 * in URLs.
 */
const REGISTRY = '(?<registry>(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::\\d{1,5})?)';
const SEGMENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^oci://${REGISTRY}/(?<repository>${SEGMENT}(?:/${SEGMENT})*)(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127})|@(?<digest>sha256:[0-9a-f]{64}))$`,
);

const CHARACTERS_MAX = 1024;

/** Reads an OCI link. Requires a tag or digest, because the default tag "latest" is not a version. */
export function parseOciReference(link: string): OciReference | null {
  const parts = link.length > CHARACTERS_MAX ? undefined : REFERENCE.exec(link)?.groups;
  if (parts?.registry === undefined || parts.repository === undefined) return null;
  const { registry, repository, tag = null, digest = null } = parts;
  return { registry: registry.toLowerCase(), repository, tag, digest };
}

export type S3Link = { readonly bucket: string; readonly key: string };

/** Allows `_` and capitals in bucket names, which older buckets and S3-compatible services use. */
const S3_LINK = /^s3:\/\/(?<bucket>[A-Za-z0-9][A-Za-z0-9._-]{1,254})\/(?<key>[^?#\u0000-\u001f\u007f\\]+)$/;
const S3_KEY_BYTES_MAX = 1024;

/** Reads an S3 link, and keeps the object key as written. Rejects `.` and `..` segments, because a URL parser would remove them. */
export function parseS3Link(link: string): S3Link | null {
  const { bucket, key } = S3_LINK.exec(link)?.groups ?? {};
  if (bucket === undefined || key === undefined || Buffer.byteLength(key) > S3_KEY_BYTES_MAX) return null;
  return key.split('/').some((segment) => /^\.{1,2}$/.test(segment)) ? null : { bucket, key };
}

/** URL of the host that docshelf contacts for the link. Null for a local file, or if only the environment names the S3 region. */
export function askedUrl(link: string | null, s3: S3Place | null): URL | null {
  if (link === null || schemeOf(link) === null || /^file:/i.test(link)) return null;
  const object = parseS3Link(link);
  if (object !== null) {
    const isKnown = s3 !== null && (s3.region ?? s3.endpoint) !== null;
    return isKnown ? URL.parse(s3UrlOf({ ...s3, bucket: object.bucket })) : null;
  }
  const image = parseOciReference(link);
  return URL.parse(image === null ? link : `https://${image.registry}`);
}

export const expiryOfLink = (link: string): number | null => validityOf(link).endsAtMs;

/** Validity of a presigned link, in milliseconds since 1970. Null for a time that the link does not contain. */
export function validityOf(link: string): { readonly startsAtMs: number | null; readonly endsAtMs: number | null } {
  if (!URL.canParse(link)) return { startsAtMs: null, endsAtMs: null };
  const query = new Map([...new URL(link).searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  for (const vendor of ['x-amz', 'x-goog']) {
    const startsAtMs = basicDate(query.get(`${vendor}-date`));
    const seconds = wholeNumber(query.get(`${vendor}-expires`));
    if (startsAtMs !== null && seconds !== null) return { startsAtMs, endsAtMs: startsAtMs + seconds * 1000 };
  }
  // Azure's shared access signature uses dates with or without a time.
  const sasTime = (name: string): number | null => {
    const time = query.has('sig') ? Date.parse(query.get(name) ?? '') : Number.NaN;
    return Number.isNaN(time) ? null : time;
  };
  // S3 version 2, Google version 2 and CloudFront use seconds since 1970.
  const epochSeconds = wholeNumber(query.get('expires'));
  const endsAtMs = sasTime('se') ?? (epochSeconds === null ? null : epochSeconds * 1000);
  return { startsAtMs: sasTime('st'), endsAtMs };
}

/** Reads a time such as `20240601T120000Z` (ISO 8601, basic format). */
function basicDate(text: string | undefined): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '');
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? null : time;
}

const wholeNumber = (text: string | undefined): number | null => (/^\d{1,12}$/.test(text ?? '') ? Number(text) : null);
