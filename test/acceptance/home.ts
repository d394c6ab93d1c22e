import { join } from 'node:path';
import { type Bench, type CommandResult, type ConfigFile, type DaemonProcess, runDocshelf } from '../helpers/daemon.ts';
import { bundle, folderOf } from './bundles.ts';

export const JUNE = bundle('june');
export const JULY = bundle('july');

/** Ways to run a command: through the socket of a daemon, with or without an admin token, or in the folder itself. */
export const WAYS = ['with a daemon and a token', 'with a daemon and no token', 'without a daemon'] as const;
export type Way = (typeof WAYS)[number];

interface Shelf {
  readonly active: { readonly version: string } | null;
  readonly versions: readonly { readonly version: string }[];
}

/** A folder with a config and two archives, and a daemon if the way needs one. */
export class Home {
  readonly folder: string;
  readonly #bench: Bench;
  readonly #daemon: DaemonProcess | null;

  private constructor(folder: string, bench: Bench, daemon: DaemonProcess | null) {
    this.folder = folder;
    this.#bench = bench;
    this.#daemon = daemon;
  }

  static async open(bench: Bench, way: Way, staticExport: ConfigFile = {}): Promise<Home> {
    const folder = await bench.folder();
    await folderOf(folder, { 'docs-2024-06-01.tar.gz': JUNE, 'docs-2024-07-01.tar.gz': JULY });
    const admin = way === 'with a daemon and a token' ? { token: 'a-long-random-token' } : {};
    const config = { staticExport: { keep: 5, ...staticExport }, admin };
    if (way !== 'without a daemon') return new Home(folder, bench, await bench.start(config, { folder }));
    await bench.writeConfig(folder, config);
    return new Home(folder, bench, null);
  }

  /** `docshelf bundle … --json` */
  bundle(args: readonly string[], input?: Uint8Array): Promise<CommandResult> {
    const command = ['bundle', ...args, '--json', '--config', join(this.folder, 'config.yaml')];
    return runDocshelf(command, { cwd: this.folder, ...(input === undefined ? {} : { input }) });
  }

  /** Active version and stored versions. */
  async shelf(): Promise<[active: string | null, stored: string[]]> {
    const shelf: Shelf = this.#daemon ? await this.#daemon.status() : (await this.bundle(['list'])).json<Shelf>();
    return [shelf.active?.version ?? null, shelf.versions.map(({ version }) => version).sort()];
  }

  /** Home page that the daemon serves, or that the next start would serve. */
  async page(): Promise<string> {
    const daemon = this.#daemon ?? (await this.#bench.start(null, { folder: this.folder }));
    await daemon.until(({ state }) => state === 'ready');
    return (await fetch(`${daemon.site}/`)).text();
  }
}
