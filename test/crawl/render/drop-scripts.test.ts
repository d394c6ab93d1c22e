import { describe, expect, it } from 'vitest';
import { dropScripts } from '../../../src/crawl/render/choose-html.ts';

describe('dropScripts()', () => {
  it.each([
    [
      'scripts of every kind',
      'a<script>x</script>b<script type="module" src="m.js"></script>c<script type="importmap">{}</script>',
      'abc',
    ],
    ['a script in a template', '<template><p>a</p><script>x</script></template>', '<template><p>a</p></template>'],
    [
      'links that load scripts',
      '<link rel="modulepreload" href="a.js"><link rel="preload" as="script" href="b.js">a',
      'a',
    ],
    ['handlers of events', '<p title="a" onclick="go()" class="b">a</p>', '<p title="a"  class="b">a</p>'],
  ])('removes %s', (_, html, without) => {
    expect(dropScripts(html)).toBe(without);
  });

  it.each([
    ['data', '<script type="application/ld+json">{"a":1}</script>'],
    ['styles and fonts', '<link rel="stylesheet" href="a.css"><link rel="preload" as="font" href="b.woff2">'],
    ['what only looks like a script', '<p title="<script>">&lt;script&gt;</p><!-- <script>x</script> -->'],
    ['what the author wrote, to the byte', '<!DOCTYPE html>\n<HTML><body  CLASS=a>\n<p>one<p>two\n'],
  ])('keeps %s', (_, html) => {
    expect(dropScripts(html)).toBe(html);
  });
});
