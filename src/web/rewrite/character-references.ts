import { DecodingMode, HtmlEntityDecoder, XmlEntityDecoder } from 'entities/decode';
import { unitsOfReference } from './source-text.ts';

/** The place decides which references without a semicolon count, and which names there are. */
type ReferenceRule = 'attribute' | 'text' | 'xml';

interface Decoded {
  readonly text: string;
  /** Place of each unit of `text`, and of its end, in the text that was decoded. */
  readonly places: readonly number[];
}

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
      const units = unitsOfReference(meaning);
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
