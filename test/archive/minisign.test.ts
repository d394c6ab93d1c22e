import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { signFile, verifyFile } from '../../src/archive/index.ts';
import { parsePublicKey, parseSecretKey } from '../../src/archive/minisign.ts';
import { DocshelfError } from '../../src/domain/errors.ts';
import { MINISIGN_DIR, minisignFile, SECRET_KEY } from '../helpers/minisign.ts';
import { Workbench } from './workbench.ts';

const BUNDLE = join(MINISIGN_DIR, 'bundle.txt');
const PUBLIC = minisignFile('throwaway.pub');
const OTHER = minisignFile('other.pub');
const SIGNATURE = minisignFile('bundle.txt.minisig');
const LEGACY = minisignFile('bundle.txt.legacy.minisig');
const KEY_ID = 'E240A99B1488FA7D';

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});

const faultOf = async (work: Promise<unknown>): Promise<DocshelfError | null> =>
  work.then(
    () => null,
    (error: unknown) => {
      if (error instanceof DocshelfError) return error;
      throw error;
    },
  );
const codeOf = async (work: Promise<unknown>) => (await faultOf(work))?.code ?? null;

/** Returns the text with one changed line. */
function withLine(text: string, number: number, change: (line: string) => string): string {
  return text
    .split('\n')
    .map((line, at) => (at === number ? change(line) : line))
    .join('\n');
}

/** Base64 of the line's bytes with one changed bit. */
function withBit(line: string, at: number): string {
  const bytes = Buffer.from(line, 'base64');
  bytes[at] = (bytes[at] as number) ^ 1;
  return bytes.toString('base64');
}

