import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signatureSlice } from '../../src/app/slices.ts';
import { minisignFile } from '../helpers/minisign.ts';
import { briefsOf, faultsOf, load } from './folder.ts';

const PUBLIC = minisignFile('throwaway.pub');
const BARE = PUBLIC.split('\n')[1] as string;
const SIGNATURE = minisignFile('bundle.txt.minisig');

describe('staticExport.signature', () => {
  it('requires no signature by default', async () => {
    const { config } = await load('');
    expect(signatureSlice(config)).toEqual({ required: false, publicKeys: [], text: null, link: null });
  });

  it('accepts keys as files or inline, and reads the signature', async () => {
    const yaml = `staticExport: { signature: { required: true, publicKeys: [keys/a.pub, "${BARE}"], file: a.minisig } }`;
    const { config, watchedFiles, cwd } = await load(yaml, { files: { 'keys/a.pub': PUBLIC, 'a.minisig': SIGNATURE } });
    expect(signatureSlice(config)).toEqual({
      required: true,
      publicKeys: [PUBLIC.trim(), BARE],
      text: SIGNATURE.trim(),
      link: null,
    });
    expect(watchedFiles).toEqual(expect.arrayContaining([join(cwd, 'keys/a.pub'), join(cwd, 'a.minisig')]));
  });

  it('requires a signature if keys are given, unless the config sets required: false', async () => {
    const required = async (more: string) => {
      const { config } = await load(`staticExport: { signature: { publicKeys: ["${BARE}"]${more} } }`);
      return signatureSlice(config).required;
    };
    expect([await required(''), await required(', required: false'), await required(', required: true')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('keeps the link to the signature secret', async () => {
    const url = 'https://bundles.example.com/a.minisig?signature=canary';
    const { config } = await load(`staticExport: { signature: { publicKeys: ["${BARE}"], url: "${url}" } }`);
    expect(config.staticExport.signature.url?.reveal()).toBe(url);
    expect(JSON.stringify(config)).not.toContain('canary');
  });

  it.each([
    ['{ required: true }', 'required'],
    ['{ url: "https://x/y" }', 'url'],
    [`{ publicKeys: [none.pub] }`, 'publicKeys\\[0\\]'],
    [`{ publicKeys: [config.yaml] }`, 'publicKeys\\[0\\]'],
    [`{ publicKeys: ["${BARE}"], file: none.minisig }`, 'file'],
  ])('is rejected with the invalid settings %s', async (signature, key) => {
    const [brief, ...others] = await briefsOf(`staticExport: { signature: ${signature} }`);
    expect(brief).toMatch(new RegExp(`^config_invalid staticExport\\.signature\\.${key} config\\.yaml:1:\\d+$`));
    expect(others).toEqual([]);
  });

  it('accepts a file or a link, but not both', async () => {
    const yaml = `staticExport: { signature: { publicKeys: ["${BARE}"], file: a, url: "https://x/y" } }`;
    const faults = await faultsOf(yaml, { files: { a: SIGNATURE } });
    expect(faults).toMatchObject([{ code: 'config_invalid', key: 'staticExport.signature.file' }]);
  });
});
