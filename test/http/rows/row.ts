import type { RawAnswer } from './row-client.ts';

/**
 * A request and the expected parts of its response. `asked` is an address, preceded by its method if it is not GET, then fields
 * after ` | `. Or it contains complete messages that end in `↵↵` and are sent byte for byte: `↵` is CR LF, `␍` and `␊` are its
 * halves, `␀` is NUL. `expected` is the status, then ` | name: value` for an exact field, ` | name~ pattern`, or ` | -name` for
 * an absent field. `body` is the decoded body. Several messages have one text per response, and none after a close. In both,
 * `{etag}`, `{etag-gzip}` and `{date}` are values of the server's response for `/page.html`.
 */
export type Row = readonly [request: string, expected: string | readonly string[], nginx?: string];

export const isWhole = ([requested]: Row): boolean => requested.includes('↵');

export interface RowRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const SEPARATOR = ' | ';

export function requestOf(row: Row, words: Words): RowRequest {
  const [line = '', ...fields] = fill(row[0], words).split(SEPARATOR);
  const [, method = 'GET', target = ''] = /^(?:([A-Za-z-]+) )?(.*)$/s.exec(line) ?? [];
  return { method, target, fields: fields.map(fieldOf) };
}

function fieldOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1).trimStart()];
}

/**
 * A separate message closes its connection. After complete messages, another one follows to show that the connection is in
 * order.
 */
export function bytesOf(row: Row, words: Words): Buffer {
  if (isWhole(row)) {
    const text = fill(row[0], words).replaceAll('↵', '\r\n').replaceAll('␍', '\r').replaceAll('␊', '\n');
    return Buffer.from(text.replaceAll('␀', '\0') + LAST, 'latin1');
  }
  const { method, target, fields } = requestOf(row, words);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('')}\r\n`, 'latin1');
}

const LAST = 'GET /last.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Values by name, without braces. */
export type Words = Readonly<Record<string, string>>;

function fill(text: string, words: Words): string {
  return text.replaceAll(/\{([a-z-]+)\}/g, (whole, name: string) => words[name] ?? whole);
}

export function expectedOf([, expected]: Row): readonly string[] {
  return typeof expected === 'string' ? [expected] : expected;
}

/** Differences from the row. Empty if there are none. */
export function faultsOf(row: Row, answers: readonly RawAnswer[], words: Words): string[] {
  const expected = expectedOf(row);
  const statuses = answers.map(({ status }) => status).join(' ');
  const faults = expected.flatMap((each, at) => faultsOfOne(fill(each, words), answers[at]));
  return answers.length === expected.length ? faults : [`${answers.length} answers: ${statuses}`, ...faults];
}

function faultsOfOne(expected: string, answer: RawAnswer | undefined): string[] {
  const [status = '', ...matters] = expected.split(SEPARATOR);
  if (answer === undefined) return [`no answer for "${expected}"`];
  const faults = matters.map((each) => faultOf(each, answer)).filter((fault) => fault !== null);
  return String(answer.status) === status ? faults : [`${answer.status} and not ${status}`, ...faults];
}

function faultOf(matter: string, answer: RawAnswer): string | null {
  if (matter.startsWith('-')) {
    const found = fieldValue(answer, matter.slice(1));
    return found === undefined ? null : `${matter.slice(1)}: ${found}`;
  }
  const [, name = '', how, wanted = ''] = /^([A-Za-z-]+)([:~]) ?(.*)$/s.exec(matter) ?? [];
  const found = fieldValue(answer, name);
  const isRight = how === ':' ? found === wanted : found !== undefined && new RegExp(wanted, 's').test(found);
  return isRight ? null : `${name}: ${found?.slice(0, 200)} and not ${wanted}`;
}

function fieldValue({ fields, body }: RawAnswer, name: string): string | undefined {
  if (name !== 'body') return fields.get(name.toLowerCase());
  return body.toString();
}
