/**
 * text -> words (`words`) -> terms (`terms`, `stem`) -> one SQLite file (`writer`, `format`)
 * query -> parts (`parse-query`) -> what to look for (`plan`, `vocabulary`) -> scores (`ranking`, `accumulator`, `proximity`) -> hits
 */
export type { Filter, Mask } from './filter.ts';
export { type Highlight, highlightsOf } from './highlights.ts';
export { type Exact, type Findings, type KeywordHit, KeywordIndex, type SearchOptions } from './keyword-index.ts';
export { type ParsedQuery, parseQuery } from './parse-query.ts';
export { RANKING, type Ranking } from './ranking.ts';
export { type IndexedSection, KeywordIndexWriter } from './writer.ts';
