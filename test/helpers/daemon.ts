import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import type { StatusReport } from '../../src/domain/status.ts';
import { type CommandResult, type Env, type RunBy, type RunOptions, runDocshelf, spawnProgram } from './program.ts';
import { WAIT_MS_MAX, waitFor } from './wait-for.ts';

export { type CommandResult, codesOf, faultOf, type RunOptions, runDocshelf } from './program.ts';
export { waitFor } from './wait-for.ts';

/** Runs the built program as a child process, with real files in temporary folders and real sockets. */

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 90_000;

/** Sections of the config file. */
export type ConfigFile = Readonly<Record<string, unknown>>;
export type LastError = NonNullable<StatusReport['lastError']>;
/** Status of one site. With several sites, the status of each is in `sites`. */
export type Status = StatusReport & { readonly search: NonNullable<StatusReport['search']> };

/** Resolves when the daemon listens. Use `until` to wait for a version. */
export async function startDaemon(configFile: string, env: Env = {}, by: RunBy = {}): Promise<DaemonProcess> {
  const daemon = new DaemonProcess(configFile, env, by);
  try {
    await daemon.listening();
    return daemon;
  } catch (error) {
    await daemon.kill();
    throw error;
  }
}

export class DaemonProcess {
  readonly configFile: string;
  /** Folder of the config. */
  readonly folder: string;
  /** Origin without a slash at the end: `http://127.0.0.1:34567`. */
  site = '';
  admin = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #stdout = '';
  #stderr = '';
  #isSignalled = false;

