import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { StatusReport } from '../../src/domain/status.ts';
import {
  DOMAIN,
  LINK_FILES,
  type LinkResult,
  type ModelConfig,
  type Observation,
  type World,
} from '../deploy/model.ts';
import {
  type Act,
  type Command,
  carryOut,
  type DrawnBundle,
  forEachSeed,
  SequenceDraw,
  type ShelfUnderTest,
  Stock,
  type Weights,
} from '../deploy/sequence.ts';
import {
  type ConfigFile,
  type DaemonProcess,
  openBench,
  runDocshelf,
  waitFor,
  withDefaults,
} from '../helpers/daemon.ts';
import { bundleAnswer, httpServer, type LocalServer } from '../helpers/local-server.ts';
import { SeededRandom } from '../helpers/random.ts';
import { runs } from '../helpers/runs.ts';

/**
 * Random sequences of test/deploy/model.test.ts with the built program: its config file, commands, inbox, preload folder, a
 * server of bundles, kills, and daemons that share a folder. DOCSHELF_MODEL_PROCESSES sets their number. To repeat a failed
 * sequence, set it to 1 and DOCSHELF_SEED to the seed of the failure.
 */
const SEQUENCES = runs(Number(process.env.DOCSHELF_MODEL_PROCESSES ?? 20));
/** Sequences run concurrently, because a daemon waits most of the time. */
const LANES = 3;
const STEPS = 5;
const WEIGHTS: Weights = {
  reload: 6,
  link: 3,
  preload: 2,
  deliver: 3,
  drop: 1,
  activate: 2,
  rollback: 2,
  remove: 1,
  restart: 1,
  spoil: 1,
  alone: 2,
  kill: 5,
  beside: 2,
};
const TOKEN = 'a-long-random-token';
/** Pause between the two parts of a slow response. */
const SLOW_MS = 300;
/** Number of equal statuses in a row, without activity, until the state counts as settled. */
const LOOKS = 3;
/** The inbox imports an archive after 1.5 seconds without a change. */
const INBOX_MS = 1_500;

const bench = openBench(afterAll);
let stock: Stock;
let origin: LocalServer;
/** Bundles by path. */
const linkResults = new Map<string, { readonly linkResult: LinkResult; readonly slow: boolean }>();

