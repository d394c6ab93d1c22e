import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { markdownOf } from '../../../src/web/markdown/index.ts';
import { type RenderedSite, renderFolder } from '../../export/markdown/render-folder.ts';
import { markdownContents, missingFrom } from '../../helpers/markdown-contents.ts';

const DOCS = join(import.meta.dirname, '../../../docs');

describe('markdownOf() for the docshelf manual', () => {
  let site: RenderedSite;
  beforeAll(async () => {
    site = await renderFolder(DOCS, { version: '2026-10-01', domain: 'docshelf' });
  });

  it('contains the words, code and tables of the source files', { timeout: 120_000 }, () => {
    const sources = readdirSync(DOCS).filter((name) => site.files.has(name.replace(/\.md$/, '.html')));
    expect(sources.length).toBeGreaterThan(20);
    const missing: Record<string, unknown> = {};
    let [words, lost] = [0, 0];
    for (const name of sources) {
      const path = name.replace(/md$/, 'html');
      const made = markdownContents(markdownOf({ path, address: `/${path}`, html: site.text(path) }).markdown);
      const source = markdownContents(readFileSync(join(DOCS, name), 'utf8'));
      words += source.words.length;
      lost += missingFrom(source.words, made.words).length;
      const codes = missingFrom(source.codes, made.codes);
      const tables = missingFrom(source.tables, made.tables);
      if (codes.length > 0 || tables.length > 0) missing[name] = { codes, tables };
    }
    expect(missing).toEqual({});
    expect(lost / words).toBeLessThan(0.02);
  });
});
