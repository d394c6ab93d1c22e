import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/config/read-yaml.ts';
import { briefsOf, faultsOf, load } from './folder.ts';

describe('readYaml()', () => {
  it.each([
    ['2024-06-01', '2024-06-01'],
    ['3.10', '3.10'],
    ['1e3', '1e3'],
    ['0x10', '0x10'],
    ['007', '007'],
    ['true', 'true'],
    ['"3.10"', '3.10'],
    ['!!str 3.10', '3.10'],
  ])('keeps the text of a scalar as written: version: %s', async (written, version) => {
    const { config } = await load(`staticExport: { version: ${written} }`);
    expect(config.staticExport.version).toBe(version);
  });

  it('keeps scalars as text if their key expects text, and otherwise reads numbers and booleans', async () => {
    const { config } = await load(
      'network: { allowedHosts: [10.5], retries: 2 }\nlog: { access: false }\ndeployment: {domain: 42}',
    );
    expect(config.network).toMatchObject({ allowedHosts: ['10.5'], retries: 2 });
    expect(config.log.access).toBe(false);
    expect(config.deployment.domain).toBe('42');
  });

  it('follows YAML 1.2, in which yes and off are text', async () => {
    expect(await briefsOf('staticExport: { enabled: yes }')).toEqual([
      'config_invalid staticExport.enabled config.yaml:1:17',
    ]);
    expect((await load('network: { proxy: off }')).config.network.proxy).toBe('off');
  });

  it('accepts aliases and a byte order mark', async () => {
    const { config } = await load('\ufefflog: { level: &x warn }\nstaticExport: { version: *x }');
    expect(config.staticExport.version).toBe('warn');
  });
});

describe('readYaml(), given an invalid or hostile file,', () => {
  it.each([
    ['a tab', 'server:\n\tport: 1', '2:1'],
    ['an open quote', 'log: "canary', '1:13'],
    ['a wrong indent', 'server:\n  port: 1\n host: x', '3:1'],
    ['text after a list', 'a: [x}canary]', '1:6'],
    ['a nested map', 'server:\n  port: a: canary', '2:9'],
    ['a wrong escape', 'log: "\\q"', '1:7'],
    ['two documents', 'log: {}\n---\nserver: {}', '2:1'],
    ['a custom tag', 'log:\n  level: !env canary', '2:10'],
    ['a tag for binary data', 'log:\n  level: !!binary canary', '2:19'],
    ['an unknown alias', 'log:\n  level: *canary', '2:10'],
    ['a text as root', 'canary', '1:1'],
    ['a list as root', '- a', '1:1'],
    ['an alias of itself', 'log: &a [*a, *a]', '1:10'],
    ['a billion laughs', bomb(), '1:13'],
    ['deep nesting', `log: ${'['.repeat(100)}${']'.repeat(100)}`, '1:38'],
  ])('reports line and column: %s', async (_, yaml, place) => {
    const faults = await faultsOf(yaml);
    expect(faults.map(({ code, where }) => `${code} ${where}`)).toEqual([`config_invalid config.yaml:${place}`]);
    expect(faults[0]?.message).not.toContain('canary');
  });

  it('reports an error for nesting that exhausts the stack of the parser', async () => {
    for (const opening of ['[', '{a: ', '- ', '? ']) {
      expect(await briefsOf(opening.repeat(50_000))).toEqual([
        expect.stringMatching(/^config_invalid null config.yaml:1:/),
      ]);
    }
  });

  it('reports every duplicate key together with all other errors', async () => {
    const yaml = 'server:\n  port: 1\n  port: 2\nlog: {}\nserver:\n  prot: 3\n';
    expect(await briefsOf(yaml)).toEqual([
      'config_invalid server.port config.yaml:3:3',
      'config_invalid server config.yaml:5:1',
      'config_invalid server.prot config.yaml:6:3',
    ]);
  });

  it('treats __proto__ as an unknown key', async () => {
    expect(await briefsOf('__proto__: { polluted: 1 }\nserver: { __proto__: 1, constructor: 2 }')).toEqual([
      'config_invalid __proto__ config.yaml:1:1',
      'config_invalid server.__proto__ config.yaml:2:11',
      'config_invalid server.constructor config.yaml:2:25',
    ]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('does not support merge keys', async () => {
    expect(await briefsOf('log: { <<: { level: warn } }')).toEqual(['config_invalid log.? config.yaml:1:8']);
  });
});

it('readYaml() uses the given file name in the position of each setting', () => {
  expect(readYaml('log: 1', 'conf/x.yaml').settings[0]?.where).toBe('conf/x.yaml:1:1');
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level += 1) {
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  return lines.join('\n');
}
