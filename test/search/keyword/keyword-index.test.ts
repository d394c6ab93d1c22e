import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeywordIndex } from '../../../src/search/keyword/keyword-index.ts';
import { found, indexOf, indexPath, writeIndex } from './index-folder.ts';

const FILLER = 'Some other text about nothing in particular, to have words that are common.';

describe('KeywordIndex', () => {
  it('returns every field of an added section unchanged', () => {
    const section = {
      page: '/a',
      path: '/a#b',
      title: 'Título "A"',
      headings: ['Título "A"', 'B'],
      text: 'Text\n\nmore',
      code: [{ start: 6, end: 10 }],
      language: 'pt-BR',
      version: 'v2',
      tags: ['x', 'y z'],
      prior: 0.5,
    };
    const path = indexPath();
    writeIndex(path, [section]);
    const index = new KeywordIndex(path);
    expect(index.section(0)).toEqual({ ...section, passages: [] });
    expect(index.section(1)).toBeNull();
    expect(index.count).toBe(1);
    index.close();
  });

  it('finds no sections in an empty index, without an error', () => {
    const index = indexOf([]);
    expect(found(index, 'anything "at all" -but this')).toEqual([]);
    expect(found(index, 'anythin', { prefixLast: true })).toEqual([]);
  });

  it.each([
    ['how do I rotate the keys', 1],
    ['rotate bananas', 0.5],
    ['', 0],
    ['???', 0],
    ['設定方法', 1],
    ['設定変更', 1 / 3],
    ['検索', 0],
  ])('returns for the query "%s" the share of query words that the index contains: %d', (query, part) => {
    const index = indexOf([{ text: 'Rotate all keys.' }, { text: '設定と方法', language: 'ja' }]);
    expect(index.find(query, { limit: 10 }).known).toBeCloseTo(part, 5);
  });

  it('counts a misspelled or unfinished word only partly in the share of known query words', () => {
    const index = indexOf([{ text: 'Kubernetes clusters.' }, { text: 'More of Kubernetes.' }]);
    const known = (query: string, prefixLast = false) => index.find(query, { limit: 10, prefixLast }).known;
    for (const part of [known('kubwrnetes'), known('kuberne', true)]) {
      expect(part).toBeGreaterThan(0.2);
      expect(part).toBeLessThan(1);
    }
  });

  it('finds other inflections of an English word in English text, but not in German text', () => {
    const index = indexOf([
      { text: 'Connecting two servers.' },
      { text: 'Die Verbindungen der Server, connecting', language: 'de' },
    ]);
    expect(found(index, 'connections')).toEqual([0]);
    expect(found(index, 'Verbindungen')).toEqual([1]);
    expect(found(index, 'connecting').sort()).toEqual([0, 1]);
  });

  it('finds a word with diacritics, whether or not the query contains the diacritics', () => {
    const index = indexOf([{ text: 'Größe und Schlüssel', language: 'de' }]);
    expect(found(index, 'grosse')).toEqual([0]);
    expect(found(index, 'SCHLÜSSEL')).toEqual([0]);
    expect(found(index, 'schlussel')).toEqual([0]);
  });

  it('finds an identifier by its parts, and ranks the exact identifier first', () => {
    const index = indexOf([
      { text: 'The max retry count. Retry, count, max: all of them. Retry count max retry count.' },
      { text: `Set max_retry_count. ${FILLER}` },
      { text: `Set maxRetryCount in the config. ${FILLER} ${FILLER}` },
      { text: FILLER },
    ]);
    expect(found(index, 'retry count').sort()).toEqual([0, 1, 2]);
    expect(found(index, 'maxRetryCount')[0]).toBe(2);
    expect(found(index, 'maxretrycount')[0]).toBe(2);
    expect(found(index, 'max_retry_count')[0]).toBe(1);
    expect(index.find('maxRetryCount', { limit: 10 }).hits.map(({ exact }) => exact)).toEqual([
      'identifier',
      null,
      null,
    ]);
  });

  it('ranks dotted and hyphenated names first if they match exactly, and also finds them by their parts', () => {
    const index = indexOf([
      { text: 'server and port, port and server, server port' },
      { text: `The key server.port is here. ${FILLER}` },
      { text: `Use --dry-run. ${FILLER}` },
    ]);
    expect(found(index, 'server.port')[0]).toBe(1);
    expect(found(index, 'port').sort()).toEqual([0, 1]);
    expect(found(index, '--dry-run')).toEqual([2]);
  });

  it.each<[string, number]>([
    ['数', 0],
    ['据库', 0],
    ['数据库', 0],
    ['使い方', 1],
    ['方', 1],
    ['ガイド', 1],
    ['데이터', 2],
    ['설', 2],
    ['ฐานข้อมูล', 3],
  ])('finds the word %s in text without spaces between words', (query, section) => {
    const index = indexOf([
      { text: '如何使用数据库。', language: 'zh' },
      { text: 'サーバーの使い方ガイド', language: 'ja' },
      { text: '데이터베이스를 설정하는 방법', language: 'ko' },
      { text: 'การตั้งค่าฐานข้อมูล', language: 'th' },
    ]);
    expect(found(index, query)[0]).toBe(section);
  });

  it('ranks first the page whose title equals the query, with its first section before its subsections', () => {
    const index = indexOf([
      { title: 'Other', text: 'rate limits rate limits rate limits' },
      { title: 'Rate limits and retries', text: 'Rate limits. Rate limits.' },
      { page: '/limits', title: 'Rate Limits', text: FILLER },
      { page: '/limits', title: 'Rate Limits', headings: ['Rate Limits', 'Rate limits'], text: 'rate limits' },
    ]);
    expect(found(index, 'rate limits')[0]).toBe(2);
    expect(found(index, 'What are rate limits?')[0]).not.toBe(2);
    const [first, second] = index.find('rate limits', { limit: 2 }).hits;
    expect([first?.exact, second?.exact]).toEqual(['title', null]);
  });

  it('ranks a page titled with an identifier before pages that contain the identifier in their text', () => {
    const index = indexOf([
      { text: 'maxRetryCount maxRetryCount' },
      { title: 'maxRetryCount', text: FILLER },
      { text: 'max retry count' },
    ]);
    const hits = index.find('maxRetryCount', { limit: 10 }).hits;
    expect(hits.map(({ section, exact }) => [section, exact])).toEqual([
      [1, 'title'],
      [0, 'identifier'],
      [2, null],
    ]);
  });

  it('ranks a page first if its document title equals the query', () => {
    const index = indexOf([
      { text: 'installation guide installation guide' },
      { page: '/start', title: 'Getting going', documentTitle: 'Installation Guide', text: FILLER },
      { page: '/start', title: 'Getting going', headings: ['Getting going', 'More'], text: FILLER },
    ]);
    expect(found(index, 'installation guide')).toEqual([1, 0]);
    expect(index.find('installation guide', { limit: 1 }).hits[0]?.exact).toBe('title');
    expect(found(index, 'getting going')[0]).toBe(1);
  });

  it.each(["what's new", 'what’s new', 'whats new'])(
    'ranks the page with the title "What’s New" first for the query %j, with or without an apostrophe',
    (query) => {
      const index = indexOf([{ text: 'what is new, what is newer' }, { title: 'What’s New', text: FILLER }]);
      expect(index.find(query, { limit: 1 }).hits).toMatchObject([{ section: 1, exact: 'title' }]);
    },
  );

  it.each([
    '13.3. Explicit Locking',
    'F.1. Explicit Locking',
    'Chapter 31. Explicit Locking',
    'Part II: Explicit Locking',
  ])(
    'ranks the page with the title "%s" first for the query "explicit locking", which contains no chapter number',
    (title) => {
      const index = indexOf([
        { title: 'Explicit locking modes', text: 'Explicit locking.' },
        { title, text: FILLER },
      ]);
      expect(index.find('explicit locking', { limit: 1 }).hits).toMatchObject([{ section: 1, exact: 'title' }]);
    },
  );

  it.each(['2.0 Explicit Locking', 'Version 2 explicit locking', 'C. elegans explicit locking'])(
    'does not take the beginning of the title "%s" for the number of a chapter',
    (title) => {
      expect(indexOf([{ title, text: FILLER }]).find('explicit locking', { limit: 1 }).hits[0]?.exact).toBeNull();
    },
  );

  it('ignores a document title that pages with different titles share', () => {
    const titled = (documentTitle: string, titles: readonly string[]) =>
      indexOf(titles.map((title) => ({ title, documentTitle, text: FILLER }))).find('acme docs', { limit: 9 }).hits;
    expect(titled('Acme Docs', ['One', 'Two', 'One']).map(({ exact }) => exact)).toEqual([null, null, null]);
    // Two versions of one page.
    expect(titled('Acme Docs', ['One', 'One']).map(({ exact }) => exact)).toEqual(['title', 'title']);
  });

  it('ranks a page first if its title equals the query, even if the title consists of stop words', () => {
    const index = indexOf([{ text: 'about about about it' }, { title: 'About', text: FILLER }]);
    expect(found(index, 'about')).toEqual([1, 0]);
  });

  it('ranks a section with both words of a short query above a section that only has one of them in its title', () => {
    const index = indexOf([
      { title: 'MPA mode', text: `A mode. ${FILLER}` },
      { title: 'Theme', text: `A dark color mode. ${FILLER}` },
      ...['Colors', 'Night', 'Sky'].map((title) => ({ title, text: `Dark. ${FILLER}` })),
      ...Array.from({ length: 6 }, () => ({ title: 'More', text: FILLER })),
    ]);
    expect(found(index, 'dark mode').slice(0, 2)).toEqual([1, 0]);
  });

  it.each<[string, number[]]>([
    ['TS9999', []],
    ['TS420', [1]],
    ['pg_zorkmid', []],
    ['pgConnectionLimit', [2]],
  ])('returns for the unknown identifier %j only the sections with all its parts: %j', (query, expected) => {
    const index = indexOf([
      { text: 'A file with the ending TS.' },
      { text: 'The error 420 of TS.' },
      { text: 'The limit of a connection to PG.' },
      { text: 'Install PG.' },
    ]);
    expect(found(index, query)).toEqual(expected);
  });

  it.each([
    ['ISO88591', 'Files in ISO-8859-1.'],
    ['python312', 'Needs python3.12 here.'],
    ['CVE20241234', 'Fixes CVE-2024-1234.'],
  ])('finds for the code %s, written as one word, the text "%s"', (query, text) => {
    expect(found(indexOf([{ text: 'iso python cve' }, { text }]), query)[0]).toBe(1);
  });

  it('finds a section with all parts of an unknown code below many sections with one part', () => {
    const ofNumber = Array.from({ length: 3 }, () => ({ title: '420', headings: ['420'], text: '420' }));
    const index = indexOf([...ofNumber, { text: `TS 420 ${FILLER.repeat(200)}` }, { text: 'TS' }, { text: 'TS' }]);
    expect(index.find('TS420', { limit: 2 }).hits.map(({ section }) => section)).toEqual([3]);
  });

  it('finds the parts of an unknown code only in sections that the filter allows', () => {
    const index = indexOf([
      { text: 'The error 420 of TS.', version: '1' },
      { text: 'The error 420 of TS.', version: '2' },
    ]);
    expect(found(index, 'TS420', { filter: { version: '2' } })).toEqual([1]);
  });

  it('finds the section with both parts of an unknown identifier if a rare part resembles a frequent word', () => {
    const frequent = Array.from({ length: 12 }, () => ({ text: 'A frog and a limit.' }));
    const index = indexOf([{ text: 'The limit of a frob.' }, { text: 'The limit.' }, ...frequent]);
    expect(found(index, 'frobLimit')).toEqual([0]);
  });

  it('finds a section with most parts of an unknown identifier if the site has a misspelled part elsewhere', () => {
    const index = indexOf([{ text: 'The iso_8859_to_utf8 table.' }, { text: 'The io package.' }, { text: FILLER }]);
    expect(found(index, 'io_8859_to_utf8')).toEqual([0]);
  });

  it('ranks a word in the title or headings above the same word in the text', () => {
    const index = indexOf([
      { title: 'Alpha', text: `webhook ${FILLER}` },
      { title: 'Alpha', headings: ['Alpha', 'Webhook beta'], text: FILLER },
      { title: 'Webhook gamma', text: FILLER },
    ]);
    expect(found(index, 'webhook')).toHaveLength(3);
    expect(found(index, 'webhook').at(-1)).toBe(0);
  });

  it.each([
    ['create theme', [0.1, 0]],
    ['how do I create a theme', [0.1, 0]],
    ['theme', [0, 0]],
    ['create theme online', [0, 0]],
  ])(
    'adds points to sections whose title and headings together contain all words of the query "%s": %j',
    (query, points) => {
      const index = indexOf([
        { title: 'Themes', headings: ['Themes', 'Create it'], text: FILLER },
        { title: 'Themes', headings: ['Themes'], text: 'Create it online.' },
      ]);
      const hits = index.find(query, { limit: 2 }).hits.toSorted((left, right) => left.section - right.section);
      expect(hits.map(({ names }) => names)).toEqual(points);
    },
  );

  it('ranks the page with the higher page weight (prior) first if two pages match equally', () => {
    const index = indexOf([{ text: 'same text' }, { text: 'same text', prior: 1 }]);
    expect(found(index, 'same text')).toEqual([1, 0]);
  });

  it('ignores the stop words of a question', () => {
    const index = indexOf([
      { text: 'how do i do it how do i do it how do i' },
      { text: `rotate keys ${FILLER}` },
      { text: FILLER },
    ]);
    expect(found(index, 'how do I rotate keys?')).toEqual([1]);
    expect(found(index, 'how do i')).toEqual([0]);
  });

  it('returns the matched words of a hit, and lowers the normalized score for unmatched words', () => {
    const index = indexOf([{ text: 'rotating keys' }, { text: 'rotating things' }, { text: FILLER }]);
    const { hits, matchedIn } = index.find('rotate keys', { limit: 10 });
    const [both, one] = hits;
    expect(matchedIn(both?.section ?? 9).toSorted()).toEqual(['kei', 'rotat']);
    expect(matchedIn(one?.section ?? 9)).toEqual(['rotat']);
    const [diluted] = index.find('rotate keys zyxwvu', { limit: 1 }).hits;
    expect(diluted?.normalised).toBeLessThan(both?.normalised ?? 0);
  });

  it('returns at most the requested number of hits, in the same order as without a limit', () => {
    const index = indexOf(Array.from({ length: 30 }, (_, at) => ({ text: 'word '.repeat(at + 1) })));
    const all = index.find('word', { limit: 100 }).hits;
    expect(all).toHaveLength(30);
    expect(index.find('word', { limit: 7 }).hits).toEqual(all.slice(0, 7));
    expect(index.find('word', { limit: 0 }).hits).toEqual([]);
  });
});

