import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countText } from '../../scripts/count-text.ts';
import { lintPage, lintStrings, lintSubjects, subjectsSince } from '../../scripts/lint-text.ts';
import { commentsOf, readPage, sentencesOf } from '../../scripts/text/prose.ts';
import { stringsOf } from '../../scripts/text/strings.ts';
import { findWords } from '../../scripts/text/words.ts';
import { newFolder } from '../helpers/new-folder.ts';

const folder = newFolder();

const FRONT_MATTER = '---\ntitle: Page\ndescription: A page.\nkind: how-to\n---\n\n';
const LONG = `${Array.from({ length: 26 }, () => 'w').join(' ')}.`;
const lint = (body: string): string[] => lintPage('docs/page.md', FRONT_MATTER + body);

describe('word list', () => {
  it.each([
    ['What is not understood is left out.', 'clause', 'What is'],
    ['docshelf lists those that failed.', 'clause', 'those that'],
    ['Where it cannot be written, docshelf logs it.', 'where', 'Where'],
    ['It fails; where two exist, the first wins.', 'where', 'where'],
    ['The status says so.', 'tell', 'says'],
    ['It is told by its line.', 'tell', 'told'],
    ['The inbox takes in archives.', 'verb', 'takes in'],
    ['The site answers requests.', 'verb', 'answers'],
    ['The folder holds files.', 'verb', 'holds'],
    ['docshelf asks the registry.', 'verb', 'asks'],
    ['It is for who runs it.', 'clause', 'for who'],
    ['Of several sites, it uses the first.', 'subject', 'Of'],
    ['It is at a path below its base path.', 'verb', 'below its'],
    ['docshelf refuses the file.', 'verb', 'refuses'],
    ['Run the file that there is.', 'verb', 'that there is'],
    ['It is made anew.', 'verb', 'made anew'],
    ['It works on phones, too.', 'adverb', ', too'],
    ['Nothing is sent.', 'subject', 'Nothing'],
    ['Use a Secret of yours.', 'subject', 'of yours'],
    ['It has a listener of its own.', 'subject', 'of its own'],
  ])('finds the forbidden words in "%s"', (text, group, words) => {
    expect(findWords(text)).toContainEqual(expect.objectContaining({ group, words: words.replace(', ', '') }));
  });

  it.each([
    'What is a bundle?',
    'Where to go next',
    'Where',
    'The browser asks for a name.',
    'Find what is wrong.',
    'The folder where docshelf stores its data must exist.',
    'connection refused',
    'The default applies.',
    'Print what docshelf would do.',
    'The letter `a` stands for a vowel.',
    'The threshold is a limit.',
    'The command contacts the daemon of its own data folder.',
  ])('accepts the text "%s"', (text) => {
    expect(findWords(text)).toEqual([]);
  });

  it('applies to short texts, such as descriptions of settings', () => {
    expect(lintStrings(['Reload the config', 'take the config anew'])).toEqual([
      '"anew" in "take the config anew": use again, also, except or next to',
    ]);
  });

  it('reads strings in code that have three words or more', () => {
    const code = [
      `/** A comment with three words. */`,
      `command.option('--site <domain>', 'Site to use');`,
      `const message = \`Cannot open "\${path}": no such file\`;`,
      `const page = <p title="one">Upload all bundles</p>;`,
      `const sql = 'SELECT id FROM jobs';`,
      `const tags = 'address article aside blockquote body center details dialog div';`,
    ].join('\n');
    expect(stringsOf('a.tsx', code)).toEqual([
      { line: 2, text: 'Site to use' },
      { line: 3, text: 'Cannot open "code": no such file' },
      { line: 4, text: 'Upload all bundles' },
    ]);
  });
});

describe('prose of a page', () => {
  it('excludes front matter, code, comments and link targets', () => {
    const { blocks, codeBlocks, fields } = readPage(
      `${FRONT_MATTER}<!-- says -->\n# Title\n\nSee \`says\` and [the\npage](says.md).\n\n\`\`\`sh\nsays\n\`\`\`\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c \\| d | e |\n`,
    );
    expect(fields.get('kind')).toBe('how-to');
    expect(codeBlocks).toBe(1);
    expect(blocks.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'heading: Title',
      'paragraph: See code and the page.',
      'item: one',
      'item: two',
      'cell: a',
      'cell: b',
      'cell: c | d',
      'cell: e',
    ]);
  });

  it('splits sentences at punctuation, but not at abbreviations or within numbers', () => {
    expect(sentencesOf('Use 1.5 GiB, e.g. for large sites. Restart it (once.) Done')).toEqual([
      'Use 1.5 GiB, e.g. for large sites.',
      'Restart it (once.)',
      'Done',
    ]);
  });

  it('reads each comment in code as one text', () => {
    const code = `/**\n * Of a sentence.\n * More.\n */\nconst a = 1; // Two.\n  // Three\n  // four.\nconst url = 'http://x';\n`;
    expect(commentsOf(code).map(({ text }) => text)).toEqual(['Of a sentence. More.', 'Two.', 'Three four.']);
  });
});

