import type { Config } from '../../config/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { collect } from '../../files/index.ts';
import type { EgressPolicy } from '../../net/egress.ts';
import { HttpClient } from '../../net/http-client.ts';

/** Providers' own have a few kilobytes. */
const DOCUMENT_BYTES_MAX = 1024 ** 2;

/**
 * The provider's document is its own (OpenID Connect Discovery 1.0, section 4).
 * @throws DocshelfError `source_failed` where it is another's or none; of the network
 */
export async function askIssuer(
  issuer: string,
  policy: EgressPolicy,
  network: Config['network'],
  signal: AbortSignal,
): Promise<void> {
  const client = new HttpClient(policy, network);
  const fault = (state: string): DocshelfError =>
    new DocshelfError('source_failed', `Cannot sign readers in by "${issuer}": ${state}`, {
      next: 'Set server.auth.issuer to the issuer as the provider writes it in its discovery document.',
    });
  try {
    const link = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await client.get(link, { signal, redirects: 'answer' });
    if (response.status !== 200) {
      response.close();
      throw fault(`its discovery document is answered with ${response.status}`);
    }
    const named = issuerIn(await collect(response.stream(), DOCUMENT_BYTES_MAX));
    if (named === null) throw fault('its discovery document names no issuer');
    if (new URL(named).href !== new URL(issuer).href) throw fault(`its discovery document is that of "${named}"`);
  } finally {
    await client.close();
  }
}

function issuerIn(document: Buffer | null): string | null {
  try {
    const { issuer } = JSON.parse(String(document)) as { readonly issuer?: unknown };
    return typeof issuer === 'string' && URL.canParse(issuer) ? issuer : null;
  } catch {
    return null;
  }
}