describe('KeywordIndex.find() with operators', () => {
  const index = () =>
    indexOf([
      { text: 'the maximum retry count of a client' },
      { text: 'count of the retry, maximum of the client' },
      { text: 'retryCount: the client' },
      { text: 'client beta', title: 'Retry count' },
      { text: '数据库连接 client 数据库' },
    ]);

  it('finds only sections that contain the quoted phrases in their title or text', () => {
    expect(found(index(), '"retry count"').sort()).toEqual([0, 2, 3]);
    expect(found(index(), 'client "maximum retry"')).toEqual([0]);
    expect(found(index(), '"retry count" "beta"')).toEqual([3]);
  });

  it('finds quoted phrases of CJK characters', () => {
    expect(found(index(), '"数据库"')).toEqual([4]);
    expect(found(index(), '"据"')).toEqual([4]);
    expect(found(index(), '"接 client"')).toEqual([4]);
    expect(found(index(), '"client 数"')).toEqual([4]);
  });

  it('searches for the single words of a quoted phrase if no section contains the phrase', () => {
    expect(found(index(), '"count retry"')).toEqual(found(index(), 'count retry'));
    expect(found(index(), '"retry count" "count client"').sort()).toEqual([0, 2, 3]);
    expect(found(index(), '"zxqvjk wvutz"')).toEqual([]);
  });

  it('excludes words and phrases after a minus', () => {
    expect(found(index(), 'client -retry').sort()).toEqual([4]);
    expect(found(index(), 'client -"retry count"').sort()).toEqual([1, 4]);
    expect(found(index(), '-retry')).toEqual(found(index(), 'retry'));
    expect(found(index(), 'client -数据').sort()).toEqual([0, 1, 2, 3]);
  });

  it('returns which sections a search by meaning may use if the query has quotes or exclusions', () => {
    const allowed = (query: string) => [...(index().find(query, { limit: 1 }).allowed ?? [])];
    expect(allowed('client -retry')).toEqual([0, 0, 0, 0, 1]);
    expect(allowed('"retry count" -beta')).toEqual([1, 0, 1, 0, 0]);
    expect(index().find('client retry', { limit: 1 }).allowed).toBeNull();
  });

  it('prefers the quoted words of a long question, and also finds sections without them', () => {
    const sections = found(index(), 'which one of them all has the "maximum of the client" somewhere in it');
    expect(sections[0]).toBe(1);
    expect(sections.length).toBeGreaterThan(1);
  });
});

