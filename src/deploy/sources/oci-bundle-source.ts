import { createHash } from 'node:crypto';
import { type OciReference, parseOciReference } from '../../domain/bundle-link.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { collect } from '../../files/index.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import type { BundleSource, OpenedBundle, OpenRequest } from '../ports.ts';
import { bundleFileName } from './http-bundle-source.ts';
import {
  MANIFEST_BYTES_MAX,
  MANIFEST_TYPES,
  notAReference,
  type OciLayer,
  readBundleLayer,
  wrongContent,
} from './oci-manifest.ts';
import { type RegistryAccess, RegistryClient } from './oci-registry.ts';

/** `oci://`: the one layer of an artifact. The bytes must have the digests of manifest and layer. */
export class OciBundleSource implements BundleSource {
  readonly #client: HttpClient;
  readonly #access: RegistryAccess;

  constructor(client: HttpClient, access: RegistryAccess) {
    this.#client = client;
    this.#access = access;
  }

  handles(link: Secret): boolean {
    return /^oci:/i.test(link.reveal());
  }

  async open(link: Secret, { resume, signal }: OpenRequest): Promise<OpenedBundle> {
    signal.throwIfAborted();
    const reference = parseOciReference(link.reveal());
    if (reference === null) throw notAReference(link);
    const registry = new RegistryClient(this.#client, reference, this.#access);
    const layer = await readManifest(registry, reference, signal);
    const { response, offset } = await openLayer(registry, layer, resume, signal);
    return {
      stream: response.stream(),
      offset,
      totalBytes: layer.sizeBytes,
      endIsCertain: true,
      etag: etagOf(layer),
      sha256: layer.digest.slice('sha256:'.length),
      fileName: fileNameOf(layer, reference),
      close: () => response.close(),
    };
  }
}

async function readManifest(registry: RegistryClient, reference: OciReference, signal: AbortSignal): Promise<OciLayer> {
  const target = `manifests/${reference.digest ?? reference.tag}`;
  const response = await registry.get(target, { accept: MANIFEST_TYPES.join(', ') }, signal);
  const manifest = await collect(response.stream(), MANIFEST_BYTES_MAX);
  if (manifest === null) throw wrongContent(reference, 'its manifest is larger than a registry may send');
  const found = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
  if (reference.digest !== null && found !== reference.digest) {
    throw new DocshelfError('wrong_digest', `Cannot use "${registry.shown}": its manifest has digest ${found}`, {
      next: 'The registry gave something else than was asked for: look at it, and at proxies on the way.',
      fields: { expected: reference.digest, found, retryable: false },
    });
  }
  return readBundleLayer(manifest.toString('utf8'), reference);
}

async function openLayer(
  registry: RegistryClient,
  layer: OciLayer,
  resume: OpenRequest['resume'],
  signal: AbortSignal,
): Promise<{ readonly response: HttpResponse; readonly offset: number }> {
  const target = `blobs/${layer.digest}`;
  if (resume !== null && resume.etag === etagOf(layer) && resume.offset < layer.sizeBytes) {
    const response = await registry.get(target, { range: `bytes=${resume.offset}-` }, signal);
    const range = `bytes ${resume.offset}-${layer.sizeBytes - 1}/${layer.sizeBytes}`;
    if (response.status === 206 && response.header('content-range') === range) {
      return { response, offset: resume.offset };
    }
    // Registries need not know ranges.
    if (response.status === 200) return { response, offset: 0 };
    response.close();
  }
  return { response: await registry.get(target, {}, signal), offset: 0 };
}

function etagOf(layer: OciLayer): string {
  return `"${layer.digest}"`;
}

/** The pushed file's name, else repository and tag, with which a version may end. */
function fileNameOf({ title, extension }: OciLayer, { registry, repository, tag }: OciReference): string | null {
  if (title !== null) {
    const name = bundleFileName(null, [`https://${registry}/${encodeURIComponent(title)}`]);
    if (name !== null) return name;
  }
  const stem = repository.split('/').at(-1) ?? '';
  return `${tag === null ? stem : `${stem}-${tag}`}${extension}`;
}
