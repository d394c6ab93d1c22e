import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificateNotices, presentedCertificates, tlsSlice } from '../../src/app/tls.ts';
import { type Config, pendingRestart } from '../../src/config/index.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { faultsOf, load } from './folder.ts';

const NOW = Date.now();
const DAY_MS = 86_400_000;
const ONE = makeCertificate({ names: ['docs.acme.test', '127.0.0.1'] });
const OTHER = makeCertificate({ names: ['*.other.test'] });
const FILES = {
  'one.crt': ONE.cert,
  'one.key': ONE.key,
  'other.crt': OTHER.cert,
  'other.key': OTHER.key,
  'both.pem': `${OTHER.cert}${OTHER.key}`,
  'locked.key': ONE.key.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'),
  'torn.crt': ONE.cert.replace(/\n[^-].*\n/, '\n'),
  'torn.key': ONE.key.replace(/\n[^-].*\n/, '\n'),
};

const loadWith = (yaml: string) => load(yaml, { files: FILES });

describe('the tls section', () => {
  it('is off by default, and on if there is a certificate', async () => {
    const { config: plain } = await loadWith('');
    expect(tlsSlice(plain.server.tls)).toBeNull();
    const yaml =
      'server: { tls: { certFile: one.crt, keyFile: one.key, hsts: 1d, certificates: [{ certFile: both.pem, keyFile: both.pem }] } }';
    const { cwd, config, watchedFiles } = await loadWith(yaml);
    expect(tlsSlice(config.server.tls)).toMatchObject({
      http2: true,
      hstsMs: DAY_MS,
      pairs: [{ chain: ONE.cert.trim() }, {}],
    });
    expect(watchedFiles).toEqual(
      expect.arrayContaining(['one.crt', 'one.key', 'both.pem'].map((name) => join(cwd, name))),
    );
    expect(JSON.stringify(config)).not.toContain('PRIVATE KEY');
    const pending = (before: Config, after: Config) =>
      pendingRestart(before, after).filter((key) => key !== 'storage.dir');
    expect(pending(plain, config)).toEqual(['server.tls.certFile', 'server.tls.keyFile']);
    const moved = await loadWith('server: { tls: { certFile: both.pem, keyFile: both.pem, http2: false } }');
    expect(pending(config, moved.config)).toEqual([]);
  });

  it.each([
    ['server: { tls: { certFile: one.crt } }', 'server.tls.certFile', 'is set without a key'],
    ['admin: { tls: { keyFile: one.key } }', 'admin.tls.keyFile', 'is set without a certificate'],
    [
      'server: { tls: { certFile: one.crt, keyFile: other.key } }',
      'server.tls.keyFile',
      'is the key of another certificate',
    ],
    ['server: { tls: { certFile: one.crt, keyFile: locked.key } }', 'server.tls.keyFile', 'has a passphrase'],
    [
      'server: { tls: { certFile: one.crt, keyFile: torn.key } }',
      'server.tls.keyFile',
      'contains no valid PEM private key',
    ],
    [
      'server: { tls: { certFile: torn.crt, keyFile: one.key } }',
      'server.tls.certFile',
      'does not begin with a valid PEM certificate',
    ],
    [
      'server: { tls: { certFile: one.key, keyFile: one.key } }',
      'server.tls.certFile',
      'it does not contain a certificate in PEM',
    ],
    ['server: { tls: { certFile: none.crt, keyFile: one.key } }', 'server.tls.certFile', 'none.crt'],
    ['api: { tls: { hsts: 1d } }', 'api.tls.hsts', 'needs a certificate: set api.tls.certFile'],
    ['server: { tls: { redirectPort: 8000 } }', 'server.tls.redirectPort', 'needs a certificate'],
    [
      'server: { tls: { certificates: [{ certFile: one.crt, keyFile: one.key }] } }',
      'server.tls.certificates',
      'needs a certificate',
    ],
    [
      'server: { tls: { certFile: one.crt, keyFile: one.key, certificates: [{ certFile: other.crt, keyFile: one.key }] } }',
      'server.tls.certificates[0].keyFile',
      'is the key of another certificate',
    ],
    [
      'server: { tls: { certFile: one.crt, keyFile: one.key, redirectPort: 9090 } }',
      'server.tls.redirectPort',
      'is also the port of admin.port',
    ],
  ])('is rejected for the config %s, and the error names %s', async (yaml, key, sentence) => {
    const [fault, ...others] = await faultsOf(yaml, { files: FILES });
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: 'config_invalid', key, message: expect.stringContaining(sentence) });
    expect(fault?.where).toMatch(/^config\.yaml:1:\d+$/);
  });

  it('reports certificates that expire, that are not valid yet, and host names without a certificate', async () => {
    const { cwd, config } = await loadWith(
      'server: { publicUrl: "https://unknown.test", tls: { certFile: one.crt, keyFile: one.key } }\nsites: [{ domain: a, hosts: [docs.acme.test, b.other.test] }]',
    );
    expect(certificateNotices(config, NOW)).toEqual([
      'No certificate in server.tls names the host "unknown.test". Add a certificate for this host to server.tls.certificates.',
      'No certificate in server.tls names the host "b.other.test". Add a certificate for this host to server.tls.certificates.',
    ]);
    const at = (days: number) => certificateNotices(config, NOW + days * DAY_MS)[0];
    expect(at(75)).toContain(`The certificate "${join(cwd, 'one.crt')}" expires on `);
    expect(at(91)).toContain('so that clients reject it. Replace the file with a new certificate');
    expect(at(-2)).toContain('is not valid before');
    const [{ setting, endsAtMs } = { setting: '', endsAtMs: 0 }] = presentedCertificates(config);
    expect(setting).toBe('server.tls.certFile');
    expect(Math.round((endsAtMs - NOW) / DAY_MS)).toBe(90);
  });
});
