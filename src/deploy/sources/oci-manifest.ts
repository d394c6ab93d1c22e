import { LINK_SCHEMES, type OciReference } from '../../domain/bundle-link.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { retryAfterOf } from '../../net/retry.ts';

export interface OciLayer {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly title: string | null;
  readonly extension: string;
}

export const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
/** Limit of registries ("Pushing Manifests" in the distribution specification). */
export const MANIFEST_BYTES_MAX = 4 * 1024 ** 2;

/** By how they end: ours (`application/vnd.docshelf.bundle.v1.tar+gzip`), image layers, plain ones. */
const ARCHIVE_TYPES: readonly [type: RegExp, extension: string][] = [
  [/[.+/](?:tar\+gzip|tar\.gzip|x-gtar|gzip|x-gzip)$/, '.tar.gz'],
  [/[.+/](?:tar\+zstd|zstd)$/, '.tar.zst'],
  [/[.+/](?:tar|x-tar)$/, '.tar'],
  [/[.+/](?:zip|x-zip-compressed)$/, '.zip'],
];

interface Manifest {
  readonly layers?: unknown;
  readonly manifests?: unknown;
}

interface Descriptor {
  readonly mediaType?: unknown;
  readonly digest?: unknown;
  readonly size?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** @throws DocshelfError `source_failed` where it has no layer that is an archive, several, or is no manifest. */
export function readBundleLayer(text: string, reference: OciReference): OciLayer {
  const manifest = membersOf<Manifest>(text);
  if (Object.keys(manifest).length === 0) throw wrongContent(reference, 'what the registry gives is no manifest');
  if (Array.isArray(manifest.manifests)) {
    throw wrongContent(reference, 'it is an index of several images, and no artifact of one layer');
  }
  const layers = (Array.isArray(manifest.layers) ? (manifest.layers as Descriptor[]) : []).flatMap((layer) => {
    const extension = extensionOf(layer?.mediaType);
    return extension === null ? [] : [{ layer, extension }];
  });
  const [only] = layers;
  if (only === undefined) throw wrongContent(reference, 'it has no layer that is an archive');
  if (layers.length > 1) throw wrongContent(reference, `it has ${layers.length} layers, and a bundle is one archive`);
  const { digest, size, annotations } = only.layer;
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw wrongContent(reference, 'its layer is not named by a SHA-256 digest');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw wrongContent(reference, 'its layer has no length');
  }
  const title = annotations?.['org.opencontainers.image.title'];
  return { digest, sizeBytes: size, title: typeof title === 'string' ? title : null, extension: only.extension };
}

function extensionOf(mediaType: unknown): string | null {
  if (typeof mediaType !== 'string') return null;
  return ARCHIVE_TYPES.find(([type]) => type.test(mediaType))?.[1] ?? null;
}

export function referenceText({ registry, repository, tag, digest }: OciReference): string {
  return `oci://${registry}/${repository}${tag === null ? `@${digest}` : `:${tag}`}`;
}

export function notAReference(link: Secret): DocshelfError {
  const shown = linkWithoutSecrets(link.reveal());
  return new DocshelfError('source_failed', `Cannot fetch "${shown}": it is no link to an OCI artifact`, {
    next: `Write it as ${LINK_SCHEMES.oci.form}.`,
    fields: { retryable: false },
  });
}

export function wrongContent(reference: OciReference, state: string): DocshelfError {
  return new DocshelfError('source_failed', `Cannot use "${referenceText(reference)}": ${state}`, {
    next: 'Push the bundle as an artifact of one layer: "oras push registry/repository:tag bundle.tar.gz".',
    fields: { retryable: false },
  });
}

export function registryRefusal(
  reference: OciReference,
  response: HttpResponse,
  hasCredentials: boolean,
  nowMs: number,
): DocshelfError {
  const { status } = response;
  const retryAfterMs = retryAfterOf(response.header('retry-after'), nowMs);
  response.close();
  const refusal = (code: DocshelfError['code'], state: string, next: string, retryable = false): DocshelfError =>
    new DocshelfError(code, `Cannot fetch "${referenceText(reference)}": ${state} (${status})`, {
      next,
      fields: { status, retryable, ...(retryable && retryAfterMs !== null ? { retryAfterMs } : {}) },
    });
  if (status === 401 || status === 403) {
    return hasCredentials
      ? refusal(
          'link_refused',
          'the registry refuses the credentials',
          `Compare them with ${LINK_SCHEMES.oci.credentialsKey}, and give them the right to pull from this repository.`,
        )
      : refusal(
          'link_refused',
          'the registry asks for credentials',
          `Put them into a docker config.json under "${reference.registry}", and name it in ${LINK_SCHEMES.oci.credentialsKey}.`,
        );
  }
  if (status === 404) return refusal('bundle_not_found', 'the registry has no such artifact', 'Check the reference.');
  if (status === 429 || status >= 500) {
    return refusal('source_failed', 'the registry cannot answer now', 'Try again later, or look at it.', true);
  }
  return refusal('source_failed', 'the registry answers with something else', 'Check the reference.');
}
