import { charsetOfType } from '../../web/index.ts';
/** What an address answered, as the journal and the record of a crawl keep it. */
export interface FetchedUrl {
  /** In its canonical form. */
  readonly url: string;
  /** 200 where content is kept. */
  readonly status: number;
  /** Where a redirect leads: absolute, with its fragment. */
  readonly location: string | null;
  /** The Content-Type as it came; empty where there was none. */
  readonly contentType: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** An `X-Robots-Tag` forbids to follow its links. */
  readonly noFollow: boolean;
  /** The content as it came, decoded; null where none is kept. */
  readonly content: FetchedContent | null;
}

/** Where content is in a pack. */
export interface PackedAt {
  /** Name of the file. */
  readonly pack: string;
  readonly offset: number;
}

export interface FetchedContent {
  readonly sha256: string;
  readonly size: number;
  /** In a pack, where it is looked through; null: in the file store. */
  readonly packed: PackedAt | null;
}

/** The media type of a Content-Type, in lower case. */
export function mediaTypeOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The charset of a Content-Type, or null where it names none. */
export function charsetOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string | null {
  return charsetOfType(contentType);
}
