import { expect, it } from 'vitest';
import { openSearchAnswer, shortName } from '../../../src/http/site/page-answer.ts';
import { ENGLISH } from '../../../src/web/words/index.ts';

const HOSTILE = '\u0000<&>"\ud800 Handbook of the whole of Acme and all of its daughters';
const SEARCH = { name: HOSTILE, address: 'https://docs.acme.test/a&b/', language: ENGLISH };

it('openSearchAnswer() escapes and shortens the name of the search to the limits of the format', async () => {
  const answer = openSearchAnswer(SEARCH);
  const text = await answer.text();
  expect(answer.headers.get('content-length')).toBe(`${Buffer.byteLength(text)}`);
  const of = (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];
  expect(of('ShortName')).toBe('\ufffd&lt;&amp;&gt;&quot;\ufffd Handbook');
  expect(of('LongName')).toBe('\ufffd&lt;&amp;&gt;&quot;\ufffd Handbook of the whole of Acme and all of');
  expect(text).toContain('template="https://docs.acme.test/a&amp;b/_docshelf/search?q={searchTerms}"');
});

it('shortName() keeps 16 characters, and splits no character', () => {
  expect(shortName(`${'a'.repeat(15)}😀😀`)).toBe(`${'a'.repeat(15)}😀`);
});
