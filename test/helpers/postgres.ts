import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { onFileEnd } from './file-end.ts';
import { freePort } from './free-ports.ts';

/** Starts a real PostgreSQL (Debian's package) on a free loopback port, in a temporary folder. */

const PROGRAMS = dirname(globSync('/usr/lib/postgresql/*/bin/postgres').sort().at(-1) ?? '');
export const HAS_POSTGRES = PROGRAMS !== '.';
if (!HAS_POSTGRES) process.stdout.write('PostgreSQL is not installed: its tests are skipped\n');

const USER = 'docshelf';
const PASSWORD = 'hidden-word';

/** PostgreSQL refuses to run as root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })));
  return uid === undefined || gid === undefined ? {} : { uid, gid };
}

export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #settings: readonly string[];
  #child: ChildProcess | null = null;
  #databases = 0;

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** Starts a server that ends with the test file. @param settings as `name=value` */
  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'docshelf-postgres-'));
    await chmod(folder, 0o700);
    const { uid, gid } = owner();
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, PASSWORD, { mode: 0o644 });
    const made = [
      '-D',
      join(folder, 'data'),
      '-U',
      USER,
      '-A',
      'scram-sha-256',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ];
    execFileSync(join(PROGRAMS, 'initdb'), [...made, `--pwfile=${passwordFile}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      ...owner(),
    });
    const server = new PostgresServer(folder, await freePort(), settings);
    onFileEnd(async () => {
      await server.stop('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    });
    await server.go();
    return server;
  }

  /** Enables TLS connections. @param tls files in PEM */
  async useTls(tls: { readonly certFile: string; readonly keyFile: string }): Promise<void> {
    const [certFile, keyFile] = [join(this.folder, 'certificate.pem'), join(this.folder, 'key.pem')];
    await copyFile(tls.certFile, certFile);
    await copyFile(tls.keyFile, keyFile);
    await chmod(keyFile, 0o600);
    const { uid, gid } = owner();
    if (uid !== undefined && gid !== undefined) chownSync(keyFile, uid, gid);
    await this.query(`ALTER SYSTEM SET ssl_cert_file = '${certFile}'`);
    await this.query(`ALTER SYSTEM SET ssl_key_file = '${keyFile}'`);
    await this.query('ALTER SYSTEM SET ssl = on');
    await this.stop();
    await this.go();
  }

  /** Process id of the main process, or 0 if it is stopped. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts the server again on the same port, with the same data. */
  async go(): Promise<void> {
    const fast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off', 'jit=off'];
    const own = [`unix_socket_directories=${this.folder}`, 'listen_addresses=127.0.0.1', `port=${this.port}`];
    const settings = [...fast, ...own, 'max_connections=200', ...this.#settings].flatMap((setting) => ['-c', setting]);
    const child = spawn(join(PROGRAMS, 'postgres'), ['-D', join(this.folder, 'data'), ...settings], {
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...owner(),
    });
    this.#child = child;
    const lines = createInterface({ input: child.stderr });
    await new Promise<void>((resolve, reject) => {
      const output: string[] = [];
      lines.on('line', (line) => {
        if (/ready to accept connections/.test(line)) resolve();
        output.push(line);
      });
      child.once('exit', () => reject(new Error(`PostgreSQL has ended: ${output.join('\n')}`)));
    });
  }

  /** SIGINT stops the server at once, with a clean shutdown. SIGQUIT acts like a crash. SIGKILL would leave its children. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill(signal);
    await ended;
  }

  /** Suspends all its processes: connections are accepted, and stay without a response. @returns a function that resumes them */
  async freeze(): Promise<() => void> {
    const children = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    const pids = [this.pid, ...children.trim().split(' ').map(Number)];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return () => pids.splice(0).forEach((pid) => void process.kill(pid, 'SIGCONT'));
  }

  /** Creates an empty database, or a copy of `template`. @returns its URL */
  async createDatabase(template = 'template0'): Promise<string> {
    this.#databases += 1;
    const name = `site_${this.#databases}`;
    await this.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    return this.url(name);
  }

  url(database: string): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs a statement as the superuser. @returns the rows */
  async query(sql: string, url = this.url('postgres')): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
}