describe('KeywordIndex.find() with a prefix', () => {
  const index = () =>
    indexOf([
      { text: 'configuration of the server' },
      { text: 'configure it' },
      { text: 'the port of the server' },
      { text: 'portable themes' },
    ]);

  it('completes the last word only if prefixLast is set', () => {
    expect(found(index(), 'server config', { prefixLast: true })[0]).toBe(0);
    expect(found(index(), 'configurat', { prefixLast: true }).sort()).toEqual([0, 1]);
    expect(found(index(), 'them', { prefixLast: true })).toEqual([3]);
    expect(found(index(), 'po', { prefixLast: true }).sort()).toEqual([2, 3]);
    expect(found(index(), 'po')).toEqual([]);
    expect(found(index(), 'po ', { prefixLast: true })).toEqual([]);
  });

  it('ranks the whole word above longer words that begin with it', () => {
    expect(found(index(), 'port', { prefixLast: true })).toEqual([2, 3]);
  });

  it('does not complete a command-line option that the index contains', () => {
    const options = indexOf([
      { text: 'Run sphinx -j 4 to use four processes.' },
      { text: 'sphinx and js, jquery, jieba' },
    ]);
    expect(options.find('sphinx -j', { limit: 10, prefixLast: true }).matchedIn(1)).toEqual(['sphinx']);
  });

  it('treats a stop word at the end as a prefix', () => {
    expect(found(index(), 'the', { prefixLast: true })).toContain(3);
  });
});

