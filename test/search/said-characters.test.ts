import { describe, expect, it } from 'vitest';
import { SaidCharacters } from '../../src/search/bundle-data/said-characters.ts';
import type { Section } from '../../src/search/section.ts';

const MARKUP = 4;
const OF_PAGE = { path: '/a', title: 'Home', language: 'en', version: '1', tags: ['oil'] };

/** What each adds to the sum. */
function added(sections: readonly Partial<Section>[]): number[] {
  const said = new SaidCharacters();
  let before = 0;
  return sections.map((section) => {
    const sum = said.add({ ...OF_PAGE, headings: [], text: '', ...section });
    const more = sum - before - MARKUP;
    before = sum;
    return more;
  });
}

describe('SaidCharacters', () => {
  it('counts once what the sections of a page repeat', () => {
    expect(
      added([
        { headings: ['Home'], text: 'abc' },
        { headings: ['Home', 'Keys'], text: 'abc' },
        { headings: ['Home', 'Keys', 'Rotate'], text: 'a' },
        { headings: ['Home', 'Server'], text: 'ab' },
      ]),
    ).toEqual(['Home'.length + 'en1oil'.length + 'Home'.length + 3, 'Keys'.length + 3, 'Rotate'.length + 1, 8]);
  });

  it('counts all that changes from one section to the next, and back', () => {
    const [, ...others] = added([
      {},
      { tags: ['lantern', 'oil'] },
      { tags: ['oil'], title: 'Guide' },
      { documentTitle: 'Docs' },
      { language: 'de', version: null, title: 'Home' },
    ]);
    expect(others).toEqual(['lanternoil'.length, 'oilGuide'.length, 'DocsHome'.length, 'de'.length]);
  });
});
