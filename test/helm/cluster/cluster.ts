import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonProcess, startDaemon } from '../../helpers/daemon.ts';
import { runShell, writePrograms } from '../../helpers/shell.ts';
import { ROOT } from '../chart.ts';
import { OWN_PORTS } from './own-ports.ts';

/**
 * A folder that simulates the cluster (see program.ts), with kubectl, helm and docshelf on its PATH, and the pod of the site as
 * a process.
 */
export class Cluster {
  readonly folder: string;
  #pod: DaemonProcess | null = null;
  #starting: Promise<void> | null = null;

  constructor(folder: string) {
    this.folder = folder;
    const program = (name: string): string =>
      `exec "${process.execPath}" "${join(import.meta.dirname, 'program.ts')}" ${name} "$@"`;
    writePrograms(folder, { kubectl: program('kubectl'), helm: program('helm') });
    // Commands run next to the chart, like in a checkout.
    symlinkSync(join(ROOT, 'helm'), join(folder, 'helm'));
  }

  get pod(): DaemonProcess {
    if (this.#pod === null) throw new Error('there is no pod');
    return this.#pod;
  }

  /**
   * Runs commands word for word, and starts the pod when a release needs one. @returns their output @throws Error if one fails
   */
  async run(commands: string, env: Readonly<Record<string, string>>): Promise<string> {
    const faults: unknown[] = [];
    const kubelet = setInterval(() => void this.#startPod().catch((error: unknown) => faults.push(error)), 100);
    const result = await runShell(`exec 2>&1\n${commands}`, this.folder, {
      env: { ...env, DOCSHELF_CLUSTER: this.folder },
    });
    clearInterval(kubelet);
    const output = `${result.stdout}${faults.join('\n')}`;
    if (result.code !== 0)
      throw new Error(`ended with ${result.code}:\n${commands}\n${output}\n${this.#pod?.log() ?? ''}`);
    return output;
  }

  async #startPod(): Promise<void> {
    if (this.#starting !== null || !existsSync(join(this.folder, 'pod.json'))) return;
    this.#starting = this.#start();
    await this.#starting;
  }

  async #start(): Promise<void> {
    const { command, env } = JSON.parse(readFileSync(join(this.folder, 'pod.json'), 'utf8')) as {
      command: string[];
      env: Record<string, string>;
    };
    const config = command[2] ?? '';
    if (command.join(' ') !== `serve --config ${config}`) throw new Error(`the pod runs ${command.join(' ')}`);
    this.#pod = await startDaemon(config, { ...env, ...OWN_PORTS });
    const { site, admin } = this.#pod;
    writeFileSync(join(this.folder, 'addresses.json'), JSON.stringify({ site, admin }));
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    await this.#pod?.stop();
  }
}
