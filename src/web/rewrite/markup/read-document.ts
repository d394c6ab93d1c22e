import { readDataLiterals, readMentions } from '../mentions.ts';
import { readCss } from '../read-css.ts';
import { readImportMap, readSpeculationRules } from '../read-json.ts';
import { readPageScript } from '../read-page-script.ts';
import { readScript } from '../read-script.ts';
import type { ReferenceList } from '../reference-list.ts';
import type { Region } from '../region.ts';
import { decodeUnits, ownString } from '../source-text.ts';
import { RAW_TEXT, scriptType } from './elements.ts';
import { ForeignStack } from './foreign-stack.ts';
import { ElementText } from './mapped-text.ts';
import { readInstruction } from './read-feed.ts';
import { type MarkupReader, MarkupScanner } from './scanner.ts';
import { DocumentFacts, TagReader } from './tag-reader.ts';

/** Documents within each other (`srcdoc`); deeper ones are not read. */
const NESTED_MAX = 3;

export function readDocument(region: Region, list: ReferenceList, facts: DocumentFacts, isXml: boolean): void {
  new DocumentReader(region, list, facts, isXml, 0).run();
}

class DocumentReader implements MarkupReader {
  readonly #facts: DocumentFacts;
  readonly #list: ReferenceList;
  readonly #region: Region;
  readonly #isXml: boolean;
  readonly #scanner: MarkupScanner;
  readonly #foreign = new ForeignStack();
  readonly #tags: TagReader;
  readonly #depth: number;
  #gathered: ElementText | null = null;
  #gatheredType: string | null = null;

  constructor(region: Region, list: ReferenceList, facts: DocumentFacts, isXml: boolean, depth: number) {
    this.#region = region;
    this.#list = list;
    this.#facts = facts;
    this.#isXml = isXml;
    this.#depth = depth;
    this.#scanner = new MarkupScanner(region.text, isXml);
    this.#tags = new TagReader(this.#scanner, region, list, facts);
  }

  run(): void {
    this.#scanner.read(this);
    this.#endGathering(this.#region.text.length);
  }

  onText(start: number, end: number): void {
    this.#gathered?.add(this.#region, start, end);
  }

  onCdata(start: number, end: number): void {
    this.#gathered?.addCdata(this.#region, start, end);
  }

  onInstruction(start: number, end: number): void {
    readInstruction(this.#region, start, end, this.#list);
  }

  onStartTag(): void {
    const scanner = this.#scanner;
    this.#endGathering(scanner.tagStart);
    // In XML `svg:image` is `image`.
    const tag = this.#isXml ? scanner.tagName.slice(scanner.tagName.indexOf(':') + 1) : scanner.tagName;
    const isHtml = !this.#isXml && this.#foreign.open(tag, scanner.isSelfClosing);
    if (!this.#isXml) scanner.allowsCdata = this.#foreign.isForeign;
    const nested = scanner.attributeCount > 0 ? this.#tags.read(tag, isHtml) : null;
    // Its base is its own.
    if (nested !== null) this.#readWithin(nested, new DocumentFacts());
    if (isHtml) this.#onHtmlContent(tag);
    else if ((tag === 'style' || tag === 'script') && !scanner.isSelfClosing) {
      this.#gathered = new ElementText(tag, this.#isXml);
      this.#gatheredType = this.#tags.value('type');
    }
  }

  onEndTag(): void {
    this.#endGathering(this.#scanner.tagStart);
    if (this.#isXml || this.#foreign.isEmpty) return;
    this.#foreign.close(this.#scanner.tagName);
    this.#scanner.allowsCdata = this.#foreign.isForeign;
  }

  #onHtmlContent(tag: string): void {
    if (tag === 'plaintext') this.#scanner.skipAll();
    if (!RAW_TEXT.has(tag)) return;
    const type = tag === 'script' || tag === 'style' ? this.#tags.value('type') : null;
    const [start, end] = [this.#scanner.contentStart, this.#scanner.skipRawText()];
    if (start === end) return;
    if (tag === 'script') this.#readScript(this.#region.slice(start, end), type);
    else if (tag === 'style') this.#readStyle(this.#region.slice(start, end), type);
    else if (tag === 'noscript' || tag === 'noframes') this.#readWithin(this.#region.slice(start, end), this.#facts);
  }

  #readWithin(region: Region, facts: DocumentFacts): void {
    if (this.#depth < NESTED_MAX) new DocumentReader(region, this.#list, facts, false, this.#depth + 1).run();
  }

  #endGathering(end: number): void {
    const gathered = this.#gathered;
    if (gathered === null) return;
    this.#gathered = null;
    const region = gathered.region(this.#region, end);
    if (gathered.name === 'style') this.#readStyle(region, this.#gatheredType);
    else this.#readScript(region, this.#gatheredType);
  }

  #readStyle(region: Region, type: string | null): void {
    if (type === null || type === '' || type.trim().toLowerCase() === 'text/css') readCss(region, this.#list);
  }

  #readScript(region: Region, type: string | null): void {
    const kind = scriptType(type);
    readMentions(region, this.#list, 'page script');
    if (kind === 'classic' || kind === 'module') {
      readScript(region, this.#list);
      readPageScript(region, this.#list);
      readDataLiterals(region, this.#list);
    } else if (kind === 'speculationrules') readSpeculationRules(region, this.#list);
    else if (kind === 'importmap') {
      readImportMap(region, this.#list);
      this.#facts.importMaps.push(ownString(decodeUnits(region.text, this.#list.charset)));
    }
  }

  /** `<!--[if …]>…<![endif]-->`, a document to some old readers. */
  onComment(start: number, end: number): void {
    const { text } = this.#region;
    if (this.#isXml || !text.startsWith('[if', start) || start >= end) return;
    const condition = text.indexOf(']>', start);
    if (condition === -1 || condition >= end) return;
    this.#readWithin(this.#region.slice(condition + 2, end), new DocumentFacts());
  }
}
