import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, SiteConfig } from '../../config/index.ts';
import { writeOnce } from '../../files/index.ts';
import { PREVIEW_MS, PreviewPasses } from '../../http/site/preview-passes.ts';
import { siteOrigin } from '../../http/site/site-routes.ts';

const KEY_BYTES = 32;

/**
 * Keys that encrypt session cookies and preview links. docshelf encrypts with the first key, and decrypts with all keys.
 * @throws DocshelfError `cannot_read`, `cannot_write`
 */
export async function sessionKeys({ server, storage }: Config): Promise<readonly string[]> {
  const { sessionKeyFile } = server.auth;
  if (sessionKeyFile !== null) return sessionKeyFile.lines;
  const file = join(storage.dir, 'session.key');
  await writeOnce(file, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, 0o600);
  return [(await readFile(file, 'utf8')).trim()];
}

export type VersionPreview = Awaited<ReturnType<typeof previewLink>>;

export function previewPasses({ config, basePath }: SiteConfig, domain: string): PreviewPasses {
  const { publicUrl, tls } = config.server;
  const isSecure = publicUrl === null ? tls.certFile !== null : publicUrl.startsWith('https:');
  return new PreviewPasses({ keys: () => sessionKeys(config), site: domain, basePath, isSecure });
}

/**
 * Returns a preview link to a version. Any client that has the link can open the version.
 * @throws DocshelfError `cannot_read`, `cannot_write`
 */
export async function previewLink(
  site: SiteConfig,
  release: { readonly domain: string; readonly version: string; readonly digest: string },
  port: number,
) {
  const { domain, version, digest } = release;
  const expiresAt = new Date(Date.now() + PREVIEW_MS).toISOString();
  const target = await previewPasses(site, domain).target({ version, digest });
  return { version, digest, link: originOf(site, port) + target, expiresAt };
}

const ANY_HOST = /^(?:0\.0\.0\.0|::)$/;

export function originOf({ config, hosts }: SiteConfig, port: number): string {
  const { publicUrl, host, tls } = config.server;
  const scheme = tls.certFile === null ? 'http' : 'https';
  const own = ANY_HOST.test(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return siteOrigin(publicUrl ?? `${scheme}://${own}:${port}`, hosts);
}
