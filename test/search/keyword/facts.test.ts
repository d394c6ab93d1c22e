import { describe, expect, it } from 'vitest';
import { indexOf } from './index-folder.ts';

const SECTIONS = [
  { text: 'Rotate keys of Kubernetes clusters.', language: 'en', version: 'v2', tags: ['a', 'b'] },
  { text: 'Kubernetes again.', language: 'en', version: 'v1', tags: ['a'] },
  { text: 'Chaves.', language: 'pt-BR', version: 'v2', tags: ['a'] },
];

describe('KeywordIndex, corrections and facets', () => {
  it.each([
    ['kubwrnetes', 'kubernetes'],
    ['rotate "kubwrnetes" keys', 'rotate "kubernetes" keys'],
    ['kubernetes', null],
    ['the kubernetes', null],
    ['zzzzzzzz', null],
    ['k8s', null],
    ['', null],
    ['kuberne', null],
  ])('proposes for the query "%s" the correction %j', (query, corrected) => {
    expect(indexOf(SECTIONS).readings(query, true).corrected).toBe(corrected);
  });

  it('proposes a correction for a complete word, but not for the beginning of an indexed word', () => {
    expect(indexOf([{ text: 'cluster' }]).readings('cluste', true).corrected).toBeNull();
    expect(indexOf([{ text: 'cluster' }]).readings('cluste', false).corrected).toBe('cluster');
  });

  it('corrects a misspelled setting name as a whole word, and does not correct a name that the index contains', () => {
    const index = indexOf([{ text: 'Set maintenance_work_mem and work_mem.' }]);
    expect(index.readings('maintainance_work_mem', false).corrected).toBe('maintenance_work_mem');
    expect(index.readings('maintenance_work_mem', false).corrected).toBeNull();
  });

  it('proposes no correction for a word that the index contains only joined with its neighbor in the query', () => {
    const index = indexOf([{ text: 'The inner intersphinx mapping of Sphinx.' }]);
    expect(index.readings('inter sphinx', false).corrected).toBeNull();
    expect(index.readings('inter mapping', false).corrected).toBe('inner mapping');
  });

  it('lists up to 50 languages, versions and tags by frequency, and omits a facet with a single value', () => {
    expect(indexOf(SECTIONS).facets).toEqual({
      languages: ['en', 'pt-BR'],
      versions: ['v2', 'v1'],
      tags: ['a', 'b'],
    });
    expect(indexOf([{ text: 'one', language: 'en' }]).facets).toEqual({ languages: [], versions: [], tags: [] });
    const many = Array.from({ length: 120 }, (_, at) => ({ text: 'x', tags: [`t${at}`] }));
    expect(indexOf(many).facets.tags).toHaveLength(50);
  });
});