describe('verifyFile()', () => {
  it('accepts a signature of the minisign program, and returns the key and the trusted comment', async () => {
    const reported = { keyId: KEY_ID, trustedComment: 'version v1.2.3, größer' };
    expect(await verifyFile(BUNDLE, SIGNATURE, [OTHER, PUBLIC])).toEqual(reported);
    expect(await verifyFile(BUNDLE, SIGNATURE.replaceAll('\n', '\r\n'), [PUBLIC])).toEqual(reported);
  });

  it('accepts a legacy signature of the minisign program', async () => {
    expect(await verifyFile(BUNDLE, LEGACY, [PUBLIC])).toEqual({ keyId: KEY_ID, trustedComment: 'legacy' });
  });

  it('accepts a public key with and without its comment', async () => {
    const bare = PUBLIC.split('\n')[1] as string;
    expect(await verifyFile(BUNDLE, SIGNATURE, [bare])).toMatchObject({ keyId: KEY_ID });
    expect(parsePublicKey(bare).keyId).toBe(KEY_ID);
  });

  it('rejects an unexpected key, and names the expected keys', async () => {
    const fault = await faultOf(verifyFile(BUNDLE, SIGNATURE, [OTHER]));
    expect(fault?.code).toBe('bad_signature');
    expect(fault?.fields).toEqual({ expected: [parsePublicKey(OTHER).keyId] });
    expect(fault?.message).toContain(KEY_ID);
    expect(await codeOf(verifyFile(BUNDLE, SIGNATURE, []))).toBe('bad_signature');
  });

  it('rejects a public key that has only the key ID, but not the key material, of the signer', async () => {
    const point = Buffer.from(OTHER.split('\n')[1] as string, 'base64').subarray(10);
    const id = Buffer.from(PUBLIC.split('\n')[1] as string, 'base64').subarray(0, 10);
    const forged = Buffer.concat([id, point]).toString('base64');
    expect(await codeOf(verifyFile(BUNDLE, SIGNATURE, [forged]))).toBe('bad_signature');
    expect(await codeOf(verifyFile(BUNDLE, SIGNATURE, [forged, PUBLIC]))).toBeNull();
  });

  it.each<[string, (text: string) => string]>([
    ['its signature', (text) => withLine(text, 1, (line) => withBit(line, 30))],
    ['its key id', (text) => withLine(text, 1, (line) => withBit(line, 4))],
    ['its trusted comment', (text) => withLine(text, 2, (line) => `${line}!`)],
    ['its global signature', (text) => withLine(text, 3, (line) => withBit(line, 30))],
    ['its algorithm', (text) => withLine(text, 1, (line) => line.replace(/^RUR/, 'RWR'))],
    ['an unknown algorithm', (text) => withLine(text, 1, (line) => `AAAA${line.slice(4)}`)],
    ['truncated base64', (text) => withLine(text, 1, (line) => line.slice(0, -4))],
    ['invalid base64', (text) => withLine(text, 1, (line) => line.replace(/.$/, '!'))],
    ['an extra line', (text) => `${text}more\n`],
    ['no trusted comment', (text) => text.split('\n').slice(0, 2).join('\n')],
    ['an empty file', () => ''],
    ['an excessive length', (text) => withLine(text, 0, (line) => line + 'x'.repeat(30_000))],
  ])('rejects a changed signature: %s', async (_, change) => {
    expect(await codeOf(verifyFile(BUNDLE, change(SIGNATURE), [PUBLIC]))).toBe('bad_signature');
  });

  it.each([SIGNATURE, LEGACY])('rejects a file whose content differs from the signed content', async (signature) => {
    const file = join(bench.dir, 'bundle.txt');
    await writeFile(file, 'A bundle, or so it says!\n');
    expect(await codeOf(verifyFile(file, signature, [PUBLIC]))).toBe('bad_signature');
  });

  it('rejects a legacy signature of a file that is too large for memory', async () => {
    const file = join(bench.dir, 'large');
    await writeFile(file, '');
    await truncate(file, 256 * 1024 ** 2 + 1);
    expect((await faultOf(verifyFile(file, LEGACY, [PUBLIC])))?.message).toContain('legacy');
  });

  it.each([
    ['a secret key', SECRET_KEY],
    ['a PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
    ['an empty text', ''],
  ])('rejects a text that is not a public key: %s', async (_, text) => {
    expect(await codeOf(verifyFile(BUNDLE, SIGNATURE, [text]))).toBe('config_invalid');
  });

  it('stops with the reason of the abort signal', async () => {
    const reason = new Error('enough');
    await expect(verifyFile(BUNDLE, SIGNATURE, [PUBLIC], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('signFile()', () => {
  it('signs with a comment that verifyFile() returns, and returns the same signature each time', async () => {
    const file = join(bench.dir, 'bundle');
    await writeFile(file, Buffer.alloc(3_000_000, 'bundle '));
    const text = await signFile(file, SECRET_KEY, { trustedComment: 'sha256:…' });
    expect(await verifyFile(file, text, [PUBLIC])).toEqual({ keyId: KEY_ID, trustedComment: 'sha256:…' });
    expect(await signFile(file, SECRET_KEY, { trustedComment: 'sha256:…' })).toBe(text);
    await writeFile(file, Buffer.alloc(3_000_001, 'bundle '));
    expect(await codeOf(verifyFile(file, text, [PUBLIC]))).toBe('bad_signature');
  });

  it('creates the same signature as minisign', async () => {
    const text = await signFile(BUNDLE, SECRET_KEY, { trustedComment: 'version v1.2.3, größer' });
    expect(text.split('\n').slice(1)).toEqual(SIGNATURE.split('\n').slice(1));
  });

  it('rejects a comment of two lines', async () => {
    await expect(signFile(BUNDLE, SECRET_KEY, { trustedComment: 'a\nb' })).rejects.toThrow('one line');
  });

  it('rejects an encrypted key, and explains how to decrypt it', async () => {
    const fault = await faultOf(signFile(BUNDLE, minisignFile('encrypted.key'), { trustedComment: '' }));
    expect(fault?.code).toBe('config_invalid');
    expect(fault?.next).toContain('minisign -C -W');
  });
});

describe('parseSecretKey()', () => {
  it.each([
    ['a public key', PUBLIC],
    ['a damaged key', withLine(SECRET_KEY, 1, (line) => withBit(line, 70))],
    ['a truncated key', withLine(SECRET_KEY, 1, (line) => line.slice(0, 100))],
  ])('rejects an invalid secret key, and does not show the content of the key in the error: %s', (_, text) => {
    const parse = () => parseSecretKey(text);
    expect(parse).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    expect(parse).not.toThrow(text.split('\n')[1] as string);
  });
});

describe.skipIf(spawnSync('minisign', ['-v']).error !== undefined)('the minisign program', () => {
  const minisign = (...args: string[]) => execFileSync('minisign', args, { cwd: bench.dir, stdio: 'pipe' }).toString();

  it('verifies a signature of signFile()', async () => {
    const file = join(bench.dir, 'bundle');
    await writeFile(file, Buffer.alloc(3_000_000, 'bundle '));
    await writeFile(`${file}.minisig`, await signFile(file, SECRET_KEY, { trustedComment: 'from docshelf' }));
    expect(minisign('-V', '-H', '-Q', '-m', 'bundle', '-p', join(MINISIGN_DIR, 'throwaway.pub')).trim()).toBe(
      'from docshelf',
    );
  });

  it.each([[], ['-l']])(
    'creates, with a generated key, a signature that verifyFile() accepts: %s',
    async (...flags: string[]) => {
      minisign('-G', '-W', '-p', 'own.pub', '-s', 'own.key');
      await writeFile(join(bench.dir, 'bundle'), 'bytes');
      minisign('-S', ...flags, '-s', 'own.key', '-m', 'bundle', '-t', 'told');
      const text = await readFile(join(bench.dir, 'bundle.minisig'), 'utf8');
      const key = await readFile(join(bench.dir, 'own.pub'), 'utf8');
      expect(await verifyFile(join(bench.dir, 'bundle'), text, [key])).toMatchObject({ trustedComment: 'told' });
      expect(await codeOf(verifyFile(join(bench.dir, 'bundle'), text, [PUBLIC]))).toBe('bad_signature');
    },
  );
});
