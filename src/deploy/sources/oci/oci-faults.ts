import { DocshelfError } from '../../../domain/errors.ts';
import type { OciReference } from '../../../domain/oci-reference.ts';
import { linkWithoutSecrets, type Secret } from '../../../domain/secret.ts';
import type { HttpResponse } from '../../../net/http-response.ts';
import { retryAfterOf } from '../../../net/retry-after.ts';

/** The reference as a person wrote it. It holds no credential: those are in a file of their own. */
export function referenceText({ registry, repository, tag, digest }: OciReference): string {
  return `oci://${registry}/${repository}${tag === null ? `@${digest}` : `:${tag}`}`;
}

export function notAReference(link: Secret): DocshelfError {
  const shown = linkWithoutSecrets(link.reveal());
  return new DocshelfError('source_failed', `Cannot fetch "${shown}": it is no link to an OCI artifact`, {
    next: 'Write it as oci://registry/repository:tag, or with @sha256:… in place of the tag.',
    fields: { retryable: false },
  });
}

/** What is there is not what a bundle looks like. */
export function wrongContent(reference: OciReference, state: string): DocshelfError {
  return new DocshelfError('source_failed', `Cannot use "${referenceText(reference)}": ${state}`, {
    next: 'Push the bundle as an artifact of one layer: "oras push registry/repository:tag bundle.tar.gz".',
    fields: { retryable: false },
  });
}

/** An answer of the registry that is not what was asked for. Ends the exchange. */
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
          'Compare them with network.registryAuthFile, and give them the right to pull from this repository.',
        )
      : refusal(
          'link_refused',
          'the registry asks for credentials',
          `Put them into a docker config.json under "${reference.registry}", and name it in network.registryAuthFile.`,
        );
  }
  if (status === 404) return refusal('bundle_not_found', 'the registry has no such artifact', 'Check the reference.');
  if (status === 429 || status >= 500) {
    return refusal('source_failed', 'the registry cannot answer now', 'Try again later, or look at it.', true);
  }
  return refusal('source_failed', 'the registry answers with something else', 'Check the reference.');
}