describe('KeywordIndex.find() with a language filter, on pages that state no language', () => {
  const page = (at: string, text: string) => ({ page: at, text, language: null });
  const index = () =>
    indexOf([
      page('/backup', 'The backup of the server is a copy of all the files that it needs.'),
      page('/de/backup', 'Das Backup des Servers ist eine Kopie aller Dateien, die er braucht, und es ist klein.'),
      page('/de/kurz', 'Backup'),
      { page: '/fr/backup', text: 'Backup', language: 'fr' },
      page('/k', '데이터베이스를 설정하는 방법 backup 을 만드는 방법'),
      page('/nb/backup', 'Backup'),
      page('/api', 'GET /v1/widgets returns the backup'),
    ]);

  it.each([
    ['en', [0, 6]],
    ['de', [1, 2]],
    ['de-AT', [1, 2]],
    ['fr', [3]],
    ['ko', [4]],
    ['nb', [5]],
    ['ja', []],
    ['nl', []],
  ])('finds for the language %s the pages whose text or path has this language', (language, expected) => {
    expect(found(index(), 'backup', { filter: { language } }).sort()).toEqual(expected);
  });

  it('offers no language filter, because no page states its language', () => {
    expect(index().facets.languages).toEqual([]);
  });
});

describe('KeywordIndex.readable() (sections in a language that a model can read)', () => {
  const index = () => indexOf(['ja', 'en', null, 'zh', 'ja', 'pt-BR'].map((language) => ({ language })));

  it('excludes the sections of all languages that the model cannot read', () => {
    expect(index().readable((language) => /^(?:en|pt-br)$/.test(language))).toEqual(Uint8Array.of(0, 1, 1, 0, 0, 1));
  });

  it('returns null if the model can read all languages', () => {
    expect(index().readable(() => true)).toBeNull();
  });

  it('does not copy the array of section marks for each language', () => {
    const copying = vi.spyOn(Uint8Array.prototype, 'slice');
    onTestFinished(() => copying.mockRestore());
    index().readable(() => false);
    const masks = copying.mock.results.filter(({ value }) => value.length === 6);
    expect(masks).toEqual([]);
  });
});

