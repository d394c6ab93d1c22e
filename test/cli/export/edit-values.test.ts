import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editValues } from '../../../src/cli/export/write-values.ts';
import { DocshelfError } from '../../../src/domain/errors.ts';

const VALUES = { bundleUrl: 'https://x.test/b?a=1&b=%2F#c', version: '2024-06-01', sha256: '00e1' };
const [URL_LINE, VERSION_LINE, SHA_LINE] = [
  'bundleUrl: "https://x.test/b?a=1&b=%2F#c"',
  'version: "2024-06-01"',
  'sha256: "00e1"',
];
const lines = (indent: string, eol = '\n') =>
  [URL_LINE, VERSION_LINE, SHA_LINE].map((line) => `${indent}${line}${eol}`).join('');

describe('editValues()', () => {
  it.each<[name: string, before: string, after: string]>([
    ['writes a new text if the file is empty', '', `staticExport:\n${lines('  ')}`],
    ['keeps the comment of a file that contains only a comment', '# mine\n', `# mine\nstaticExport:\n${lines('  ')}`],
    [
      'adds the section after the last section, with the indentation of the file, even without a final newline',
      '# a\nserver:\n    port: 1 # one\nlog: { level: info }',
      `# a\nserver:\n    port: 1 # one\nlog: { level: info }\nstaticExport:\n${lines('    ')}`,
    ],
    [
      'replaces existing values, adds missing ones, and keeps comments, blank lines and order',
      "staticExport:\n  # the link\n  bundleUrl:   'old'   # secret\n\n  enabled: true\n  # sha256: none\n\n# tail\nserver: {}\n",
      `staticExport:\n  # the link\n  bundleUrl:   "https://x.test/b?a=1&b=%2F#c"   # secret\n\n  enabled: true\n  ${VERSION_LINE}\n  ${SHA_LINE}\n  # sha256: none\n\n# tail\nserver: {}\n`,
    ],
    [
      'keeps CRLF',
      'staticExport:\r\n   version: v1\r\n\r\nserver:\r\n   port: 1\r\n',
      `staticExport:\r\n   ${VERSION_LINE}\r\n   ${URL_LINE}\r\n   ${SHA_LINE}\r\n\r\nserver:\r\n   port: 1\r\n`,
    ],
    ['fills a section without content', 'staticExport: # todo\nx: 1\n', `staticExport: # todo\n${lines('  ')}x: 1\n`],
    [
      'fills keys without content',
      'staticExport:\n  bundleUrl:\n  version: # v\n  sha256:   \n',
      `staticExport:\n  ${URL_LINE}\n  ${VERSION_LINE} # v\n  sha256:   "00e1"\n`,
    ],
    [
      'replaces a folded value',
      'staticExport:\n  bundleUrl: >-\n    https://old\n  version: v1\n  sha256: "1"\nx: 1\n',
      `staticExport:\n${lines('  ')}x: 1\n`,
    ],
    [
      'writes into a map on one line',
      'staticExport: {enabled: true, version: v1}\n',
      `staticExport: { ${SHA_LINE}, ${URL_LINE}, enabled: true, ${VERSION_LINE}}\n`,
    ],
    ['writes into an empty map', 'staticExport: {}\n', `staticExport: { ${SHA_LINE}, ${VERSION_LINE}, ${URL_LINE} }\n`],
    ['keeps the byte order mark', '\ufeffx: 1\n', `\ufeffx: 1\nstaticExport:\n${lines('  ')}`],
    [
      'writes before the end mark of the document',
      '---\nstaticExport:\n  version: v1\n...\n',
      `---\nstaticExport:\n  ${VERSION_LINE}\n  ${URL_LINE}\n  ${SHA_LINE}\n...\n`,
    ],
  ])('edits each form of YAML: %s', (_, before, after) => {
    expect(editValues(before, VALUES)).toBe(after);
    expect(editValues(after, VALUES)).toBe(after);
  });

  it.each([
    ['a list', '- a\n'],
    ['two documents', 'a: 1\n---\nb: 1\n'],
    ['invalid YAML', 'a: [\n'],
    ['a section that is a text', 'staticExport: text\n'],
    ['a section that is an alias', 'a: &a { x: 1 }\nstaticExport: *a\n'],
    ['a value with an anchor that an alias uses', 'staticExport:\n  version: &v v1\nother: *v\n'],
    ['a duplicate key', 'staticExport:\n  version: a\n  version: b\n'],
  ])('rejects a text in which it cannot set the values: %s', (_, text) => {
    expect(() => editValues(text, VALUES)).toThrow(DocshelfError);
  });

  it('changes only the lines that contain the given values', () => {
    const scalar = fc.constantFrom(
      '1',
      '"q: #"',
      "'s'",
      'plain text',
      '',
      '[1, 2]',
      '{ a: 1 }',
      '|\n      block\n      text',
      'null',
    );
    const comment = fc.constantFrom('', ' # note', '\n\n# alone', '\n  # deep');
    const entry = fc.tuple(fc.constantFrom('enabled', 'version', 'keep', 'sha256', 'bundleUrl'), scalar, comment);
    const section = fc.uniqueArray(entry, { selector: ([key]) => key, maxLength: 4 });
    const others = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), scalar, comment), {
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(others, section, others, fc.constantFrom('\n', '\r\n'), (before, inside, after, eol) => {
        const top = (entries: typeof before, prefix: string) =>
          entries
            .map(([key, value, note]) => `${prefix}${key}: ${value}${value.startsWith('|') ? '' : note}\n`)
            .join('');
        const body = inside
          .map(([key, value, note]) => `  ${key}: ${value}${value.startsWith('|') ? '' : note}\n`)
          .join('');
        const text = `${top(before, '')}staticExport:\n${body}${top(after, 'z')}`.replaceAll('\n', eol);
        const edited = editValues(text, VALUES);
        const data = parse(text) as Record<string, object | null>;
        expect(parse(edited)).toEqual({ ...data, staticExport: { ...data.staticExport, ...VALUES } });
        const ours = /^\s*(?:bundleUrl|version|sha256):/;
        const rest = (all: string) => all.split(eol).filter((line) => !ours.test(line) && !/^ {6}/.test(line));
        expect(rest(edited)).toEqual(rest(text));
      }),
      { numRuns: 300 },
    );
  });
});
