import type { BodyCache } from '../body-cache.ts';
import { UnmadeFile } from '../made/unmade-file.ts';
import { canonicalise } from '../request-target.ts';
import type { SiteSnapshot } from '../snapshot.ts';

export interface PageMarkdownText {
  /** Empty where it says none. */
  readonly title: string;
  readonly markdown: string;
}

/**
 * The Markdown of a page, as readers get it. @param path of its file or address in the site, with or without its first slash, query
 * and fragment aside; null where there is no such page
 *
 * @throws DocshelfError `cannot_read`, `release_damaged`, `worker_ended`
 */
export async function readMarkdown(
  snapshot: SiteSnapshot,
  bodies: BodyCache,
  path: string,
): Promise<PageMarkdownText | null> {
  const target = canonicalise(path.startsWith('/') ? path : `/${path}`);
  const found = target.kind === 'path' ? snapshot.markdownAt(target.path) : null;
  if (found === null) return null;
  const file = found instanceof UnmadeFile ? await found.make(bodies) : found;
  const { bytes } = bodies.get(file, 'identity') ?? (await bodies.load(file, 'identity'));
  const markdown = bytes.toString('utf8');
  return { title: titleOf(markdown), markdown };
}

const FRONT_MATTER = /^---\r?\n([\s\S]{0,10000}?)\r?\n---\r?\n/;

function titleOf(markdown: string): string {
  const matter = FRONT_MATTER.exec(markdown)?.[1] ?? '';
  const said = /^title:[ \t]*(['"]?)(.*?)\1[ \t]*$/m.exec(matter)?.[2];
  return said || (/^# +(.+)$/m.exec(markdown)?.[1] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1').trim();
}
