import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { Config } from '../config/index.ts';
import { DocshelfError } from '../domain/errors.ts';
import type { LastReload } from '../domain/status.ts';
import { operations } from '../http/admin/operations.ts';
import { askDaemon } from '../net/daemon-request.ts';
import { actionCommand, type CommonOptions, command, type DaemonChoice } from './command.ts';
import { findDaemons, runningMarks } from './daemon-client.ts';
import { offerInit } from './init.ts';
import { loadOrLastGood, loadStrictly, sourcesOf } from './load-config.ts';
import { ProgressBar, printResult } from './output.ts';

export function serveCommand(programVersion: string): Command {
  return command(
    'serve',
    'Run the daemon, which serves the sites and reloads a changed config',
    'docshelf serve --config config.yaml',
  ).action(async (options: CommonOptions) => {
    const found = await loadStrictly(options);
    const loaded = (await offerInit(found)) ? await loadStrictly(options) : found;
    const progress = new ProgressBar();
    // Install the signal handlers before the start. Otherwise, a signal during the start would leave the heartbeat file and the socket.
    const stopped = stopSignal();
    const started = import('../app/index.ts').then(({ startDaemon }) =>
      startDaemon({ loaded, sources: sourcesOf(options), onProgress: progress.update, programVersion }),
    );
    process.on('SIGHUP', () => void started.then(({ daemon }) => daemon.reload()).catch(() => undefined));
    const { daemon, stop, say } = await started;
    const api = daemon.apiUrl === null ? '' : `, api on ${daemon.apiUrl}`;
    say(`site on ${daemon.siteUrl}, admin on ${daemon.adminUrl}${api}`);
    await notifyServiceManager('READY=1', `site on ${daemon.siteUrl}`, say);
    await stopped;
    progress.end();
    say('stopping: waiting for open requests');
    void notifyServiceManager('STOPPING=1', 'waiting for open requests', say);
    await stop();
  });
}

/**
 * Resolves after a signal to stop. A later signal ends the process at once, except in the first second: npm and timeout(1) send a
 * signal again that the process has already received.
 */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstMs: number | null = null;
  const onSignal = (): void => {
    firstMs ??= performance.now();
    if (performance.now() > firstMs + 1_000) process.exit(1);
    resolve();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal);
  return promise;
}

const runFile = promisify(execFile);
/** Time limit for systemd-notify, which waits until the service manager has read the message. */
const NOTIFY_MS_MAX = 5_000;

/** Runs systemd-notify, because Node has no Unix datagram sockets. For this reason, the systemd unit needs `NotifyAccess=all`. */
async function notifyServiceManager(
  state: 'READY=1' | 'STOPPING=1',
  status: string,
  onFailure: (reason: string) => void,
): Promise<void> {
  if ((process.env.NOTIFY_SOCKET ?? '') === '') return;
  try {
    await runFile('systemd-notify', [state, `STATUS=${status}`], { timeout: NOTIFY_MS_MAX });
  } catch (error) {
    onFailure(`Cannot report "${status}" to the service manager: ${(error as Error).message.split('\n')[0]}`);
  }
}

export function reloadCommand(): Command {
  return actionCommand('reload', operations.reload, 'docshelf reload --config config.yaml').action(
    async (options: CommonOptions & DaemonChoice) => {
      await loadStrictly(options);
      // If the config file is empty, use the config of the running daemon, because an empty file is valid but does not name the
      // data folder.
      const { config } = await loadOrLastGood(options);
      const daemons = await findDaemons(config, options);
      if (daemons.length === 0) {
        throw new DocshelfError('daemon_unreachable', 'Cannot reload: no daemon runs on this data folder', {
          next: 'Run "docshelf serve" to start a daemon.',
        });
      }
      const lines: string[] = [];
      const reloads: LastReload[] = [];
      for (const daemon of daemons) {
        const reload = (await daemon.call(operations.reload)) as LastReload;
        reloads.push(reload);
        lines.push(`Reloaded the config of ${daemon.name} at ${reload.at}.`);
      }
      printResult(options, reloads.length === 1 ? reloads[0] : reloads, () => lines.join('\n'));
    },
  );
}

/** Time limit of the health check. Container engines and orchestrators also wait only a few seconds. */
const HEALTH_MS_MAX = 3_000;

export function healthcheckCommand(): Command {
  return command('healthcheck', 'Check whether the daemon is ready (exit code 0 or 69)', 'docshelf healthcheck --live')
    .option('--live', 'Check only whether the daemon runs')
    .action(async (options: CommonOptions & { readonly live?: boolean }) => {
      const { config } = await loadOrLastGood(options);
      const url = new URL(options.live === true ? '/livez' : '/readyz', await adminUrlOf(config));
      const response = await askDaemon(url, AbortSignal.timeout(HEALTH_MS_MAX));
      const state = response === null ? 'it does not respond' : (await response.text()).trim();
      if (response?.ok !== true) {
        const message = `Cannot confirm the health of the daemon at ${url.origin}: ${state}`;
        const next = 'Check the log of the daemon, and /v1/status of its admin listener.';
        throw new DocshelfError('daemon_unreachable', message, { next });
      }
      printResult(options, { ok: true, url: url.href }, () => `${url.origin} is ${options.live ? 'alive' : 'ready'}.`);
    });
}

/**
 * Reads the admin address from the daemon's heartbeat file, because a daemon of another folder can have the configured port.
 * @throws DocshelfError `daemon_unreachable`
 */
async function adminUrlOf(config: Config): Promise<string> {
  const { here, otherHost } = await runningMarks(config);
  const [adminUrl] = here.map((mark) => mark.adminUrl).filter((url) => url !== null);
  if (adminUrl !== undefined) return adminUrl;
  const other = otherHost === null ? '' : `, but a daemon on the host "${otherHost}" does`;
  const state = `no daemon on this machine uses "${config.storage.dir}"${other}`;
  throw new DocshelfError('daemon_unreachable', `Cannot check the daemon: ${state}`, {
    next: 'Start the daemon with "docshelf serve", or wait until it has started. If the daemon runs with another config, pass that config to this command with --config.',
  });
}
