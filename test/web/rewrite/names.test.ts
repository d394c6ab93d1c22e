import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Names } from '../../../src/web/rewrite/markup/names.ts';

describe('Names', () => {
  it('gives each name as it stands there, in lower case', () => {
    const name = fc.string({ unit: fc.constantFrom(...'aAbBzZ-é:'), minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 60 }), (all) => {
        const text = all.join(' ');
        const names = new Names(text);
        let start = 0;
        for (const each of all) {
          expect(names.at(start, start + each.length)).toBe(each.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
          start += each.length + 1;
        }
      }),
    );
  });
});