describe('KeywordIndex.find() with two words that texts write as one', () => {
  it('finds the joined word and its inflections', () => {
    const index = indexOf([{ text: 'Use typehints.' }, { text: 'A hint.' }, { text: 'A type.' }]);
    expect(found(index, 'type hint')[0]).toBe(0);
  });

  it('finds a word with a zero-width non-joiner if the query has a space in this place', () => {
    const persian = (text: string) => ({ text, language: 'fa' });
    const index = indexOf([
      persian('پیش\u200cنیازها'),
      persian('پیش از نصب'),
      persian('نیازها و سایت'),
      { text: 'other' },
    ]);
    expect(found(index, 'پیش نیازها')[0]).toBe(0);
  });

  it('finds the name of a setting if the query contains its words separately', () => {
    const index = indexOf([
      { text: 'Autovacuum and vacuum. Auto start. The naptime of each.' },
      { text: 'Set autovacuum_naptime.' },
      { text: 'other' },
    ]);
    expect(found(index, 'auto vacuum naptime')[0]).toBe(1);
  });

  it('does not join an article with the next word', () => {
    const index = indexOf([{ text: 'Each part has pages.' }, { text: 'They are apart.' }, { text: 'other' }]);
    expect(found(index, 'what is a part')).toEqual([0]);
  });
});

