import { describe, expect, it } from 'vitest';
import { languageOf } from '../../../src/search/keyword/languages.ts';
import { Marker } from '../../../src/search/query/excerpts.ts';
import { indexOf } from './index-folder.ts';

/** Marked parts of a section's text for a query. */
function marked(text: string, query: string, language = 'en'): string[] {
  const { matchedIn } = indexOf([{ text, language }]).find(query, { limit: 1 });
  const { highlights } = new Marker(matchedIn(0), [languageOf(language)]).mark(text);
  return highlights.map(({ start, end }) => text.slice(start, end));
}

describe('Marker (highlights of query words in a text)', () => {
  it('marks words by their stem, and identifiers by their parts', () => {
    expect(marked('Rotating keys: rotate a key with rotateKey.', 'rotate key')).toEqual([
      'Rotating',
      'keys',
      'rotate',
      'key',
      'rotateKey',
    ]);
  });

  it('marks a word with a diacritic if the query lacks the diacritic', () => {
    expect(marked('Die Größe der Datei', 'grosse', 'de')).toEqual(['Größe']);
  });

  it('marks the whole word if the query matches an inflected word or a part of a compound', () => {
    expect(marked('Die Datenbankverbindungen der Benutzer', 'Verbindung Benutzers', 'de')).toEqual([
      'Datenbankverbindungen',
      'Benutzer',
    ]);
    expect(marked("L'installation des applications", "installer l'application", 'fr')).toEqual([
      'installation',
      'applications',
    ]);
    expect(marked('المستخدمون والملفات', 'ملف مستخدم', 'ar')).toEqual(['المستخدمون', 'والملفات']);
  });

  it('marks traditional Chinese characters that a query in simplified characters finds', () => {
    expect(marked('連接資料庫', '资料库', 'zh-Hant')).toEqual(['資料庫']);
  });

  it('marks adjacent pairs of CJK characters as one highlight, and marks single CJK characters', () => {
    expect(marked('连接数据库的方法', '数据库', 'zh')).toEqual(['数据库']);
    expect(marked('连接数据库的方法', '据', 'zh')).toEqual(['据']);
    expect(marked('连接数据库的方法', '方 数据', 'zh')).toEqual(['数据', '方']);
    expect(marked('ﾃﾞｰﾀ入門', '入門', 'ja')).toEqual(['ﾃﾞｰﾀ入門']);
  });

  it('marks symbols of the query', () => {
    expect(marked('Cast with value::type or a->b.', '::')).toEqual(['::']);
    expect(marked('Cast with value::type or json -> name.', 'json ->')).toEqual(['json', '->']);
  });

  it('marks no text if there are no query words', () => {
    expect(new Marker([]).mark('some text').highlights).toEqual([]);
  });
});
