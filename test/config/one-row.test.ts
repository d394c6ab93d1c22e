import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../src/config/index.ts';
import type { NamedFile } from '../../src/config/read-config-file.ts';

const SCHEMA = '../../src/config/config.schema.json';

/** Returns the config schema with three additional keys. */
async function schemaWithRows(): Promise<{ default: unknown }> {
  const { schemaSource } = await import('../../src/config/schema/index.ts');
  const { duration, keyFile, optional, section, size } = await import('../../src/config/schema/blocks.ts');
  const rows = {
    patience: duration('1s', '1h', 'How long it waits.', '15m', { restart: true }),
    roomBytes: size('1KiB', '1GiB', 'Room that it takes.', '1MiB'),
    keyFile: optional(keyFile('File that holds its key.')),
  };
  const schema = JSON.parse(JSON.stringify(schemaSource));
  schema.properties.robot = JSON.parse(JSON.stringify(section(rows, 'The robot.')));
  return { default: schema };
}

/** Loads the modules that read the config schema again, so that they use the additional keys. */
async function modules() {
  const [config, reference, chart, folder] = await Promise.all([
    import('../../src/config/index.ts'),
    import('../../scripts/config-reference.ts'),
    import('../../scripts/chart/config-schema.ts'),
    import('./folder.ts'),
  ]);
  return { ...config, ...reference, ...chart, ...folder };
}

let at: Awaited<ReturnType<typeof modules>>;
beforeAll(async () => {
  vi.resetModules();
  vi.doMock(SCHEMA, schemaWithRows);
  at = await modules();
});
// Unload the modules, because other test files of the process would use them.
afterAll(() => {
  vi.doUnmock(SCHEMA);
  vi.resetModules();
});

/** Casts the config to its type with the additional keys. */
const robotOf = (config: Config) =>
  (config as unknown as { robot: { patienceMs: number; roomBytes: number; keyFile: NamedFile | null } }).robot;

describe('a config key that is added as one row of the schema', () => {
  it('is read from YAML and decoded by its unit', async () => {
    const { config, origins } = await at.load('robot: { patience: 2m }');
    expect(robotOf(config)).toMatchObject({ patienceMs: 120_000, roomBytes: 1024 ** 2, keyFile: null });
    expect(origins.get('robot.patience')).toBe('config.yaml:1:10');
  });

  it('is read from the environment and from flags', async () => {
    const env = { DOCSHELF__ROBOT__ROOM_BYTES: '2KiB' };
    const { config } = await at.load('', { env, flags: { 'robot.patience': '1h' } });
    expect(robotOf(config)).toMatchObject({ patienceMs: 3_600_000, roomBytes: 2048 });
  });

  it('can name a file, whose content is read and watched, but never printed', async () => {
    const loaded = await at.load('robot: { keyFile: key }', { files: { key: ' svc_canary\n' } });
    const { cwd } = loaded;
    expect(robotOf(loaded.config).keyFile?.text.reveal()).toBe('svc_canary');
    expect(loaded.watchedFiles).toContain(`${cwd}/key`);
    expect(at.printConfig(loaded).settings['robot.keyFile']).toEqual({
      value: `${cwd}/key`,
      origin: 'config.yaml:1:10',
    });
    expect(JSON.stringify([loaded.config, at.printConfig(loaded)])).not.toContain('canary');
  });

  it('is checked against its bounds, and is suggested instead of a misspelled name', async () => {
    expect(await at.briefsOf('robot:\n  patience: 2h\n  keyFile: none')).toEqual([
      'config_invalid robot.patience config.yaml:2:3',
      'config_invalid robot.keyFile config.yaml:3:3',
    ]);
    expect((await at.faultsOf('robot: { patiense: 2m }'))[0]?.message).toContain('did you mean "robot.patience"?');
  });

  it('is reported as pending if its change needs a restart', async () => {
    const [{ config: one }, { config: other }] = await Promise.all([
      at.load('robot: { patience: 2m }'),
      at.load('robot: { patience: 3m, roomBytes: 2KiB }'),
    ]);
    expect(at.pendingRestart(one, one)).toEqual([]);
    expect(at.pendingRestart(one, other).filter((key) => key !== 'storage.dir')).toEqual(['robot.patience']);
  });

  it('appears in the config reference', () => {
    const lines = at.configReference().split('\n');
    expect(lines).toContain('## robot');
    expect(lines).toContain(
      '| `robot.patience` | a duration such as 30s (s, m, h or d), from 1s to 1h | `15m` | `DOCSHELF__ROBOT__PATIENCE` | How long it waits. A change needs a restart. |',
    );
  });

  it('has its type checked by the schema of the chart', () => {
    const check = new Ajv({ strict: false }).compile(at.configSchemaOfChart());
    expect(check({ robot: { patience: '2m' } })).toBe(true);
    expect(check({ robot: { patience: 2 } })).toBe(false);
  });
});
