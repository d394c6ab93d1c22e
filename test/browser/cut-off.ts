import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import type { Bench } from '../helpers/daemon.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { executablePath, launchChromium } from './reader.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
/** Starts the loopback device. The network contains nothing else. */
const NEW_NETWORK = ['--net', 'sh', '-c', 'ip link set lo up && echo up && exec cat'];

export const canCutOff = spawnSync('unshare', NEW_NETWORK, { input: '' }).status === 0;

/** Suffix for the name of a skipped suite. */
export const whyNoCutOff = canCutOff ? '' : ' (skipped: unshare cannot make a network here, which takes root and ip)';

const START_MS_MAX = 60_000;

/** Network namespace with only a loopback device. Its processes reach only each other. */
export class CutOffNetwork {
  readonly #bench: Bench;
  readonly #holder: ChildProcess;

  private constructor(bench: Bench, holder: ChildProcess) {
    this.#bench = bench;
    this.#holder = holder;
  }

  static async open(bench: Bench): Promise<CutOffNetwork> {
    const holder = spawn('unshare', NEW_NETWORK, { stdio: ['pipe', 'pipe', 'inherit'] });
    bench.onEnd(() => end(holder, () => holder.stdin?.end()));
    await once(holder.stdout ?? holder, 'data');
    return new CutOffNetwork(bench, holder);
  }

  /** Starts a daemon in the network with the config of that folder. @returns origin of its site, and a function that stops it */
  async startDaemon(folder: string): Promise<{ readonly site: string; stop(): Promise<void> }> {
    const [command = '', ...args] = this.#enter;
    const program = [process.execPath, PROGRAM, 'serve', '--config', join(folder, 'config.yaml')];
    // The environment of the test runner must not change the result.
    const env = { PATH: process.env.PATH ?? '', HOME: folder };
    const daemon = spawn(command, [...args, ...program], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const stop = (): Promise<void> => end(daemon, () => daemon.kill());
    this.#bench.onEnd(stop);
    let log = '';
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream?.on('data', (data: Buffer) => {
        log += data.toString();
      });
    }
    const site = await waitFor(
      () => (log.includes('"event":"activated"') ? (/site on (http:[^\s,]+)/.exec(log)?.[1] ?? null) : null),
      () => `the daemon does not serve: ${log}`,
      START_MS_MAX,
    );
    return { site, stop };
  }

  async launchChromium(): Promise<Browser> {
    const entry = join(await this.#bench.folder(), 'chromium');
    await writeFile(entry, `#!/bin/sh\nexec ${this.#enter.join(' ')} '${executablePath}' "$@"\n`);
    await chmod(entry, 0o755);
    const browser = await launchChromium([], entry);
    this.#bench.onEnd(() => browser.close());
    return browser;
  }

  get #enter(): readonly string[] {
    return ['nsenter', '--target', String(this.#holder.pid), '--net', '--'];
  }
}

async function end(child: ChildProcess, act: () => unknown): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  act();
  await ended;
}
