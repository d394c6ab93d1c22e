import { adoptDefaultDomain, settleListedDomains } from '../deploy/index.ts';
import { AuditFile } from '../http/audit/audit-file.ts';
import { AuditTrail } from '../http/audit/audit-trail.ts';
import { Metrics } from '../http/metrics/metrics.ts';
import { SiteAssets } from '../http/site/site-assets.ts';
import { BodyCache } from '../serve/index.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { openKeyStore, ServiceKeys } from './keys/service-keys.ts';
import { logAudit, logFailure } from './log/log-events.ts';
import { Network } from './network.ts';
import { openDatabase } from './open-database.ts';
import type { Exports } from './open-exports.ts';
import { openSearch } from './open-search.ts';
import { OwnExportDesk } from './own-exports.ts';
import { openFolder } from './sites/open-shelf.ts';
import { OpenVersions } from './sites/open-versions.ts';
import { ShelfPageAnswer } from './sites/shelf-page.ts';
import { SignIns } from './sites/sign-ins.ts';
import { Sites } from './sites/sites.ts';
import { openTraces } from './traces/open-traces.ts';

/**
 * Once the listeners are open, no fault of a bundle or of a changed config ends it.
 * @throws DocshelfError `port_taken`, `cannot_listen`, `cannot_write`, `config_invalid`, `data_folder_newer`, `database_unfit`
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { loaded, log, onProgress } = options;
  const network = new Network(loaded.config);
  const database = await openDatabase(loaded.config, network, (error) => logFailure(log, 'database', error));
  const metrics = new Metrics(() => network.config.sites.length <= network.config.metrics.sites);
  const traces = await openTraces(loaded.config, network, log, options.programVersion);
  const search = openSearch(loaded.config, network);
  const exports = loaded.config.exportApi.enabled ? Promise.withResolvers<Exports>() : null;
  const ownExports = new OwnExportDesk({
    // The start tells of a failure.
    service: exports?.promise.then(({ service }) => service).catch(() => null) ?? Promise.resolve(null),
    config: () => network.config,
    onNewer: (domain) => sites.find(domain)?.deployment.exportCompleted(),
  });
  const folder = await openFolder(loaded.config, network, ownExports);
  const store = await openKeyStore({
    database,
    dir: folder.paths.dir,
    onFault: (error) => logFailure(log, 'keys', error),
  });
  const audit = new AuditTrail(
    new AuditFile({ dir: folder.paths.dir, onFault: (error) => logFailure(log, 'audit', error) }),
    (line) => logAudit(log, line),
  );
  const bodies = new BodyCache(loaded.config.server.cacheBytes);
  const signIns = new SignIns(network);
  const versions = new OpenVersions();
  const isList = loaded.config.sites.length > 0;
  const assets = new SiteAssets();
  let daemon: Daemon | null = null;
  const sites: Sites = new Sites({
    isList,
    settleDomains: async (domains) => {
      const { inbox } = folder.paths;
      const left = await settleListedDomains(folder.paths, domains).catch((error: unknown) => {
        // The sites tell what is wrong with their folders, each its own.
        logFailure(log, 'open', error);
        return [];
      });
      return left.map(
        (name) => `No site takes "${name}" in "${inbox}": move it into the inbox of a site, "sites/DOMAIN/inbox".`,
      );
    },
    hostOf: (domain) => ({
      network,
      tracer: traces.tracer,
      search,
      folder,
      bodies,
      versions,
      signIns,
      assets,
      shelfScope: (site) => shelf.scopeOf(site),
      metrics: metrics.of(domain),
      log: domain === null ? log : log.child({ site: domain }),
      programVersion: options.programVersion,
      onProgress,
    }),
    elsewhere: (request, env) => shelf.answer(request, env),
  });
  const shelf = new ShelfPageAnswer({
    entries: () => sites.entries,
    routes: () => sites.routes,
    current: () => network.config,
    port: () => daemon?.sitePort ?? loaded.config.server.port,
    signIns,
    onWrongSignIn: () => metrics.onWrongSignIn(),
    metrics,
    onError: (error, requestId) => logFailure(log, 'shelf', error, requestId),
  });
  const listed = loaded.config.sites.map(({ domain }) => domain);
  if (isList) await adoptDefaultDomain(folder.paths, listed);
  await sites.accept(loaded.sites);
  daemon = new Daemon(options, {
    network,
    database,
    metrics,
    traces,
    search,
    folder,
    sites,
    keys: new ServiceKeys({ store, current: () => network.config, sites }),
    audit,
    signIns,
    exports,
    ownExports,
  });
  await daemon.start();
  return daemon;
}
