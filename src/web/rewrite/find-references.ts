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
import type { SourceType } from './source-type.ts';
import { CSS } from './write.ts';

export interface ReferringFile {
  readonly type: SourceType;
  readonly bytes: Uint8Array;
  /** The encoding standard's name; null: the one that the file itself says, else UTF-8. */
  readonly charset: string | null;
  /** The path that it is answered at, if known: Vite's modules name others from a folder above it. */
  readonly path?: string;
}

export function textOf({ bytes, charset, type }: ReferringFile): SourceText {
  return sourceText(bytes, (text) => charset ?? markedCharset(bytes) ?? ownCharset(text, type) ?? 'utf-8');
}

/** Never fails: a faulty file has fewer references. */
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