  constructor(configFile: string, env: Env, by: RunBy = {}) {
    this.configFile = configFile;
    this.folder = dirname(configFile);
    this.#child = spawnProgram(['serve', '--config', configFile], this.folder, env, by);
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    // After the end, requests of a test fail only with a refused connection.
    this.#child.once('close', (code, signal) => {
      if (!this.#isSignalled && code === null) console.error(`a daemon was ended by ${signal}, which no test sent it`);
      else if (!this.#isSignalled && this.admin !== '') console.error(`a daemon ended with ${code}: ${this.log()}`);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The `storage.dir` of the bench's configs. */
  get dataDir(): string {
    return join(this.folder, 'data');
  }

  /** Standard output and standard error. */
  log(): string {
    return this.#stdout + this.#stderr;
  }

  /** Parsed lines of the log. */
  lines(): Record<string, unknown>[] {
    return this.#stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async listening(): Promise<void> {
    const { site = '', admin = '' } = await waitFor(
      () => {
        if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}: ${this.log()}`);
        return /site on (?<site>https?:[^\s,]+), admin on (?<admin>https?:[^\s",]+)/.exec(this.#stdout)?.groups ?? null;
      },
      () => `no line with the daemon's addresses: ${this.log()}`,
      START_MS_MAX,
    );
    this.site = site;
    this.admin = admin;
  }

  async status(): Promise<Status> {
    const response = await fetch(`${this.admin}/v1/status`);
    return (await response.json()) as Status;
  }

  /** Waits until the status meets the condition. @returns that status */
  async until(matches: (status: Status) => boolean, timeoutMs = WAIT_MS_MAX, everyMs?: number): Promise<Status> {
    let last: Status | null = null;
    return waitFor(
      async () => {
        last = await this.status();
        return matches(last) ? last : null;
      },
      () => `the status stays ${JSON.stringify(last, null, 2)}\n${this.log()}`,
      timeoutMs,
      everyMs,
    );
  }

  /** Waits until the daemon serves that version and no reload is pending. */
  async untilServing(version: string): Promise<Status> {
    return this.until((status) => status.state === 'ready' && status.active?.version === version);
  }

  /** Waits until `lastError` has that code and differs from the one in `before`. @returns the error */
  async untilError(code: string, before: Status | null = null): Promise<LastError> {
    const { lastError } = await this.until(
      (status) => status.lastError?.code === code && status.lastError.at !== before?.lastError?.at,
    );
    return lastError as LastError;
  }

  /** Merges changes into the config file and replaces the file in one step. A null value removes its key. */
  async rewriteConfig(changes: ConfigFile): Promise<void> {
    const config = parse(await readFile(this.configFile, 'utf8')) as ConfigFile;
    await this.replaceConfig(stringify(merge(config, changes)));
  }

  async replaceConfig(text: string): Promise<void> {
    const temporary = join(this.folder, `.config-${process.hrtime.bigint()}`);
    await writeFile(temporary, text);
    await rename(temporary, this.configFile);
  }

  signal(name: NodeJS.Signals): void {
    this.#isSignalled = true;
    this.#child.kill(name);
  }

  /** Waits until the daemon serves that version and has cleared `lastError`, which happens a moment later. */
  async untilRecovered(version: string): Promise<Status> {
    return this.until(
      ({ state, active, lastError }) => state === 'ready' && active?.version === version && lastError === null,
    );
  }

  async untilLogged(pattern: RegExp, msMax?: number): Promise<void> {
    await waitFor(
      () => (pattern.test(this.log()) ? true : null),
      () => `nothing logged like ${pattern}: ${this.log()}`,
      msMax,
    );
  }

  /** Stops the daemon. @returns its exit code */
  async stop(name: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.signal(name);
    return this.ended();
  }

  /** Exit code, or null if a signal ended the process. */
  async ended(): Promise<number | null> {
    const code = await Promise.race([this.#ended, sleep(STOP_MS_MAX, 'running' as const, { ref: false })]);
    if (code === 'running') throw new Error(`the daemon does not end: ${this.log()}`);
    return code;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }
}

/** Daemons, commands and folders of a test file. The hook that opened the bench removes them. */
export class Bench {
  readonly #daemons: DaemonProcess[] = [];
  readonly #folders: string[] = [];
  readonly #endings: (() => unknown)[] = [];

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'docshelf-test-'));
    this.#folders.push(folder);
    return folder;
  }

  /**
   * Starts a daemon on free ports, with its data next to the config file.
   *
   * @param config null uses the config in `folder`
   * @param folder default: a new folder
   */
  async start(
    config: ConfigFile | null,
    { folder, env, ...by }: { folder?: string; env?: Env } & RunBy = {},
  ): Promise<DaemonProcess> {
    const home = folder ?? (await this.folder());
    const configFile = config === null ? join(home, 'config.yaml') : await this.writeConfig(home, config);
    const daemon = await startDaemon(configFile, env, by);
    this.#daemons.push(daemon);
    return daemon;
  }

  /** Writes `config.yaml` with these settings and `withDefaults`. @returns its path */
  async writeConfig(folder: string, config: ConfigFile): Promise<string> {
    const file = join(folder, 'config.yaml');
    await writeFile(file, stringify(withDefaults(config)));
    return file;
  }

  /** Runs one command to its end, by default in a new folder. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    return runDocshelf(args, { ...options, cwd: options.cwd ?? (await this.folder()) });
  }

  /** Registers a function that ends another resource, such as a server. The last one runs first. */
  onEnd(end: () => unknown): void {
    this.#endings.push(end);
  }

  async end(): Promise<void> {
    for (const daemon of this.#daemons.splice(0)) await daemon.kill();
    for (const end of this.#endings.splice(0).reverse()) await end();
    for (const folder of this.#folders.splice(0)) await rm(folder, { recursive: true, force: true });
  }
}

/** Creates a bench that vitest's `afterEach` or `afterAll` clears. */
export function openBench(hook: (clear: () => Promise<void>) => unknown): Bench {
  const bench = new Bench();
  hook(() => bench.end());
  return bench;
}

/**
 * Adds defaults: free loopback ports, JSON log lines, and serving. Search is on only if the config mentions it, and without its
 * model.
 */
export function withDefaults(config: ConfigFile): ConfigFile {
  const defaults = {
    staticExport: { enabled: true },
    server: { host: '127.0.0.1', port: 0 },
    admin: { port: 0 },
    api: { port: 0 },
    storage: { dir: './data' },
    // An index takes as much processor time as the rest of a start. The model takes more than most tests.
    search: { model: 'off', ...('search' in config ? {} : { enabled: false }) },
    log: { format: 'json' },
  };
  return merge(defaults, config);
}

function merge(base: ConfigFile, changes: ConfigFile): ConfigFile {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const former = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isMap(former) && isMap(value) ? merge(former, value) : value;
  }
  return merged;
}

function isMap(value: unknown): value is ConfigFile {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