describe('KeywordIndex.find() with British and American spelling', () => {
  it.each([
    ['colours', 'The color of it.'],
    ['color', 'All colours.'],
    ['customising', 'How to customize it.'],
    ['normalize', 'It is normalised.'],
    ['organisation', 'The organizations.'],
    ['analyze', 'Analysing logs.'],
    ['centre', 'Two centers.'],
    ['catalogue', 'A catalog.'],
    ['canceled', 'It was cancelled.'],
    ['defence', 'A defense.'],
  ])('finds for the query %s the text %s', (query, text) => {
    expect(found(indexOf([{ text }, { text: 'other' }]), query)).toEqual([0]);
  });
});

describe('KeywordIndex.find() with a misspelling', () => {
  const index = () =>
    indexOf([
      { text: 'authentication of users' },
      { text: 'cache of pages' },
      { text: 'catch the error' },
      { text: 'catched cachex cache' },
      ...Array.from({ length: 10 }, () => ({ text: 'cache' })),
    ]);

  it('corrects a word without hits', () => {
    expect(found(index(), 'atuhentication')).toEqual([0]);
    expect(found(index(), 'authenticaiton of usrs')[0]).toBe(0);
    expect(found(index(), 'caceh')).toContain(4);
  });

  it('does not correct a word that the index contains', () => {
    expect(found(index(), 'catch').sort()).toEqual([2, 3]);
  });

  it('ranks exact spellings before corrected spellings', () => {
    expect(found(index(), 'cachex')[0]).toBe(3);
    expect(found(index(), 'cachex').length).toBeGreaterThan(1);
  });

  it('scores a corrected word below the correct word', () => {
    const [right] = index().find('authentication', { limit: 1 }).hits;
    const [wrong] = index().find('authentcation', { limit: 1 }).hits;
    expect(wrong?.normalised).toBeLessThan(right?.normalised ?? 0);
  });
});

describe('KeywordIndex.find() with a filter', () => {
  const index = () =>
    indexOf([
      { text: 'word', language: 'pt', version: 'v1', tags: ['a', 'b'] },
      { text: 'word', language: 'pt-BR', version: 'v2', tags: ['b'] },
      { text: 'word', language: 'PT_pt', version: 'v1' },
      { text: 'word', language: 'ptx', version: 'v10' },
      { text: 'word', language: null, tags: ['a b'] },
    ]);

  it.each([
    [{ language: 'pt' }, [0, 1, 2]],
    [{ language: 'PT-br' }, [1]],
    [{ language: 'p' }, []],
    [{ version: 'v1' }, [0, 2]],
    [{ version: 'v1', label: 'v1' }, [0, 2, 4]],
    [{ version: 'v3', label: 'v3' }, [4]],
    [{ label: 'v1' }, [0, 1, 2, 3, 4]],
    [{ tag: 'b' }, [0, 1]],
    [{ tag: 'a b' }, [4]],
    [{ version: 'v1', language: 'pt', tag: 'a' }, [0]],
    [{ version: "v1' OR 1=1 --" }, []],
    [{}, [0, 1, 2, 3, 4]],
  ])('applies the filter %j and finds the sections %j', (filter, sections) => {
    expect(found(index(), 'word', { filter }).sort()).toEqual(sections);
    const { allowed } = index().find('word', { limit: 1, filter });
    expect([0, 1, 2, 3, 4].filter((section) => allowed === null || allowed[section] === 1)).toEqual(sections);
  });

  it('applies the filter before the limit', () => {
    const sketches = Array.from({ length: 200 }, () => ({ text: 'word word word', version: 'v2' }));
    const large = indexOf([...sketches, { text: `word ${FILLER}`, version: 'v1' }]);
    expect(found(large, 'word', { filter: { version: 'v1' } })).toEqual([200]);
  });

  it('applies the filter to pages whose title equals the query', () => {
    const titled = indexOf([
      { title: 'Word', version: 'v1' },
      { text: 'word', version: 'v2' },
    ]);
    expect(found(titled, 'word', { filter: { version: 'v2' } })).toEqual([1]);
  });
});
