import { filesOfGenerators } from '../generators/index.ts';
import { mayHoldUrls, readCss } from '../read-css.ts';
import { readImportMap, readSpeculationRules } from '../read-json.ts';
import { readDataLiterals, readMentions, readPageScript, readScript } from '../read-script.ts';
import type { FoundKind, ReferenceList, Region } from '../reference.ts';
import { decodeUnits, detachString } from '../source-text.ts';
import { CSS, LIST, LITERAL, SPECIFIER, UNQUOTED } from '../write.ts';
import { decodedRegion, ElementText } from './character-references.ts';
import {
  ADDRESS_METAS,
  ADDRESS_PARAMS,
  CSS_ATTRIBUTES,
  isLazyAttribute,
  isListAttribute,
  kindOfEmbedded,
  kindOfLink,
  PREVIEW_META,
  RAW_TEXT,
  ROBOTS_METAS,
  refreshSpan,
  ruleOf,
  scriptType,
  srcsetSpans,
} from './elements.ts';
import { type MarkupReader, MarkupScanner } from './scanner.ts';

export class DocumentFacts {
  base: string | null = null;
  hasBase = false;
  readonly importMaps: string[] = [];
  readonly robots: string[] = [];
}

const NESTED_MAX = 3;

export function readDocument(region: Region, list: ReferenceList, facts: DocumentFacts, isXml: boolean): void {
  new DocumentReader(region, list, facts, isXml, 0).run();
}

const SPECIAL: ReadonlySet<string> = new Set('link script meta base object embed param'.split(' '));

const NO_BASE = /^(?:data|javascript):/i;

