import { describe, expect, it } from 'vitest';
import { editDistance } from '../../../src/domain/text.ts';
import { ENGLISH } from '../../../src/search/keyword/languages.ts';
import { Vocabulary } from '../../../src/search/keyword/vocabulary.ts';

const WORDS = ['authentication', 'authorization', 'cache', 'catch', 'config', 'configuration', 'configure', 'port'];
const vocabulary = new Vocabulary({
  words: WORDS,
  counts: Uint32Array.from([5, 4, 3, 9, 7, 8, 2, 1]),
  masks: new Uint32Array(WORDS.length).fill(1),
  languages: [ENGLISH],
  spellings: new Map(),
});
const near = (word: string) => vocabulary.near(word, 4).map((candidate) => candidate.word);

describe('editDistance()', () => {
  it.each<[string, string, number]>([
    ['cache', 'cache', 0],
    ['cache', 'cahce', 1],
    ['cache', 'cach', 1],
    ['cache', 'caches', 1],
    ['cache', 'czche', 1],
    ['cache', 'cacao', 2],
    ['cache', 'port', 3],
  ])('returns for the words %s and %s the distance %i, with 3 for every distance above 2', (left, right, distance) => {
    expect([editDistance(left, right, 2), editDistance(right, left, 2)]).toEqual([distance, distance]);
  });
});

describe('Vocabulary (words of the keyword index)', () => {
  it('finds words with a prefix, the most frequent first', () => {
    expect(vocabulary.startingWith('config', 10)).toEqual([
      { word: 'configuration', distance: 0, count: 8 },
      { word: 'configure', distance: 0, count: 2 },
    ]);
    expect(vocabulary.startingWith('zz', 10)).toEqual([]);
    expect(vocabulary.startingWith('c', 2).map((candidate) => candidate.word)).toEqual(['catch', 'configuration']);
  });

  it('finds words at edit distance 1, ordered by distance and frequency', () => {
    expect(near('cacth')).toEqual(['catch']);
    expect(near('catche')).toEqual(['catch', 'cache']);
    expect(near('configuer')).toEqual(['configure']);
  });

  it('finds words at edit distance 2 if the word has eight or more letters', () => {
    expect(near('atuhentcation')).toEqual(['authentication']);
    expect(near('cnofgi')).toEqual([]);
  });

  it('finds for a word of up to five letters only words with the same first letter', () => {
    expect(near('pork')).toEqual(['port']);
    expect(near('fort')).toEqual([]);
    expect(near('oprt')).toEqual(['port']);
    expect(near('xonfig')).toEqual(['config']);
  });

  it('finds no similar word for words of three letters', () => {
    expect(near('prt')).toEqual([]);
  });
});
