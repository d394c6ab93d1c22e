import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Bench, type ConfigFile, type DaemonProcess, startDaemon } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { PostgresServer } from '../helpers/postgres.ts';
import { writeFiles } from '../helpers/write-files.ts';
import {
  adminKey,
  type ExportClient,
  type Exporter,
  exporterOf,
  organization,
  SITE,
  startExporter,
} from './export-service.ts';
import { KEEPS_COMMIT_TIMES } from './job-changes.ts';

/** The service side in several processes on one database: some respond to calls, some run jobs. */

export const ORGANIZATIONS = ['a', 'b', 'c', 'd', 'e'];
export const DOMAINS_OF_EACH = 3;

export const keyOf = (organization: string): string => `svc_shared-${organization}`;

interface ServiceOptions {
  readonly apis: number;
  readonly workers: number;
  readonly config?: ConfigFile;
  /** Bucket with a disk per process. Default: one folder for all. */
  readonly store?: ConfigFile | null;
  /** Existing database. Default: a new one. */
  readonly server?: Pick<SharedService, 'postgres' | 'url'>;
}

export class SharedService {
  readonly apis: readonly Exporter[];
  /** All workers, including killed ones. */
  readonly workers: DaemonProcess[] = [];
  readonly postgres: PostgresServer;
  /** URL of the database. */
  readonly url: string;
  /** Folder of all configs. */
  readonly folder: string;
  readonly #start: (name: string, role: string, port: number, config?: object) => Promise<DaemonProcess>;
  #named = 0;

  private constructor(
    facts: Pick<SharedService, 'apis' | 'postgres' | 'url' | 'folder'>,
    start: (name: string, role: string, port: number, config?: object) => Promise<DaemonProcess>,
  ) {
    this.apis = facts.apis;
    this.postgres = facts.postgres;
    this.url = facts.url;
    this.folder = facts.folder;
    this.#start = start;
  }

  static async start(bench: Bench, options: ServiceOptions): Promise<SharedService> {
    const { apis: apiCount, workers, config = {}, store = null, server } = options;
    const { postgres, url } = server ?? (await newDatabase());
    const folder = await bench.folder();
    await writeFiles(join(folder, 'site'), SITE);
    await writeFile(join(folder, 'database-url'), url);
    const source = { kind: 'folder', path: './site' };
    const organizations = ORGANIZATIONS.map((id) => {
      const domains = Array.from({ length: DOMAINS_OF_EACH }, (_, n) => [`${id}-${n}`, { source }]);
      return organization(id, Object.fromEntries(domains), adminKey('ci', keyOf(id)));
    });
    const ours = { organizations, database: { urlFile: './database-url' }, search: { enabled: false }, ...config };
    const exportApi = { enabled: true, ...(store && { store }) };
    const first = await startExporter(bench, { ...ours, exportApi: { ...exportApi, role: 'api' } }, { folder });
    const written = parse(await readFile(first.daemon.configFile, 'utf8')) as ConfigFile;
    const start = async (name: string, role: string, port: number, own: object = {}): Promise<DaemonProcess> => {
      const file = join(folder, `${name}.yaml`);
      const storage = store === null ? {} : { storage: { dir: `./data-of-${name}` } };
      await writeFile(
        file,
        stringify({ ...written, ...storage, api: { port }, exportApi: { ...exportApi, role }, ...own }),
      );
      const daemon = await startDaemon(file);
      bench.onEnd(() => daemon.kill());
      return daemon;
    };
    const apis = [first];
    for (let at = 1; at < apiCount; at += 1) {
      const port = await freePort();
      apis.push(exporterOf(await start(`api-${at}`, 'api', port), port));
    }
    const service = new SharedService({ apis, postgres, url, folder }, start);
    await Promise.all(Array.from({ length: workers }, () => service.addWorker()));
    return service;
  }

  async addWorker(config: object = {}): Promise<DaemonProcess> {
    this.#named += 1;
    const worker = await this.#start(`worker-${this.#named}`, 'worker', 0, config);
    this.workers.push(worker);
    return worker;
  }

  /** Client of one of the API processes, with the key of an organization. */
  as(organization: string, at = 0): ExportClient {
    return (this.apis[at % this.apis.length] as Exporter).as(keyOf(organization));
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return this.postgres.query(sql, this.url);
  }

  logs(): string {
    return this.workers.map((worker) => worker.log()).join('\n');
  }
}

/** A server that is stopped like in a crash keeps all data that it has confirmed. */
async function newDatabase(): Promise<Pick<SharedService, 'postgres' | 'url'>> {
  const postgres = await PostgresServer.start(['synchronous_commit=on', KEEPS_COMMIT_TIMES]);
  return { postgres, url: await postgres.createDatabase() };
}
