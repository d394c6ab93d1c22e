import { describe, expect, it } from 'vitest';
import { found, rewritten } from './helpers.ts';

describe('findReferences() and rewriteFile() in a web app manifest', () => {
  const manifest = String.raw`{"id": "/x", "name": "a \"icons\"", "scope": "/", "start_url": "\/?a=1",
  "icons": [{"src": "a.png", "sizes": "1x1"}, {"src": "\u0062.png"}], "screenshots": [{"src": "c.png"}],
  "shortcuts": [{"url": "/d", "icons": [{"src": "e.png"}]}], "other": {"src": "no"}, "src": "no"}`;

  it('find pages and images, even if their URLs contain JSON escapes', () => {
    expect(found('manifest', manifest)).toEqual([
      'scope /x',
      'scope /',
      'link /?a=1',
      'asset a.png',
      'asset b.png',
      'asset c.png',
      'link /d',
      'asset e.png',
    ]);
  });

  it('replace only the addresses and keep all other text of the manifest', () => {
    const after = rewritten('manifest', manifest, 'N');
    expect(JSON.parse(after)).toMatchObject({
      id: 'N',
      scope: 'N',
      start_url: 'N',
      icons: [{ src: 'N', sizes: '1x1' }, { src: 'N' }],
    });
    expect(after.replaceAll('"N"', '')).toBe(
      manifest.replace(/"(?:\/x|\/|\\\/\?a=1|a\.png|\\u0062\.png|c\.png|\/d|e\.png)"/g, ''),
    );
  });

  it.each<[string, string]>([
    ['share_target', '{"action":"/a","method":"GET","params":{"title":"/t"}}'],
    ['protocol_handlers', '[{"protocol":"web+a","url":"/a"}]'],
    ['file_handlers', '[{"action":"/a","accept":{"text/x":["/no"]}}]'],
    ['note_taking', '{"new_note_url":"/a"}'],
    ['serviceworker', '{"scope":"/a"}'],
    ['tab_strip', '{"home_tab":{"scope_patterns":[{"pathname":"/a"}]}}'],
    ['tab_strip', '{"new_tab_button":{"url":"/a"}}'],
    ['related_applications', '[{"platform":"webapp","url":"/a"}]'],
  ])('find the address in the member %s with the value %s', (member, value) => {
    expect(found('manifest', `{"${member}":${value}}`)).toEqual([
      value.includes('pathname') ? 'pattern /a' : 'scope /a',
    ]);
  });

  it('find localized images and shortcuts', () => {
    const text = '{"icons_localized":{"de":[{"src":"/a"}]},"shortcuts_localized":{"de":[{"url":"/b"}]}}';
    expect(found('manifest', text)).toEqual(['asset /a', 'link /b']);
  });

  it('read a file with byte order mark, and find nothing in invalid JSON', () => {
    expect(found('manifest', '\ufeff{"start_url":"a"}')).toEqual(['link a']);
    expect(found('manifest', '{"start_url":"a"')).toEqual([]);
  });
});
