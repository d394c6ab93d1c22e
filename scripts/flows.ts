import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { tableOf } from '../bench/search/table.ts';
import { gz, rawTar } from '../test/helpers/archives.ts';
import { type DaemonProcess, openBench } from '../test/helpers/daemon.ts';

/**
 * `npm run flows [-- FLOW]`: counts the files and functions of src/ that the main thread executes for a reload, a page and a
 * search, by V8's precise coverage. With the name of a flow it lists the functions of each file. It omits threads and child
 * processes, and for a page and a search also timers. The build must contain source maps.
 */

const SOURCES = resolve(import.meta.dirname, '../src');
const QUIET_MS = 1_000;
const IDLE_MS = 10_000;
const listed = process.argv[2];

interface Coverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** Path under src/, with the names of its executed functions, each with its line. */
type Executed = ReadonlyMap<string, ReadonlySet<string>>;

class Inspector {
  readonly #socket: WebSocket;
  #next = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    const inspector = new Inspector(socket);
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return inspector;
  }

  async send<T>(method: string, params: object = {}): Promise<T> {
    const id = this.#next++;
    const { promise, resolve: answer, reject } = Promise.withResolvers<T>();
    const listen = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as { id?: number; result?: T; error?: { message: string } };
      if (message.id !== id) return;
      this.#socket.removeEventListener('message', listen);
      if (message.error) reject(new Error(message.error.message));
      else answer(message.result as T);
    };
    this.#socket.addEventListener('message', listen);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return promise;
  }

  /** Functions that were executed since the previous call. */
  async executed(): Promise<Executed> {
    const { result } = await this.send<{ result: readonly Coverage[] }>('Profiler.takePreciseCoverage');
    const executed = new Map<string, Set<string>>();
    for (const { url, functions } of result) {
      const source = sourceOf(url);
      if (source === null) continue;
      for (const { functionName, ranges } of functions) {
        const [range] = ranges;
        // Skip a function that starts at 0, which is the module itself.
        if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
        const origin = source.originOf(range.startOffset);
        if (origin === null) continue;
        const names = executed.get(origin.path) ?? new Set();
        names.add(`${functionName || '(anonymous)'}:${origin.line}`);
        executed.set(origin.path, names);
      }
    }
    return executed;
  }

  close(): void {
    this.#socket.close();
  }
}

class BuiltFile {
  readonly #map: SourceMap;
  readonly #folder: string;
  /** Offsets at which the lines start. */
  readonly #lines: number[];

  constructor(path: string) {
    const text = readFileSync(path, 'utf8');
    this.#map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
    this.#folder = join(path, '..');
    this.#lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  originOf(offset: number): { readonly path: string; readonly line: number } | null {
    const line = this.#lines.findLastIndex((start) => start <= offset);
    const entry = this.#map.findEntry(line, offset - (this.#lines[line] ?? 0));
    if (!('originalSource' in entry)) return null;
    const path = relative(SOURCES, resolve(this.#folder, entry.originalSource));
    return path.startsWith('..') ? null : { path, line: entry.originalLine + 1 };
  }
}

const built = new Map<string, BuiltFile>();

function sourceOf(url: string): BuiltFile | null {
  if (!url.startsWith('file:')) return null;
  const path = fileURLToPath(url);
  if (!existsSync(`${path}.map`)) return null;
  const file = built.get(path) ?? new BuiltFile(path);
  built.set(path, file);
  return file;
}

function bundle(version: string): Buffer {
  const page = (name: string) =>
    `<!doctype html><html lang="en"><head><title>${name}</title></head><body><main><h1>${name}</h1><p>Version ${version} explains how a refund is paid.</p><p><a href="/">Start</a></p></main></body></html>`;
  return gz(
    rawTar([
      { name: 'index.html', body: page('Start') },
      ...Array.from({ length: 20 }, (_, number) => ({
        name: `guide/page-${number}.html`,
        body: page(`Page ${number}`),
      })),
    ]),
  );
}

const bench = openBench(() => undefined);

/** Starts a daemon with two stored versions, of which the first is pinned and indexed. */
async function startShelf(): Promise<{ daemon: DaemonProcess; inspector: Inspector }> {
  const folder = await bench.folder();
  for (const version of ['2026-01-01', '2026-02-01'])
    await writeFile(join(folder, `docs-${version}.tar.gz`), bundle(version));
  const config = { staticExport: { version: '2026-01-01' }, search: { enabled: true } };
  const daemon = await bench.start(config, { folder, env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
  for (const version of ['2026-02-01', '2026-01-01']) {
    const { code, stderr } = await bench.run(['bundle', 'import', `docs-${version}.tar.gz`], { cwd: folder });
    if (code !== 0) throw new Error(stderr);
  }
  await daemon.until(
    ({ state, versions, search }) => state === 'ready' && versions.length === 2 && search.keyword === 'ready',
  );
  const [, url = ''] = /Debugger listening on (\S+)/.exec(daemon.log()) ?? [];
  return { daemon, inspector: await Inspector.connect(url) };
}

/** Runs a flow. Waits before and after the flow, so that other work of the daemon ends. */
async function measure(inspector: Inspector, flow: () => Promise<unknown>): Promise<Executed> {
  await sleep(QUIET_MS);
  await inspector.executed();
  await flow();
  await sleep(QUIET_MS);
  return inspector.executed();
}

function without(executed: Executed, left: Executed): Executed {
  const entries = [...executed].map(([path, names]) => [path, names.difference(left.get(path) ?? new Set())] as const);
  return new Map(entries.filter(([, names]) => names.size > 0));
}

async function read(daemon: DaemonProcess, path: string): Promise<void> {
  const response = await fetch(`${daemon.site}${path}`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
}

const { daemon, inspector } = await startShelf();
/** Functions that timers execute without a request. The counts of a page and a search omit them. */
const idle = await measure(inspector, () => sleep(IDLE_MS));
const request = async (flow: () => Promise<unknown>): Promise<Executed> =>
  without(await measure(inspector, flow), idle);
const page = () => read(daemon, '/guide/page-7.html');
const search = () => read(daemon, '/_docshelf/search?q=refund');
const flows: Record<string, Executed> = {};
flows['a page, first request'] = await request(page);
flows['a page, second request'] = await request(page);
flows['a page, third request'] = await request(page);
flows['a search, first request'] = await request(search);
flows['a search, third request'] = await search().then(() => request(search));
flows['a reload that pins a stored version'] = await measure(inspector, async () => {
  await daemon.rewriteConfig({ staticExport: { version: '2026-02-01' } });
  await daemon.untilLogged(/"event":"activated","version":"2026-02-01"/);
});
const count = (executed: Executed): number => [...executed.values()].reduce((sum, names) => sum + names.size, 0);
if (listed !== undefined) {
  for (const [file, names] of [...(flows[listed] ?? [])].sort()) console.log(`${file}\n  ${[...names].join('\n  ')}`);
}
console.log(
  tableOf(
    ['flow', 'files', 'functions'],
    Object.entries(flows).map(([name, executed]) => [name, `${executed.size}`, `${count(executed)}`]),
  ),
);
inspector.close();
await bench.end();
