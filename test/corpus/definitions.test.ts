import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { IndexedBundle } from './indexed-bundle.ts';

/** Questions for names, and the anchors of their definitions. */
const SPHINX: readonly (readonly [question: string, address: string])[] = [
  ['Sphinx.add_builder', '/extdev/appapi.html#sphinx.application.Sphinx.add_builder'],
  ['setup_extension', '/extdev/appapi.html#sphinx.application.Sphinx.setup_extension'],
  ['sphinx.application.Sphinx', '/extdev/appapi.html#sphinx.application.Sphinx'],
  ['env-before-read-docs', '/extdev/appapi.html#event-env-before-read-docs'],
  ['html_static_path', '/usage/configuration.html#confval-html_static_path'],
  ['autodoc_member_order', '/usage/extensions/autodoc.html#confval-autodoc_member_order'],
  ['latex_engine', '/usage/configuration.html#confval-latex_engine'],
  ['BuildEnvironment', '/extdev/envapi.html#sphinx.environment.BuildEnvironment'],
  ['literalinclude', '/usage/restructuredtext/directives.html#directive-literalinclude'],
  ['doctest_test_doctest_blocks', '/usage/extensions/doctest.html#confval-doctest_test_doctest_blocks'],
];

/** Names in the rows of long tables and before signatures, their pages, and the start of the excerpt. */
const POSTGRES: readonly (readonly [question: string, page: string, start: string])[] = [
  ['42P01', '/errcodes-appendix.html', '42P01 · undefined_table'],
  ['40P01', '/errcodes-appendix.html', '40P01 · deadlock_detected'],
  ['23505', '/errcodes-appendix.html', '23505 · unique_violation'],
  ['57014', '/errcodes-appendix.html', '57014 · query_canceled'],
  ['deadlock_detected', '/errcodes-appendix.html', '40P01 · deadlock_detected'],
  ['55P03 lock_not_available', '/errcodes-appendix.html', '55P03 · lock_not_available'],
  ['SQLSTATE 22P02', '/errcodes-appendix.html', '22P02 · invalid_text_representation'],
  ['error code 53300', '/errcodes-appendix.html', '53300 · too_many_connections'],
  ['string_agg', '/functions-aggregate.html', 'string_agg ( value text'],
  ['generate_series', '/functions-srf.html', 'generate_series ( start integer'],
  ['nextval', '/functions-sequence.html', 'nextval ( regclass ) → bigint'],
  ['to_tsvector', '/functions-textsearch.html', 'to_tsvector ( [ config regconfig'],
  ['coalesce', '/functions-conditional.html', 'COALESCE(value [, ...])'],
  ['pg_sleep', '/functions-datetime.html', 'pg_sleep ( double precision )'],
  ['DataFileRead', '/monitoring-stats.html', 'DataFileRead · Waiting'],
  ['jsonb_set', '/functions-json.html', 'jsonb_set ( jsonb_in jsonb'],
];

describe.skipIf(corpus === undefined)(`search for the name in a row of a table${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  let manual: IndexedBundle;

  beforeAll(async () => {
    manual = await IndexedBundle.importFrom(bench, 'postgres-15.tar.gz');
    await manual.build();
  });

  it.each(POSTGRES)('finds "%s" on %s, with an excerpt that starts at the row', async (question, page, start) => {
    const [first] = await manual.search(question, null, 3);
    expect(first?.path.replace(/#.*$/, '')).toBe(page);
    expect(first?.content.slice(0, start.length)).toBe(start);
  });
});

describe.skipIf(corpus === undefined)(`search for the name of a definition${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  let manual: IndexedBundle;

  beforeAll(async () => {
    manual = await IndexedBundle.importFrom(bench, 'sphinx-manual.tar.gz');
    const { sections, seconds } = await manual.build();
    console.log(`figure: sphinx-manual.tar.gz ${sections} sections in ${seconds.toFixed(1)} s`);
  });

  it.each(SPHINX)('finds "%s" first at %s', async (question, address) => {
    const [first] = await manual.search(question, null, 3);
    expect(first?.path).toBe(address);
  });

  it.each(['keywords alone', 'keywords and meaning'])('finds the definitions of a small site by %s', async (legs) => {
    const folder = join(corpus ?? '', 'cases', 'search-definition-anchors');
    const archive = join(await bench.folder(), 'case-export-2026-01-01.tar.gz');
    const names = (await readdir(join(folder, 'site'), { recursive: true })).filter((name) => name.endsWith('.html'));
    const files = await Promise.all(
      names.map(async (path) => ({ path, bytes: await readFile(join(folder, 'site', path)) })),
    );
    await packTarGz({ files, to: archive });
    const site = await IndexedBundle.importFrom(bench, archive);
    await site.build();
    if (legs !== 'keywords alone') await site.embed();
    const text = await readFile(join(folder, 'queries.json'), 'utf8');
    for (const { query, first } of JSON.parse(text) as { query: string; first: string }[]) {
      const [found] = await site.search(query, null, 3);
      expect({ query, first: found?.path }).toEqual({ query, first });
    }
  });
});
