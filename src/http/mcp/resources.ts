import { DocshelfError } from '../../domain/errors.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import type { Documentation } from './documentation.ts';
import { placeOf, resourceTemplate, resourceUri } from './page-address.ts';
import { servedRelease } from './served-release.ts';
import { cut, noPage } from './tools.ts';

const LIST_LENGTH = 100;
/** UTF-16 code units; the page's rest is for read_page. */
const TEXT_MAX = 200_000;
const MARKDOWN = 'text/markdown';

interface PageResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly mimeType: string;
}

/** @param cursor path of the last page before: it holds where a version takes another's place. @throws DocshelfError `bad_request` */
export async function listResources(
  site: Documentation,
  cursor: string | undefined,
): Promise<{ readonly resources: PageResource[]; readonly nextCursor?: string }> {
  const release = await site.release(null);
  if (release === null) return { resources: [] };
  const after = cursor === undefined ? '' : decodeOrKeep(cursor);
  if (cursor !== undefined && !after.startsWith('/')) {
    throw new DocshelfError('bad_request', 'Cannot list pages: the cursor is none that an answer gave');
  }
  const pages = (await release.pages()).filter((path) => path > after);
  const shown = pages.slice(0, LIST_LENGTH);
  const titles = await release.titles(shown);
  const resources = shown.map((path, at) => {
    const title = titles[at] ?? null;
    return { uri: resourceUri(path, site), name: path, ...(title !== null && { title }), mimeType: MARKDOWN };
  });
  const last = shown.at(-1);
  return {
    resources,
    ...(pages.length > LIST_LENGTH && last !== undefined && { nextCursor: encodeURIComponent(last) }),
  };
}

export function resourceTemplates(site: Documentation) {
  return [
    {
      uriTemplate: resourceTemplate(site),
      name: 'page',
      title: 'Page',
      description: 'A page of the documentation as Markdown, by its path.',
      mimeType: MARKDOWN,
    },
  ];
}

/** @throws DocshelfError `not_found`, `version_not_found`, `no_bundle`, `cannot_read`; the signal's reason */
export async function readResource(site: Documentation, uri: string, signal: AbortSignal) {
  const place = placeOf(uri, site);
  const page = place && (await (await servedRelease(site, place.version)).read(place.target, signal));
  if (page === null) throw noPage(uri);
  const { markdown } = page;
  const text = cut(markdown, 0, TEXT_MAX);
  const note = `\n\n[The page goes on: it has ${markdown.length} characters. Read the rest with read_page from offset ${text.length} on.]\n`;
  return { contents: [{ uri, mimeType: MARKDOWN, text: text.length < markdown.length ? text + note : text }] };
}
