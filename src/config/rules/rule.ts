import type { Config } from '../schema/index.ts';

export interface Rule {
  /** The keys that it looks at; the fault is told at the first of them that somebody wrote. */
  readonly keys: readonly string[];
  /** @param daemon of an entry of `sites` the whole config, else the same */
  readonly broken: (config: Config, daemon: Config) => string | null;
}

export const rule = (
  keys: readonly string[],
  isBroken: (config: Config, daemon: Config) => boolean,
  sentence: string,
): Rule => ({
  keys,
  broken: (config, daemon) => (isBroken(config, daemon) ? sentence : null),
});

export const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i;
