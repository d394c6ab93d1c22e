import type { OciReference } from '../../../domain/oci-reference.ts';
import { wrongContent } from './oci-faults.ts';

/** The layer of an artifact that is the bundle's archive. */
export interface OciLayer {
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** As the one who pushed it called the file, or null. */
  readonly title: string | null;
  /** What an archive of its media type ends with. */
  readonly extension: string;
}

/** Ours, for who pushes: `oras push … bundle.tar.gz:application/vnd.docshelf.bundle.v1.tar+gzip`. */
export const BUNDLE_MEDIA_TYPE = 'application/vnd.docshelf.bundle.v1.tar+gzip';
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
/** What registries accept of a manifest ("Pushing Manifests" in the distribution specification). */
export const MANIFEST_BYTES_MAX = 4 * 1024 ** 2;

/** Media types of archives that can be read here, by how they end: ours, image layers, and plain ones. */
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

/**
 * The one layer of a manifest that is a bundle's archive.
 *
 * @throws DocshelfError `source_failed` where it has none, several, or is no manifest.
 */
export function readBundleLayer(text: string, reference: OciReference): OciLayer {
  const manifest = parse(text);
  if (manifest === null) throw wrongContent(reference, 'what the registry gives is no manifest');
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

function parse(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
