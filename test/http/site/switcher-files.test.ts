import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { switcherFiles } from '../../../src/http/site/site-assets.ts';
import { PAGE_LANGUAGES } from '../../../src/web/words/index.ts';

it('the switcher: a script with all that it needs, and its style for pages, which touches nothing else of them', () => {
  const { folder, files } = switcherFiles();
  expect(folder).toMatch(/^switcher-[0-9a-f]{16}$/);
  const [script = '', style = ''] = [...files.values()].map(({ bytes }) => Buffer.from(bytes).toString());
  expect([...files.keys()]).toEqual(['switcher.js', 'switcher.css']);
  for (const { words } of PAGE_LANGUAGES) expect(script).toContain(JSON.stringify(words.versions));
  expect(gzipSync(script).length).toBeLessThanOrEqual(5 * 1024);
  // Nothing that a policy refuses.
  expect(script).not.toMatch(/innerHTML|\beval\b|new Function|\.style\b/);
  const selectors = style
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/@media[^{]*\{/g, '')
    .split('}')
    .flatMap((rule) => (rule.includes('{') ? [rule.slice(0, rule.indexOf('{')).trim()] : []));
  expect(selectors.length).toBeGreaterThan(10);
  for (const selector of selectors) expect(selector).toMatch(/^docshelf-versions:not\(#_\)/);
});

it('the words of each language name the version where it is told', () => {
  for (const { tag, words } of PAGE_LANGUAGES) {
    const { version, notice, lead } = words.versions;
    for (const sentence of [version, notice, lead]) expect(sentence, tag).toContain('{version}');
  }
});
