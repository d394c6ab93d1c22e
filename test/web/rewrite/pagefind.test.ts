import { describe, expect, it } from 'vitest';
import { pagefindFilesOfEntry, pagefindFilesOfMeta } from '../../../src/web/rewrite/generators/index.ts';

const text = (value: string): number[] => [0x60 + value.length, ...Buffer.from(value)];
const array = (...items: number[][]): number[] => [0x80 + items.length, ...items.flat()];
const FLOAT = [0xfa, 0x3f, 0x80, 0, 0];
const MARK = 'pagefind_dcd';
const meta = (...items: number[][]): string => MARK + Buffer.from(array(...items)).toString('latin1');

describe('pagefindFilesOfEntry()', () => {
  it('returns the shared files, and the index and program of each language', () => {
    const entry = {
      version: '1.6.0',
      languages: { en: { hash: 'en_1a2b', wasm: 'en', page_count: 2 }, xx: { hash: 'xx_0' } },
    };
    expect(pagefindFilesOfEntry({ text: JSON.stringify(entry) })).toEqual(
      expect.arrayContaining(['pagefind.js', 'pagefind.en_1a2b.pf_meta', 'wasm.en.pagefind', 'pagefind.xx_0.pf_meta']),
    );
  });

  it.each([
    '',
    '[]',
    'null',
    '{"languages":null}',
    '{"languages":{"en":null}}',
    '{"languages":{"en":{"hash":"../../x"}}}',
  ])('returns no index for %s', (entry) => {
    expect(pagefindFilesOfEntry({ text: entry }).filter((name) => name.endsWith('.pf_meta'))).toEqual([]);
  });
});

describe('pagefindFilesOfMeta()', () => {
  it('returns the fragments of pages, the index parts and the filters', () => {
    const pages = array(array(text('en_aa11'), [0x18, 200]), array(text('en_bb22'), [0x05]));
    const chunks = array(array(text('a'), text('m'), text('en_cc33')));
    const filters = array(array(text('tag'), text('en_dd44')));
    expect(pagefindFilesOfMeta({ text: meta(text('1.6.0'), pages, chunks, filters, FLOAT) })).toEqual([
      'fragment/en_aa11.pf_fragment',
      'fragment/en_bb22.pf_fragment',
      'index/en_cc33.pf_index',
      'filter/en_dd44.pf_filter',
    ]);
  });

  it.each([
    ['no data after the signature', MARK],
    ['another signature', 'something else'],
    ['truncated data', `${MARK}\x84\x65`],
    ['arrays without end', MARK + '\x81'.repeat(10_000)],
    ['names outside the folder', meta(text('1'), array(array(text('../x'))), array(), array())],
  ])('returns no files for %s', (_, unpacked) => {
    expect(pagefindFilesOfMeta({ text: unpacked })).toEqual([]);
  });
});
