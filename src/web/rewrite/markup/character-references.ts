import { DecodingMode, HtmlEntityDecoder, XmlEntityDecoder } from 'entities/decode';
import type { Region } from '../reference.ts';
import { unitsOfText } from '../source-text.ts';
import { AMP_LAYERS } from '../write.ts';

/** Place of a character reference such as `&amp;`. The place decides which names exist and whether the semicolon may be missing. */
type ReferenceRule = 'attribute' | 'text' | 'xml';

type Decoded = { readonly text: string; readonly places: readonly number[] };

export function decodeReferences(text: string, start: number, end: number, rule: ReferenceRule): Decoded | null {
  const value = text.slice(start, end);
  if (!value.includes('&')) return null;
  let meaning = '';
  const emit = (codePoint: number): void => {
    meaning += String.fromCodePoint(codePoint);
  };
  const decoder = rule === 'xml' ? new XmlEntityDecoder(emit) : new HtmlEntityDecoder(emit);
  let decoded = '';
  const places: number[] = [];
  const copy = (from: number, to: number): void => {
    decoded += value.slice(from, to);
    for (let at = from; at < to; at++) places.push(start + at);
  };
  let copied = 0;
  for (let at = value.indexOf('&'); at !== -1; at = value.indexOf('&', at)) {
    meaning = '';
    decoder.startEntity(MODES[rule]);
    const written = decoder.write(value, at + 1);
    const length = written < 0 ? decoder.end() : written;
    if (length === 0) at += 1;
    else {
      copy(copied, at);
      const units = unitsOfText(meaning);
      decoded += units;
      for (let unit = 0; unit < units.length; unit++) places.push(start + at);
      at += length;
      copied = at;
    }
  }
  copy(copied, value.length);
  places.push(end);
  return { text: decoded, places };
}

const MODES: Readonly<Record<ReferenceRule, DecodingMode>> = {
  attribute: DecodingMode.Attribute,
  text: DecodingMode.Legacy,
  xml: DecodingMode.Strict,
};

export function decodedRegion(region: Region, start: number, end: number, isXml: boolean, flags: number): Region {
  const writing = ((region.writing & AMP_LAYERS) + 1) | flags;
  const decoded = decodeReferences(region.text, start, end, isXml ? 'xml' : 'attribute');
  return decoded === null ? region.slice(start, end, writing) : region.decoded(decoded.text, decoded.places, writing);
}

export class ElementText {
  readonly name: string;
  #text = '';
  #hasCdata = false;
  readonly #places: number[] = [];
  readonly #isXml: boolean;

  constructor(name: string, isXml: boolean) {
    this.name = name;
    this.#isXml = isXml;
  }

  add(region: Region, start: number, end: number): void {
    const decoded = decodeReferences(region.text, start, end, this.#isXml ? 'xml' : 'text');
    if (decoded === null) {
      this.#copy(region, start, end);
      return;
    }
    this.#text += decoded.text;
    for (const place of decoded.places.slice(0, -1)) this.#places.push(place);
  }

  addCdata(region: Region, start: number, end: number): void {
    this.#hasCdata = true;
    this.#copy(region, start, end);
  }

  /**
   * Text of the element as a region to search for addresses. If the element contains a CDATA section, where `&` is not escaped, all
   * of its text counts as CDATA.
   */
  region(parent: Region, end: number): Region {
    const layers = (parent.writing & AMP_LAYERS) + (this.#hasCdata ? 0 : 1);
    return parent.decoded(this.#text, [...this.#places, end], layers);
  }

  #copy(region: Region, start: number, end: number): void {
    this.#text += region.text.slice(start, end);
    for (let at = start; at < end; at++) this.#places.push(at);
  }
}