beforeAll(async () => {
  stock = await Stock.open();
  origin = await httpServer(answer);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const found = linkResults.get(request.url?.split('?')[0] ?? '');
  if (found === undefined || found.linkResult === 'bundle_not_found') response.writeHead(404).end();
  else if (found.linkResult === 'link_expired') response.writeHead(403).end('<Message>Request has expired</Message>');
  else {
    const { digest, file } = found.linkResult as DrawnBundle;
    const bytes = await readFile(file);
    if (!found.slow) return bundleAnswer(bytes, `"${digest}"`)(request, response);
    response.writeHead(200, { etag: `"${digest}"`, 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2));
    await sleep(SLOW_MS);
    response.end(bytes.subarray(bytes.length / 2));
  }
}

/** A folder with its config file and archives, and the daemons that use it. */
class ProgramUnderTest implements ShelfUnderTest {
  readonly settleMsMax = 90_000;
  readonly #folder: string;
  readonly #hasSearch: boolean;
  #config: ModelConfig;
  #first: DaemonProcess | null = null;
  #second: DaemonProcess | null = null;
  #rewrites = 0;

  constructor(folder: string, { config, linkResults: initialResults }: World, hasSearch: boolean) {
    this.#folder = folder;
    this.#config = config;
    this.#hasSearch = hasSearch;
    for (const [at, linkResult] of initialResults.entries()) this.#setLink(at, linkResult, false);
  }

  async carryOut(act: Act): Promise<ErrorCode | null> {
    switch (act.do) {
      case 'reload':
        this.#config = stock.config(act.config);
        await this.#reload(act.by);
        return null;
      case 'spoil':
        await this.#spoil();
        return null;
      case 'link':
        this.#setLink(act.at, stock.linkResult(act.linkResult), act.slow);
        return null;
      case 'preload':
        await this.#put('bundles', stock.get(act.bundle));
        return null;
      case 'drop':
        await this.#put('data/inbox', stock.get(act.bundle));
        await this.#untilInboxIsEmpty();
        return null;
      case 'restart':
        await this.#stop();
        await this.#start();
        return null;
      case 'alone': {
        await this.#stop();
        const code = await this.#command(act.command);
        await this.#start();
        return code;
      }
      case 'kill':
        await this.#kill(act.during, act.afterMs);
        return null;
      case 'join':
        this.#second = await bench.start(null, { folder: this.#folder });
        return null;
      case 'leave':
        if (act.isKilled) await this.#second?.kill();
        else expect(await this.#second?.stop()).toBe(0);
        this.#second = null;
        return null;
      case 'deliver':
      case 'activate':
      case 'rollback':
      case 'remove':
        return this.#command(act);
    }
  }

  async observe(): Promise<Observation[] | null> {
    const first = await this.#look();
    for (let looks = 1; looks < LOOKS; looks += 1) {
      const again = await this.#look();
      if (JSON.stringify(again) !== JSON.stringify(first) || again.some(({ activity }) => activity !== null))
        return null;
    }
    return first.map(({ activity: _, ...observation }) => observation);
  }

  /** Readers get the page of the active version, or the reason why none is active. */
  async check(): Promise<void> {
    for (const daemon of this.#running) {
      const { state, active } = await daemon.status();
      const response = await fetch(`${daemon.site}/`);
      const page = await response.text();
      expect([state, response.status]).toEqual([state, active !== null ? 200 : state === 'off' ? 404 : 503]);
      if (active !== null) expect(page).toContain(`<title>${stock.pageOf(active.digest)}</title>`);
    }
  }

  async end(): Promise<void> {
    for (const daemon of this.#running) await daemon.kill();
  }

  log(): string {
    return this.#running.map((daemon) => daemon.log()).join('\n');
  }

  get #running(): DaemonProcess[] {
    return [this.#first, this.#second].filter((daemon) => daemon !== null);
  }

  get #daemon(): DaemonProcess {
    if (this.#first === null) throw new Error('no daemon runs');
    return this.#first;
  }

  async #look(): Promise<(Observation & Pick<StatusReport, 'activity'>)[]> {
    return Promise.all(
      this.#running.map(async (daemon) => {
        const { state, active, pinned, versions, lastError, activity } = await daemon.status();
        return {
          state,
          active: active && { version: active.version, digest: active.digest },
          pinned,
          versions: versions.map(({ version, digest }) => `${version} ${digest}`).sort(),
          error: lastError?.code ?? null,
          activity,
        };
      }),
    );
  }

  async #start(): Promise<void> {
    if (this.#first === null) await bench.writeConfig(this.#folder, this.#configFile());
    this.#first = await bench.start(null, { folder: this.#folder });
  }

  async #stop(): Promise<void> {
    if (this.#first !== null) expect(await this.#first.stop()).toBe(0);
    this.#first = null;
  }

  async #reload(by: (Act & { do: 'reload' })['by']): Promise<void> {
    const before = (await this.#daemon.status()).lastReload;
    await this.#rewrite();
    if (by === 'command') expect(await this.#run(['reload'])).toBeNull();
    else {
      if (by === 'signal') this.#daemon.signal('SIGHUP');
      await this.#daemon.until(({ lastReload }) => lastReload !== null && lastReload.at !== before?.at);
    }
  }

  /** An invalid config changes only the reported error. */
  async #spoil(): Promise<void> {
    const before = await this.#daemon.status();
    await this.#daemon.replaceConfig('staticExport: { enabled: perhaps }\n');
    const refused = await this.#daemon.until(({ lastReload }) => lastReload?.ok === false);
    expect(refused.lastError?.code).toBe('config_invalid');
    expect([refused.state, refused.active, refused.pinned]).toEqual([before.state, before.active, before.pinned]);
    await this.check();
    await this.#rewrite();
    await this.#daemon.until(({ lastReload }) => lastReload?.ok === true);
  }

  async #rewrite(): Promise<void> {
    // The file watch compares content, so the same settings need other text.
    this.#rewrites += 1;
    const text = stringify(withDefaults(this.#configFile()));
    await this.#daemon.replaceConfig(`# ${this.#rewrites}\n${text}`);
  }

  /** Begins an action, and kills the daemon during it. */
  async #kill(during: Act | null, afterMs: number): Promise<void> {
    let begun: Promise<unknown> = Promise.resolve();
    if (during?.do === 'reload') {
      this.#config = stock.config(during.config);
      await this.#rewrite();
      if (during.by === 'signal') this.#daemon.signal('SIGHUP');
    } else if (during?.do === 'drop') await this.#put('data/inbox', stock.get(during.bundle));
    else if (during !== null) begun = this.#call(during as Command).catch(() => undefined);
    else {
      await this.#daemon.kill();
      this.#first = await bench.start(null, { folder: this.#folder });
    }
    await sleep(during?.do === 'drop' ? INBOX_MS + afterMs : afterMs);
    await this.#daemon.kill();
    await begun;
    this.#first = await bench.start(null, { folder: this.#folder });
    if (during?.do === 'drop') await this.#untilInboxIsEmpty();
  }

  /** Action on the admin listener, which begins at once. A command needs time to start. */
  async #call(act: Command): Promise<void> {
    const { admin } = this.#daemon;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const send = (method: string, path: string, body: Uint8Array<ArrayBuffer> | null = null): Promise<Response> =>
      fetch(`${admin}/v1/${path}`, { method, headers, body });
    if (act.do === 'deliver') {
      const { file, fileName } = stock.get(act.bundle);
      const query = new URLSearchParams({ activate: String(act.activate) });
      if (act.version !== null) query.set('version', act.version);
      await send('PUT', `bundles/${fileName}?${query}`, new Uint8Array(await readFile(file)));
    } else if (act.do === 'activate') await send('POST', `versions/${act.version}/activate`);
    else if (act.do === 'rollback') await send('POST', 'rollback');
    else await send('DELETE', `versions/${act.version}`);
  }

  /** Runs `docshelf bundle …` for the first daemon, if there is one. @returns the code of a rejection */
  async #command(act: Command): Promise<ErrorCode | null> {
    const pid = this.#first === null ? [] : ['--pid', String(this.#first.pid)];
    return this.#run(['bundle', ...wordsOf(act), ...pid]);
  }

  async #run(words: readonly string[]): Promise<ErrorCode | null> {
    const result = await runDocshelf([...words, '--json', '--config', join(this.#folder, 'config.yaml')], {
      cwd: this.#folder,
    });
    return result.code === 0 ? null : result.json<{ code: ErrorCode }>().code;
  }

  async #put(folder: string, { file, fileName }: DrawnBundle): Promise<void> {
    const target = join(this.#folder, folder);
    await mkdir(target, { recursive: true });
    await writeFile(join(target, `${fileName}.part`), await readFile(file));
    await rename(join(target, `${fileName}.part`), join(target, fileName));
  }

  async #untilInboxIsEmpty(): Promise<void> {
    const inbox = join(this.#folder, 'data/inbox');
    await waitFor(
      async () => ((await readdir(inbox)).length === 0 ? true : null),
      () => `the inbox is not emptied: ${this.log()}`,
    );
  }

  #configFile(): ConfigFile {
    const { link, ...staticExport } = this.#config;
    return {
      deployment: { domain: DOMAIN },
      staticExport: {
        ...Object.fromEntries(Object.entries(staticExport).filter(([, value]) => value !== null)),
        ...(link === null ? {} : { bundleUrl: `${origin.origin}${this.#pathOf(link)}?signature=canary` }),
      },
      admin: { token: TOKEN },
      network: { retries: 0 },
      search: { enabled: this.#hasSearch },
      log: { access: false },
    };
  }

  #setLink(at: number, linkResult: LinkResult, slow: boolean): void {
    linkResults.set(this.#pathOf(at), { linkResult, slow });
  }

  #pathOf(link: number): string {
    return `${this.#folder}/${LINK_FILES[link]}`;
  }
}

function wordsOf(act: Command): string[] {
  switch (act.do) {
    case 'deliver':
      return [
        'import',
        stock.get(act.bundle).file,
        ...(act.version === null ? [] : ['--version', act.version]),
        ...(act.activate ? [] : ['--no-activate']),
      ];
    case 'activate':
    case 'remove':
      return [act.do, act.version];
    case 'rollback':
      return [act.do];
  }
}

async function runSequence(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const { beginning, acts } = new SequenceDraw(random, stock, WEIGHTS).sequence(STEPS);
  const folder = await bench.folder();
  const world = await stock.begin(beginning, join(folder, 'data'));
  const program = new ProgramUnderTest(folder, world, random.pick([true, false, false, false]));
  try {
    // The final state must stay after a restart.
    await carryOut(program, stock, world, [{ do: 'restart' }, ...acts, { do: 'restart' }]);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}: ${JSON.stringify(beginning)} ${message}\n${program.log()}`);
  } finally {
    await program.end();
  }
}

test(`the built program behaves like the reference model of a deployment in ${SEQUENCES} random command sequences`, {
  timeout: 7_200_000,
}, async () => {
  await forEachSeed(SEQUENCES, LANES, runSequence);
});
