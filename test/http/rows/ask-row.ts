import { bytesOf, faultsOf, type Row, type Words } from './row.ts';
import { exchange, parseAnswers, type RawAnswer } from './row-client.ts';

/** Values of `{etag}` and the other placeholders, from a response for a page. */
export async function wordsOf(port: number): Promise<Words> {
  const send = async (row: Row) => (await answersTo(port, bytesOf(row, {}))).answers[0]?.fields;
  const plain = await send(['/page.html', '200']);
  const gzip = await send(['/page.html | Accept-Encoding: gzip', '200']);
  const word = (fields: RawAnswer['fields'] | undefined, name: string) => fields?.get(name) ?? `no ${name}`;
  return { etag: word(plain, 'etag'), 'etag-gzip': word(gzip, 'etag'), date: word(plain, 'last-modified') };
}

/** Differences between a server's response and the row. Empty if there are none. */
export async function requestRow(port: number, row: Row, words: Words): Promise<string[]> {
  const { answers, ended } = await answersTo(port, bytesOf(row, words));
  const faults = faultsOf(row, answers, words);
  return faults.length > 0 ? [...faults, ended] : faults;
}

async function answersTo(port: number, bytes: Buffer): Promise<{ answers: RawAnswer[]; ended: string }> {
  const methods = [...bytes.toString('latin1').matchAll(/([A-Z-]+) +\S+ +HTTP\/1\.[01]\r/g)].map(
    ([, method = '']) => method,
  );
  const { received, ended } = await exchange(port, bytes);
  return { answers: parseAnswers(received, methods), ended };
}
