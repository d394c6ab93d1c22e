import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { normalBasePath } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { table } from '../table.ts';
import { storedRelease } from './stored-release.ts';

interface FileLeft {
  readonly file: string;
  /** Distinct, as they are written; none: the file is too large to be rewritten. */
  readonly addresses: readonly string[];
}

type BasePathAudit = Awaited<ReturnType<typeof auditBasePath>>;

const BASE_PATH = /^\/(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+(?:\/|$))*$/;
const SHOWN_MAX = 50;
/** Of one file. */
const ADDRESSES_SHOWN_MAX = 3;

/** What of a stored version would still lead out of a base path. @throws DocshelfError `usage`, `version_not_found`. */
export async function auditBasePath(version: string, written: string, config: Config) {
  if (!BASE_PATH.test(written)) {
    throw new DocshelfError('usage', `Cannot audit "${version}": "${written}" is no base path`, {
      next: 'Give a path that begins with a slash, such as /docs/.',
    });
  }
  const { answers, isData, isMountable, isTooLargeToMount, leftAddresses, mountFile } = await import(
    '../../web/mount/index.ts'
  );
  const { siteDir, files, digest, builtFor } = await storedRelease(version, config, 'audit');
  const site = { from: builtFor, to: normalBasePath(written), has: (path: string) => answers(files, path) };
  const left: FileLeft[] = [];
  let rewritten = 0;
  for (const { path, type, size } of site.from === site.to ? [] : files.values()) {
    if (isTooLargeToMount({ path, type }, size)) left.push({ file: path, addresses: [] });
    if (!isMountable(path, type, size) && !isData(path, size)) continue;
    const file = { path, type, bytes: await readFile(join(siteDir, path)) };
    if (mountFile(file, site) !== file.bytes) rewritten += 1;
    const addresses = leftAddresses(file, site);
    if (addresses.length > 0) left.push({ file: path, addresses });
  }
  return { version, digest, basePath: site.to, builtFor, files: files.size, rewritten, left };
}

export function basePathText({ version, basePath, builtFor, files, rewritten, left }: BasePathAudit): string {
  if (builtFor === basePath) return `Version ${version} was built for ${basePath}: nothing is rewritten.`;
  const head = `Version ${version}, built for ${builtFor}, at ${basePath}: files rewritten: ${rewritten} of ${files}.`;
  if (left.length === 0) return `${head} No address is known to be left.`;
  const rows = left.slice(0, SHOWN_MAX).map(({ file, addresses }) => [file, shown(addresses)]);
  const more = left.length - rows.length;
  return [
    head,
    `In ${counted(left.length, 'file')} addresses stay as they are; scripts that use them lead out of ${basePath}.`,
    table([['FILE', 'ADDRESSES'], ...rows]),
    ...(more > 0 ? [`and ${counted(more, 'more file')}`] : []),
  ].join('\n');
}

function shown(addresses: readonly string[]): string {
  if (addresses.length === 0) return 'the file is too large to be rewritten';
  const more = addresses.length - ADDRESSES_SHOWN_MAX;
  return addresses.slice(0, ADDRESSES_SHOWN_MAX).join(' ') + (more > 0 ? ` and ${more} more` : '');
}
