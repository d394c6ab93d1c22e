import { decodeReferences } from '../character-references.ts';
import type { Region } from '../region.ts';
import { AMP_LAYERS } from '../write.ts';

/** The region of an attribute's value, decoded. @param flags of `write.ts` */
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

  /** A CDATA section holds `&` as it is; where there is one, all references are taken to be in it. */
  region(parent: Region, end: number): Region {
    const layers = (parent.writing & AMP_LAYERS) + (this.#hasCdata ? 0 : 1);
    return parent.decoded(this.#text, [...this.#places, end], layers);
  }

  #copy(region: Region, start: number, end: number): void {
    this.#text += region.text.slice(start, end);
    for (let at = start; at < end; at++) this.#places.push(at);
  }
}
