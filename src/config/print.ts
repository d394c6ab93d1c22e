import { linkWithoutSecrets, Secret } from '../domain/secret.ts';
import type { LoadedConfig } from './config.ts';
import { listKeys } from './schema-node.ts';

/** One key for a person: what holds, and who says so. */
export interface PrintedSetting {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

export interface PrintedConfig {
  /** The config file, or null where there is none. */
  readonly file: string | null;
  readonly rows: readonly PrintedSetting[];
  /** The same for programs: dotted key to value and origin. */
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>;
}

/** The effective values and where each came from. Sizes are bytes, durations milliseconds; secrets are `[redacted]`. */
export function printConfig(loaded: LoadedConfig): PrintedConfig {
  const printed = listKeys().map(({ path }) => {
    const key = path.join('.');
    return { key, value: publicValue(key, loaded.values.get(key)), origin: loaded.origins.get(key) ?? 'default' };
  });
  return {
    file: loaded.file,
    rows: printed.map(({ key, value, origin }) => ({ key, value: asText(value), origin })),
    settings: Object.fromEntries(printed.map(({ key, value, origin }) => [key, { value, origin }])),
  };
}

/** `network.proxy` is a secret only in its user part; its words say nothing about anyone. */
function publicValue(key: string, value: unknown): unknown {
  if (!(value instanceof Secret)) return value ?? null;
  if (key !== 'network.proxy') return value.toString();
  const proxy = value.reveal();
  return proxy === 'env' || proxy === 'off' ? proxy : linkWithoutSecrets(proxy);
}

function asText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
