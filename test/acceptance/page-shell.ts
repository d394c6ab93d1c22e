import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, DaemonProcess } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';
import { runCommands, writePrograms } from '../helpers/shell.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** A folder in which a test runs the commands of a manual page, next to a daemon. */
export class PageShell {
  readonly folder: string;
  readonly #bench: Bench;
  readonly #env: Readonly<Record<string, string>>;
  readonly #ports: readonly number[];

  private constructor(bench: Bench, folder: string, ports: readonly number[], env: Readonly<Record<string, string>>) {
    const [site, admin, api] = ports.map(String);
    this.folder = folder;
    this.#bench = bench;
    this.#ports = ports;
    this.#env = {
      DOCSHELF__SERVER__HOST: '127.0.0.1',
      DOCSHELF__SERVER__PORT: site ?? '',
      DOCSHELF__ADMIN__PORT: admin ?? '',
      DOCSHELF__API__PORT: api ?? '',
      ...env,
    };
  }

  /** @param env of the daemon and of the commands */
  static async open(bench: Bench, env: Readonly<Record<string, string>> = {}): Promise<PageShell> {
    const shell = new PageShell(bench, await bench.folder(), await freePorts(3), env);
    writePrograms(shell.folder);
    return shell;
  }

  async configure(config: string): Promise<void> {
    await writeFile(join(this.folder, 'config.yaml'), config);
  }

  start(): Promise<DaemonProcess> {
    return this.#bench.start(null, { folder: this.folder, env: this.#env });
  }

  /** Standard output of commands, with the ports of this daemon instead of the default ports. @throws Error if a command fails */
  async sh(commands: string): Promise<string> {
    const [site, admin, api] = this.#ports;
    const here = commands
      .replaceAll(':8080', `:${site}`)
      .replaceAll(':9090', `:${admin}`)
      .replaceAll(':8081', `:${api}`);
    return (await runCommands(here, this.folder, { env: this.#env })).stdout;
  }
}
