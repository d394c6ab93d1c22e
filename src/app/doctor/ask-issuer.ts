import { DocshelfError } from '../../domain/errors.ts';
import { collect } from '../../files/index.ts';
import type { HttpClient } from '../../net/http-client.ts';

/** Providers' own have a few kilobytes. */
const DOCUMENT_BYTES_MAX = 1024 ** 2;

/**
 * The provider's document is its own (OpenID Connect Discovery 1.0, section 4).
 * @throws DocshelfError `source_failed` where it is another's or none; of the network
 */
export async function askIssuer(client: HttpClient, issuer: string, signal: AbortSignal): Promise<void> {
  const fault = (state: string): DocshelfError =>
    new DocshelfError('source_failed', `Cannot sign readers in by "${issuer}": ${state}`, {
      next: 'Set server.auth.issuer to the issuer as the provider writes it in its discovery document.',
    });
  const link = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await client.get(link, { signal, redirects: 'answer' });
  if (response.status !== 200) {
    response.close();
    throw fault(`its discovery document is answered with ${response.status}`);
  }
  const named = issuerIn(await collect(response.stream(), DOCUMENT_BYTES_MAX));
  if (named === null) throw fault('its discovery document names no issuer');
  if (new URL(named).href !== new URL(issuer).href) throw fault(`its discovery document is that of "${named}"`);
}

function issuerIn(document: Buffer | null): string | null {
  try {
    const { issuer } = JSON.parse(String(document)) as { readonly issuer?: unknown };
    return typeof issuer === 'string' && URL.canParse(issuer) ? issuer : null;
  } catch {
    return null;
  }
}
