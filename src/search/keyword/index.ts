/**
 * text -> words (`words`) -> terms (`terms`, `stem`) -> a SQLite file (`write`, `format`)
 * query -> parts (`parse-query`) -> what to look for (`plan`, `vocabulary`) -> scores (`ranking`, `accumulator`, `proximity`) -> hits
 */
export type { Mask } from './filter.ts';
export { type Highlight, highlightsOf } from './highlights.ts';
export { KeywordIndex } from './keyword-index.ts';
export { parseQuery } from './parse-query.ts';
export { RANKING, type Ranking } from './ranking.ts';
export type { SectionFacts } from './section-facts.ts';
export { type IndexedSection, KeywordIndexWriter } from './write/writer.ts';
