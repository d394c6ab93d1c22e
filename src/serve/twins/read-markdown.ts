import type { BodyCache } from '../body-cache.ts';
import { UnmadeFile } from '../made/unmade-file.ts';
import { canonicalise } from '../request-target.ts';
import type { SiteSnapshot } from '../snapshot.ts';

export interface PageMarkdownText {
  /** Path of its file. */
  readonly page: string;
  /** Empty where it says none. */
  readonly title: string;
  readonly markdown: string;
}

/**
 * The Markdown of the page that readers get at an address, redirects within the site followed; null where they get none.
 *
 * @param path in the site, raw, with or without its first slash, query and fragment aside
 * @throws DocshelfError `cannot_read`, `release_damaged`, `worker_ended`, `deadline_exceeded`; the signal's reason
 */
export async function readMarkdown(
  snapshot: SiteSnapshot,
  bodies: BodyCache,
  path: string,
  signal?: AbortSignal,
): Promise<PageMarkdownText | null> {
  const target = canonicalise(path.startsWith('/') ? path : `/${path}`);
  const page = target.kind === 'path' ? snapshot.pages.pageAt(target.path) : null;
  const found = page === null ? null : snapshot.markdownOf(page);
  if (page === null || found === null) return null;
  const file = found instanceof UnmadeFile ? await found.make(bodies, signal) : found;
  const { bytes } = bodies.get(file, 'identity') ?? (await bodies.load(file, 'identity'));
  const markdown = bytes.toString('utf8');
  return { page, title: titleOf(markdown), markdown };
}

const FRONT_MATTER = /^---\r?\n([\s\S]{0,10000}?)\r?\n---\r?\n/;

function titleOf(markdown: string): string {
  const matter = FRONT_MATTER.exec(markdown)?.[1] ?? '';
  const said = /^title:[ \t]*(['"]?)(.*?)\1[ \t]*$/m.exec(matter)?.[2];
  return said || (/^# +(.+)$/m.exec(markdown)?.[1] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1').trim();
}
