import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOf, load } from './folder.ts';

const USER = 'anna:$2y$05$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba';
const entry = (domain: string, more: string): string =>
  `  - { domain: ${domain}, staticExport: { enabled: true }, ${more} }\n`;

const BASIC = 'server: { auth: { kind: basic, usersFile: ./users } }';

async function faultsWith(users: string, yaml = BASIC) {
  return load(yaml, { files: { users } }).then(
    () => [],
    (error) => error.faults.map(({ message }: { message: string }) => message),
  );
}

describe('server.auth', () => {
  it.each<[string, RegExp]>([
    ['server: { auth: { kind: basic } }', /which needs users: .* set server\.auth\.usersFile/],
    ['server: { auth: { kind: header } }', /needs the name of the header/],
    ['server: { auth: { kind: header, name: X-User } }', /no proxy is trusted/],
    ['server: { auth: { kind: header, name: X-User }, trustedProxies: [0.0.0.0/0] }', /all addresses/],
    ['server: { auth: { kind: header, name: "X User" }, trustedProxies: [10.0.0.1] }', /name of a header/],
    ['server: { auth: { kind: oidc, clientId: docs }, publicUrl: "https://d.test" }', /needs a provider/],
    ['server: { auth: { kind: oidc, clientId: docs, issuer: "https://i.test" } }', /set server\.publicUrl/],
    [
      'server: { auth: { kind: oidc, clientId: docs, issuer: "http://i.test" }, publicUrl: "https://d.test" }',
      /server\.auth\.issuer is not encrypted/,
    ],
    [
      'server: { auth: { kind: oidc, clientId: docs, issuer: "https://i.test" }, publicUrl: "http://d.test" }',
      /server\.publicUrl is not encrypted/,
    ],
    [
      'network: { allowedHosts: [a.test] }\nserver: { auth: { kind: oidc, clientId: docs, issuer: "https://i.test" }, publicUrl: "https://d.test" }',
      /server\.auth\.issuer contains a host that network\.allowedHosts does not list/,
    ],
    ['server: { auth: { kind: basic, usersFile: ./none } }', /it does not exist/],
    [`sites:\n${entry('acme', 'auth: { kind: basic }')}`, /sites\[0\] \(acme\): .*needs users/],
    [
      `server: { trustedProxies: [10.0.0.1] }\nsites:\n${entry('acme', 'auth: { kind: header, name: X-User }')}${entry('beta', 'basePath: /beta')}`,
      /"beta" and site "acme" have different auth on every other host/,
    ],
    [
      `server: { trustedProxies: [10.0.0.1], auth: { kind: header, name: X-User } }\nsites:\n${entry('acme', 'hosts: [A.test]')}${entry('beta', 'basePath: /b, hosts: [b.test, a.test], auth: { kind: none }')}`,
      /"beta" and site "acme" have different auth on a\.test/,
    ],
    [
      `server: { trustedProxies: [10.0.0.1], auth: { kind: header, name: X-User } }\nsites:\n${entry('acme', 'hosts: [a.test]')}${entry('beta', 'basePath: /b, hosts: [b.test], auth: { kind: none }')}`,
      /sites\[1\]\.auth: site "beta" and the shelf page have different auth on b\.test.*server\.shelf to false/,
    ],
    [
      `server: { trustedProxies: [10.0.0.1], auth: { kind: header, name: X-User } }\nsites:\n${entry('acme', 'basePath: /a, auth: { kind: none }')}`,
      /site "acme" and the shelf page have different auth on every other host/,
    ],
  ])('is rejected with the invalid config %s', async (yaml, expected) => {
    const faults = await faultsOf(yaml);
    expect(faults.map(({ message }) => message).join('\n')).toMatch(expected);
  });

  it.each([
    [
      'an open shelf page',
      'auth: { kind: none }',
      'basePath: /b, hosts: [b.test], auth: { kind: header, name: X-User }',
    ],
    ['no shelf page', 'shelf: false, auth: { kind: header, name: X-User }', 'basePath: /b, auth: { kind: none }'],
    ['a shelf page on another host', 'auth: { kind: header, name: X-User }', 'hosts: [b.test], auth: { kind: none }'],
    ['the same sign-in', 'auth: { kind: header, name: X-User }', 'basePath: /b'],
  ])('is accepted if the config contains %s', async (_, server, site) => {
    const yaml = `server: { trustedProxies: [10.0.0.1], ${server} }\nsites:\n${entry('beta', site)}`;
    expect(await faultsWith(USER, yaml)).toEqual([]);
  });

  it.each<[string, string]>([
    ['another kind of hash', 'anna:$apr1$abcdefgh$abcdefghijklmnopqrstu.'],
    ['a plain password', 'anna:secret'],
    ['SHA-1', 'anna:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='],
    ['a cost that takes minutes', USER.replace('$05$', '$20$')],
    ['no user name', USER.slice(4)],
    ['a truncated hash', USER.slice(0, -1)],
  ])('rejects a users file with %s, and reports the line but not its text', async (_, line) => {
    const [fault] = await faultsWith(`# readers\n\n${USER}\n${line}\n`);
    expect(fault).toMatch(/line 4 does not contain a user of htpasswd with a bcrypt password/);
    expect(fault).not.toContain(line);
  });

  it('accepts all notations of htpasswd -B, and watches the file', async () => {
    const users = `# readers\r\n${USER}\r\n\r\nben:$2b$14$${USER.slice(12)}\nÆsop of Samos:$2a$04$${USER.slice(12)}`;
    expect(await faultsWith(users)).toEqual([]);
    const { cwd, watchedFiles } = await load(BASIC, { files: { users } });
    expect(watchedFiles).toContain(join(cwd, 'users'));
  });

  it('reports an empty users file', async () => {
    expect(await faultsWith('\n')).toEqual([expect.stringMatching(/it is empty/)]);
  });

  it('accepts session keys of 32 characters or more, one per line', async () => {
    const files = 'sessionKeyFile: ./keys, clientSecretFile: ./secret';
    const oidc = `{ kind: oidc, clientId: docs, issuer: "http://127.0.0.1:1", ${files} }`;
    const loadWith = (keys: string) =>
      load(`server: { auth: ${oidc}, publicUrl: "http://localhost:8080" }`, { files: { keys, secret: 'canary' } });
    const { config } = await loadWith(`${'a'.repeat(32)}\n${'b'.repeat(40)}\n`);
    expect(config.server.auth.sessionTtlMs).toBe(12 * 3_600_000);
    expect(config.server.auth.clientSecretFile?.text.reveal()).toBe('canary');
    await expect(loadWith(`${'a'.repeat(32)}\nshort`)).rejects.toThrow(/line 2 does not contain a key of 32/);
  });

  it('is overridden by an entry of sites, and may differ between sites on different hosts', async () => {
    const yaml = `${BASIC}
sites:
${entry('acme', 'hosts: [a.test]')}${entry('beta', 'hosts: [b.test], auth: { kind: none }')}`;
    const { sites } = await load(yaml, { files: { users: USER } });
    expect(sites.map(({ config }) => config.server.auth.kind)).toEqual(['basic', 'none']);
    expect(sites[0]?.config.server.auth.usersFile?.text.reveal()).toBe(USER);
  });
});
