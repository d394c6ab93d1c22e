import type { Config } from '../schema/index.ts';

export interface Rule {
  /** The keys that it looks at; the fault is told at the first of them that somebody wrote. */
  readonly keys: readonly string[];
  readonly broken: (config: Config) => string | null;
}

export const rule = (keys: readonly string[], isBroken: (config: Config) => boolean, sentence: string): Rule => ({
  keys,
  broken: (config) => (isBroken(config) ? sentence : null),
});
