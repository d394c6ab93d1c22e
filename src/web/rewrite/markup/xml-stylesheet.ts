import type { ReferenceList } from '../reference-list.ts';
import type { Region } from '../region.ts';
import { decodedRegion } from './mapped-text.ts';
import { MarkupScanner } from './scanner.ts';

const NAME = 'xml-stylesheet';

/**
 * Reads an instruction: of `<?xml-stylesheet href="…"?>` what looks like attributes is read as such (Associating Style Sheets
 * with XML documents 1.0).
 *
 * @param start of what is inside it, up to `end`
 */
export function readInstruction(region: Region, start: number, end: number, list: ReferenceList): void {
  if (!region.text.startsWith(NAME, start)) return;
  const data = region.slice(start + NAME.length, end);
  // Closed so that the data are a tag's inside.
  const scanner = new MarkupScanner(`${data.text}>`, true);
  scanner.readAttributes(0);
  const [index, type] = [scanner.indexOfAttribute('href'), scanner.indexOfAttribute('type')];
  if (index === -1) return;
  const isXsl = type !== -1 && !/css/i.test(data.text.slice(scanner.valueStart(type), scanner.valueEnd(type)));
  const value = decodedRegion(data, scanner.valueStart(index), scanner.valueEnd(index), true, 0);
  list.add(isXsl ? 'asset' : 'style', value, 0, value.text.length, value.text);
}