class DocumentReader implements MarkupReader {
  readonly #facts: DocumentFacts;
  readonly #list: ReferenceList;
  readonly #region: Region;
  readonly #isXml: boolean;
  readonly #scanner: MarkupScanner;
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
    // In XML, ignore the prefix of a tag, because a document may write `svg:image` for `image`.
    const tag = this.#isXml ? scanner.tagName.slice(scanner.tagName.indexOf(':') + 1) : scanner.tagName;
    const nested = scanner.attributeCount > 0 ? this.#readAttributes(tag) : null;
    if (nested !== null) this.#readWithin(nested, new DocumentFacts());
    if (scanner.isHtml) this.#onHtmlContent(tag);
    else if ((tag === 'style' || tag === 'script') && !scanner.isSelfClosing) {
      this.#gathered = new ElementText(tag, this.#isXml);
      this.#gatheredType = this.#value('type');
    }
  }

  onEndTag(): void {
    this.#endGathering(this.#scanner.tagStart);
  }

  #onHtmlContent(tag: string): void {
    if (tag === 'plaintext') this.#scanner.skipAll();
    if (!RAW_TEXT.has(tag)) return;
    const type = tag === 'script' || tag === 'style' ? this.#value('type') : null;
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
      this.#facts.importMaps.push(detachString(decodeUnits(region.text)));
    }
  }

  /** Reads the content of conditional comments, `<!--[if …]>…<![endif]-->`, because old browsers read it as markup. */
  onComment(start: number, end: number): void {
    const { text } = this.#region;
    if (this.#isXml || !text.startsWith('[if', start) || start >= end) return;
    const condition = text.indexOf(']>', start);
    if (condition === -1 || condition >= end) return;
    this.#readWithin(this.#region.slice(condition + 2, end), new DocumentFacts());
  }

  #readAttributes(tag: string): Region | null {
    const scanner = this.#scanner;
    const rule = ruleOf(tag);
    let nested: Region | null = null;
    for (let index = 0; index < scanner.attributeCount; index++) {
      const name = this.#nameOf(index);
      // Skip `class` and `id` first to save time, because they are nearly half of all attributes.
      if (name === 'class' || name === 'id') continue;
      const kind = rule?.get(name) ?? (isLazyAttribute(name) ? kindOfLazy(tag, name) : undefined);
      const isOther = name === 'style' || (name === 'srcdoc' && tag === 'iframe') || name.startsWith('on');
      const isCss = !scanner.isHtml && CSS_ATTRIBUTES.has(name);
      if (kind === undefined && !isOther && !isCss) continue;
      // If an attribute is repeated in a tag, browsers use only the first.
      const isRepeated = scanner.indexOfAttribute(scanner.attributeName(index)) !== index;
      if (isRepeated || scanner.valueStart(index) === scanner.valueEnd(index)) continue;
      if (kind !== undefined) this.#addAttribute(kind, index, name);
      else if (name === 'srcdoc') nested = this.#decodedRegion(index, 0);
      else if (name === 'style' || isCss) this.#readCssAttribute(index);
      else readPageScript(this.#decodedRegion(index, 0), this.#list);
    }
    if (SPECIAL.has(tag)) this.#onSpecialElement(tag);
    return nested;
  }

  /**
   * Name of an attribute. In XML, `href` with any prefix becomes `xlink:href`, because a document may choose another prefix
   * for XLink.
   */
  #nameOf(index: number): string {
    const name = this.#scanner.attributeName(index);
    return this.#scanner.isXml && name.endsWith(':href') ? 'xlink:href' : name;
  }

  #onSpecialElement(tag: string): void {
    if (tag === 'link') {
      this.#addNamed(kindOfLink(this.#value('rel') ?? '', this.#value('as') ?? ''), 'href');
      this.#addNamed('asset', 'imagesrcset');
      this.#addIntegrity('href');
    } else if (tag === 'script') {
      const kind = scriptType(this.#value('type')) === 'data' ? 'lazy' : 'script';
      for (const name of ['src', 'href', 'xlink:href']) this.#addNamed(kind, name);
      this.#addIntegrity('src');
    } else if (tag === 'object' || tag === 'embed') {
      const name = tag === 'object' ? 'data' : 'src';
      this.#addNamed(kindOfEmbedded(this.#value('type') ?? '', this.#value(name)?.trim() ?? ''), name);
    } else if (tag === 'meta') this.#onMeta();
    else if (tag === 'base') this.#onBase();
    else if (ADDRESS_PARAMS.has(this.#value('name')?.toLowerCase() ?? '')) this.#addNamed('asset', 'value');
  }

  #onMeta(): void {
    const name = this.#value('name')?.trim().toLowerCase() ?? '';
    if (ADDRESS_METAS.has(name)) this.#addNamed('asset', 'content');
    if (PREVIEW_META.test(name) || PREVIEW_META.test(this.#value('property')?.trim() ?? ''))
      this.#addNamed('mounted', 'content');
    if (ROBOTS_METAS.has(name)) this.#facts.robots.push(detachString(this.#value('content') ?? ''));
    const source = { text: name, path: '', named: [], attribute: (each: string) => this.#value(each) };
    for (const file of filesOfGenerators('meta', source)) this.#list.mention(file);
    if (this.#value('http-equiv')?.trim().toLowerCase() !== 'refresh') return;
    const index = this.#scanner.indexOfAttribute('content');
    if (index === -1) return;
    const content = this.#decodedRegion(index, 0);
    const span = refreshSpan(content.text);
    if (span !== null) this.#list.add('link', content, ...span, content.text.slice(...span));
  }

  /** Reads the base address from the first `base` element with an `href`, because browsers ignore later ones. */
  #onBase(): void {
    const index = this.#scanner.indexOfAttribute('href');
    if (index === -1 || this.#facts.hasBase) return;
    this.#facts.hasBase = true;
    const href = this.#value('href')?.trim() ?? '';
    // Browsers ignore a `data:` or `javascript:` base, and use the address of the page (HTML standard, "set the frozen base URL").
    if (NO_BASE.test(href)) return;
    this.#facts.base = href;
    this.#addAttribute('base', index, 'href');
  }

  #addNamed(kind: FoundKind, name: string): void {
    const index = this.#scanner.indexOfAttribute(name);
    if (index !== -1 && this.#scanner.valueStart(index) !== this.#scanner.valueEnd(index))
      this.#addAttribute(kind, index, name);
  }

  /**
   * Adds the digest in an `integrity` attribute, with the address of its file. If docshelf rewrites this file, it must write a
   * new digest.
   */
  #addIntegrity(addressName: string): void {
    const index = this.#scanner.indexOfAttribute('integrity');
    const url = this.#value(addressName)?.trim() ?? '';
    if (index === -1 || url === '' || this.#scanner.writtenValue(index).trim() === '') return;
    const [start, end] = [this.#scanner.valueStart(index), this.#scanner.valueEnd(index)];
    const writing = this.#decodedRegion(index, LITERAL).writing;
    this.#list.push('integrity', this.#region.source(start), this.#region.source(end), url, writing);
  }

  #addAttribute(kind: FoundKind, index: number, name: string): void {
    const isList = isListAttribute(name);
    const isGuess = kind === 'lazy' || isLazyAttribute(name);
    const value = this.#decodedRegion(index, isList ? LIST : kind === 'module' ? SPECIFIER : 0);
    const { text } = value;
    if (isList) for (const span of srcsetSpans(text)) this.#list.add(kind, value, ...span, text.slice(...span));
    else if (isGuess && mayHoldUrls(text)) readCss(this.#decodedRegion(index, CSS), this.#list);
    else if (!isGuess || looksLikeAddress(text)) this.#list.add(kind, value, 0, text.length, text);
  }

  #readCssAttribute(index: number): void {
    const value = this.#scanner.writtenValue(index);
    // Search the attribute for an address before parsing it as CSS. Highlighted code has thousands of `style` attributes, most
    // without an address.
    if (mayHoldUrls(value) || value.includes('&')) readCss(this.#decodedRegion(index, CSS), this.#list);
  }

  #decodedRegion(index: number, flags: number): Region {
    const { isXml } = this.#scanner;
    const [start, end] = [this.#scanner.valueStart(index), this.#scanner.valueEnd(index)];
    return decodedRegion(this.#region, start, end, isXml, flags | (this.#scanner.isQuoted(index) ? 0 : UNQUOTED));
  }

  #value(name: string): string | null {
    const index = this.#scanner.indexOfAttribute(name);
    return index === -1 ? null : decodeUnits(this.#decodedRegion(index, 0).text);
  }
}

const kindOfLazy = (tag: string, name: string): FoundKind =>
  name === 'data-src' && (tag === 'iframe' || tag === 'frame') ? 'frame' : 'lazy';

const looksLikeAddress = (text: string): boolean => !/[\s{}<>"]|^[\d.,:%+-]*$/.test(text.trim()) && /[./]/.test(text);

/**
 * In XML that is not a page, reads only addresses of style sheets, and of pictures in `browserconfig`. Other addresses in
 * feeds are absolute on purpose.
 */
export function readFeed(region: Region, list: ReferenceList): void {
  const scanner = new MarkupScanner(region.text, true);
  let isTiles = false;
  scanner.read({
    onInstruction: (start, end) => readInstruction(region, start, end, list),
    onStartTag: () => {
      isTiles ||= scanner.tagName === 'browserconfig';
      if (isTiles) addAttribute('src', 'asset', scanner, region, list);
      else scanner.skipAll();
    },
  });
}

function readInstruction(region: Region, start: number, end: number, list: ReferenceList): void {
  if (!region.text.startsWith('xml-stylesheet', start)) return;
  const scanner = new MarkupScanner(`<${region.text.slice(start, end)}>`, true);
  // Begin the region one character before `start`, because the scanned text has an added `<` at its start.
  const inside = region.slice(start - 1, end);
  scanner.read({
    onStartTag: () => {
      const isXsl = !/css/i.test(scanner.attribute('type') ?? 'text/css');
      addAttribute('href', isXsl ? 'asset' : 'style', scanner, inside, list);
      scanner.skipAll();
    },
  });
}

function addAttribute(
  name: string,
  kind: 'asset' | 'style',
  scanner: MarkupScanner,
  region: Region,
  list: ReferenceList,
) {
  const index = scanner.indexOfAttribute(name);
  if (index === -1) return;
  const value = decodedRegion(region, scanner.valueStart(index), scanner.valueEnd(index), true, 0);
  list.add(kind, value, 0, value.text.length, value.text);
}
