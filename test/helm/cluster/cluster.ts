import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonProcess, startDaemon } from '../../helpers/daemon.ts';
import { ROOT } from '../chart.ts';
import { OWN_PORTS } from './own-ports.ts';

const COMMANDS_MS_MAX = 90_000;
/** A folder that plays the cluster (see program.ts), with kubectl, helm and docshelf on a PATH of its own, and the site's pod as a process. */
export class Cluster {
  readonly folder: string;
  #pod: DaemonProcess | null = null;
  #starting: Promise<void> | null = null;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, 'bin'));
    const program = (name: string, line: string): void =>
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
    const node = JSON.stringify(process.execPath);
    for (const name of ['kubectl', 'helm'])
      program(name, `${node} ${JSON.stringify(join(import.meta.dirname, 'program.ts'))} ${name}`);
    program('docshelf', `${node} ${JSON.stringify(join(ROOT, 'dist/main.js'))}`);
    // Commands are run beside the chart, as in a checkout.
    symlinkSync(join(ROOT, 'helm'), join(folder, 'helm'));
  }

  get pod(): DaemonProcess {
    if (this.#pod === null) throw new Error('there is no pod');
    return this.#pod;
  }

  /**
   * Runs commands word for word; starts the pod as soon as a release asks for one.
   *
   * @returns what they print
   * @throws where one fails
   */
  async run(commands: string, env: Readonly<Record<string, string>>): Promise<string> {
    const child = spawn('sh', ['-euc', commands], {
      cwd: this.folder,
      env: { ...env, PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`, DOCSHELF_CLUSTER: this.folder },
      timeout: COMMANDS_MS_MAX,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const kubelet = setInterval(() => void this.#startPod().catch((error: unknown) => (output += String(error))), 100);
    const code = await ended;
    clearInterval(kubelet);
    if (code !== 0) throw new Error(`ended with ${code}:\n${commands}\n${output}\n${this.#pod?.log() ?? ''}`);
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
