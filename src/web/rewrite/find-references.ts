import { charsetInCss, charsetInMarkup, markedCharset } from '../charset.ts';
import { filesOfGenerators } from './generators/index.ts';
import { readDocument } from './markup/read-document.ts';
import { readFeed } from './markup/read-feed.ts';
import { DocumentFacts } from './markup/tag-reader.ts';
import { readCss } from './read-css.ts';
import { readManifest } from './read-json.ts';
import { readFileScript } from './read-page-script.ts';
import { readScript } from './read-script.ts';
import type { FoundReferences } from './reference.ts';
import { ReferenceList } from './reference-list.ts';
import { Region } from './region.ts';
import { ownStrings, type SourceText, sourceText } from './source-text.ts';
import { CSS } from './write.ts';

/**
 * How a file is read. `xml` is SVG and XHTML, `feed` all other XML; `script` is JavaScript, module or not; `manifest` a web app
 * manifest.
 */
export type SourceType = 'html' | 'xml' | 'feed' | 'css' | 'script' | 'manifest';

const SOURCE_TYPES: ReadonlyMap<string, SourceType> = new Map([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'xml'],
  ['image/svg+xml', 'xml'],
  ['application/xml', 'feed'],
  ['text/xml', 'feed'],
  ['application/rss+xml', 'feed'],
  ['application/atom+xml', 'feed'],
  ['text/css', 'css'],
  ['text/javascript', 'script'],
  ['application/javascript', 'script'],
  ['application/x-javascript', 'script'],
  ['application/ecmascript', 'script'],
  ['text/ecmascript', 'script'],
  ['application/manifest+json', 'manifest'],
]);

/**
 * How a file of that media type is read, or null where it holds no reference that can be found. A web app manifest that is
 * sent as JSON is known by the page that names it (`manifest`).
 */
export function sourceTypeOf(mediaType: string): SourceType | null {
  const end = mediaType.indexOf(';');
  const type = (end === -1 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
  return SOURCE_TYPES.get(type) ?? null;
}

export interface ReferringFile {
  readonly type: SourceType;
  readonly bytes: Uint8Array;
  /** As the encoding standard names it; null for the one that the file itself says, and UTF-8 where it says none. */
  readonly charset: string | null;
  /** The path that the file is answered at, if known: Vite's modules name others from a folder above it. */
  readonly path?: string;
}

/** The text of a file, decoded for all who read it. */
export function textOf({ bytes, charset, type }: ReferringFile): SourceText {
  return sourceText(bytes, (text) => charset ?? markedCharset(bytes) ?? ownCharset(text, type) ?? 'utf-8');
}

/** Everything that a file refers to. Never fails: what is no HTML, CSS or JavaScript has fewer references. */
export function findReferences(file: ReferringFile, { units, charset } = textOf(file)): FoundReferences {
  const list = new ReferenceList(charset, file.path ?? null);
  const page = new DocumentFacts();
  const region = new Region(units);
  let payloads: readonly string[] = [];
  switch (file.type) {
    case 'html':
    case 'xml':
      readDocument(region, list, page, file.type === 'xml');
      if (file.type === 'html' && file.path !== undefined)
        payloads = filesOfGenerators('page', { text: units, path: file.path, named: [] });
      break;
    case 'feed':
      readFeed(region, list);
      break;
    case 'css':
      readCss(new Region(units, CSS), list);
      break;
    case 'script':
      readScript(region, list);
      readFileScript(region, list);
      break;
    case 'manifest':
      readManifest(region, list);
      break;
  }
  const { base, importMaps, robots } = page;
  return { charset, urls: ownStrings(list.urls), spans: list.spans, base, importMaps, robots, payloads };
}

function ownCharset(text: string, type: SourceType): string | null {
  if (type === 'html' || type === 'xml') return charsetInMarkup(text);
  return type === 'css' ? charsetInCss(text) : null;
}
