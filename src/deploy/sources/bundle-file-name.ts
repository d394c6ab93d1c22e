import { parse } from 'content-disposition';
import { decodeOrKeep } from '../../net/decode-or-keep.ts';

const ARCHIVE = /\.(?:tar|tar\.gz|tgz|tar\.zst|zip)$/i;

/**
 * The bundle's file name: the server's (Content-Disposition), else the end of a link's path, by preference one that is
 * an archive's. A redirect may lead to a name that says nothing, or from one: both links are looked at.
 *
 * @param links the link that was asked for, and where redirects led.
 */
export function bundleFileName(contentDisposition: string | null, links: readonly string[]): string | null {
  const given = contentDisposition === null ? null : plainName(parse(contentDisposition).parameters.filename ?? '');
  if (given !== null) return given;
  const names = links.map((link) => plainName(decodeOrKeep(new URL(link).pathname))).filter((name) => name !== null);
  return names.find((name) => ARCHIVE.test(name)) ?? names.at(-1) ?? null;
}

/** The last segment, fit to be printed and to be a label's source; it is never used as a path. */
function plainName(path: string): string | null {
  const name =
    path
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/[\u0000-\u001f\u007f]/g, '') ?? '';
  return name === '' || name === '.' || name === '..' || name.length > 255 ? null : name;
}
