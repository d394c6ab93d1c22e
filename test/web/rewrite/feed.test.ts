import { describe, expect, it } from 'vitest';
import { sourceTypeOf } from '../../../src/web/rewrite/source-text.ts';
import { found, rewritten } from './helpers.ts';

describe('findReferences() in XML that is not a page', () => {
  it('finds the style sheets of a feed, and leaves the content of the feed unchanged', () => {
    const feed = `<?xml version="1.0"?>\n<?xml-stylesheet type="text/xsl" href="a.xsl?b&amp;c"?><?xml-stylesheet href='d.css'?><rss><channel><link>https://x.test/</link><image href="e.png"/></channel><?xml-stylesheet href="f.css"?></rss>`;
    expect(found('feed', feed)).toEqual(['asset a.xsl?b&c', 'style d.css']);
    expect(rewritten('feed', feed, 'N&')).toBe(
      feed.replace('a.xsl?b&amp;c', 'N&amp;').replace("href='d.css'", "href='N&amp;'"),
    );
  });

  it('finds the images of a browserconfig.xml file', () => {
    const tiles =
      '<?xml version="1.0"?><browserconfig><msapplication><tile><square70x70logo src="/a.png"/><TileColor>#fff</TileColor><TileImage src="b.png"/></tile></msapplication></browserconfig>';
    expect(found('feed', tiles)).toEqual(['asset /a.png', 'asset b.png']);
  });

  it.each(['', 'text', '<?xml', '<?xml-stylesheet?><a', '<?xml-stylesheet href?>'])(
    'finds no references in %j',
    (text) => {
      expect(found('feed', text)).toEqual([]);
    },
  );

  it.each(['application/xml', 'text/xml; charset=utf-8', 'application/rss+xml', 'application/atom+xml'])(
    'reads a file with content type %s as a feed',
    (type) => {
      expect(sourceTypeOf(type)).toBe('feed');
    },
  );
});