describe('lint of a page', () => {
  it('accepts a page in plain English', () => {
    expect(lint('## Where docshelf stores data\n\ndocshelf serves the files in the bundle.\n')).toEqual([]);
  });

  it('requires title, description and kind in the manual only', () => {
    expect(lintPage('docs/page.md', '---\ntitle: Page\nkind: guide\n---\nText.\n')).toEqual([
      '1: the front matter has no description',
      '1: kind is "guide": use tutorial, how-to, reference, explanation',
    ]);
    expect(lintPage('README.md', 'Text.\n')).toEqual([]);
  });

  it('reports the line of a forbidden word, also in tables and descriptions', () => {
    expect(lint('Text.\n\n| a |\n|---|\n| the status says so |\n')).toEqual([
      '11: "says": use report, log, show or list',
    ]);
    expect(lintPage('docs/page.md', FRONT_MATTER.replace('A page.', 'Told.'))).toHaveLength(1);
  });

  it('allows one long sentence in ten sentences, or one long sentence on a short page', () => {
    expect(lint(`${LONG}\n`)).toEqual([]);
    expect(lint(`${LONG}\n${LONG}\n`)).toHaveLength(2);
    expect(lint(`${'A short one. '.repeat(2)}\n\n- ${LONG}\n- ${LONG}\n`).at(-1)).toContain('a sentence of 26 words');
    expect(
      lint(`${'A short one.\n'.repeat(18)}${LONG}\n${LONG}\n`).filter((finding) => /sentence/.test(finding)),
    ).toEqual([]);
  });

  it('limits the width of prose, but not of tables, code and link targets', () => {
    const wide = 'word '.repeat(21).trim();
    expect(lint(`${wide}\n`)).toEqual(['7: 104 columns: wrap at 100']);
    expect(lint(`| ${wide} |\n\n\`\`\`\n${wide}\n\`\`\`\n\n[page](https://${wide.replaceAll(' ', '/')})\n`)).toEqual(
      [],
    );
  });

  it('requires a zero before the decimal point', () => {
    expect(lint('It takes .48 s, or 0.48 s with `.48` and v1.48.\n')).toEqual(['7: ".48": write 0.48']);
  });
});

describe('lint of commits', () => {
  const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  const commit = (subject: string): string => {
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', subject);
    return git('rev-parse', 'HEAD');
  };

  it('reports long subjects and subjects with a semicolon', () => {
    expect(lintSubjects(['docs: fix a link', `docs: ${'x'.repeat(67)}`, 'a; b'])).toEqual([
      `"docs: ${'x'.repeat(67)}": 73 characters, at most 72`,
      '"a; b": a semicolon, split the commit',
    ]);
  });

  it('reads commits after the base commit, and skips a history without that commit', () => {
    git('init', '-q');
    const base = commit('old; subject');
    commit('docs: one');
    commit('docs: two');
    expect(subjectsSince(base, folder)).toEqual(['docs: two', 'docs: one']);
    expect(subjectsSince('0123456789', folder)).toBeNull();
    expect(subjectsSince(base, join(folder, 'missing'))).toBeNull();
  });
});

it('countText() counts pages, sentences and findings in any folder', () => {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  writeFileSync(join(project, 'a.md'), `What is left is told. ${LONG}\n\n\`\`\`\ncode\n\`\`\`\n`);
  writeFileSync(join(project, 'a.ts'), '/** Of a sentence. */\n// Counts pages.\n');
  writeFileSync(join(project, 'node_modules/b.md'), 'told\n');
  expect(countText(project)).toMatchObject({
    pages: 1,
    'clauses as nouns': 1,
    'told/tells/says': 1,
    sentences: 2,
    'sentences over 25 words': 1,
    'code blocks': 1,
    comments: 2,
    'headless comments': 1,
  });
});
