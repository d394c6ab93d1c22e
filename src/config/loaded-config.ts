import type { Secret } from '../domain/secret.ts';
import type { Config } from './schema/index.ts';

/** A site as the config has it: the one of the single form, or an entry of `sites`. */
export interface SiteConfig {
  /** Null in the single form where `deployment.domain` is not set. */
  readonly domain: string | null;
  readonly title: string | null;
  /** In lower case; none: every host that no other site names. */
  readonly hosts: readonly string[];
  /** With a slash at both ends. */
  readonly basePath: string;
  /** The config as a daemon of this site alone would have it. */
  readonly config: Config;
}

export interface LoadedConfig {
  readonly config: Config;
  /** One in the single form. */
  readonly sites: readonly SiteConfig[];
  /** Absolute; null where there is none. */
  readonly file: string | null;
  /** Text of the file; null where there is none. */
  readonly text: Secret | null;
  /** JSON pointers of all values in the file and in `organizationsFile`. */
  readonly written: ReadonlySet<string>;
  /** Dotted key to `default`, `config.yaml:3:5`, `environment NAME`, `file PATH (NAME)` or `flag`. */
  readonly origins: ReadonlyMap<string, string>;
  /** The config file and every file that it names, absolute. */
  readonly watchedFiles: readonly string[];
}
