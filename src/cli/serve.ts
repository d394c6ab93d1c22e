import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { LoadedConfig } from '../config/index.ts';
import { type CommonOptions, command, loadStrictly } from './command.ts';
import { offerInit } from './init/index.ts';
import { ProgressBar } from './progress-bar.ts';

export function serveCommand(programVersion: string): Command {
  return command(
    'serve',
    'run the daemon: serve the site, follow the config',
    'docshelf serve --config config.yaml',
  ).action(async (options: CommonOptions) => {
    const found = await loadWritten(options);
    const loaded = (await offerInit(found)) ? await loadStrictly(options) : found;
    const progress = new ProgressBar();
    // Before the daemon leaves its first mark: a signal during the start would end the process and leave mark and socket.
    const stopped = stopSignal();
    const started = import('../app/index.ts').then(({ startDaemon }) =>
      startDaemon({ loaded, reload: () => loadStrictly(options), onProgress: progress.update, programVersion }),
    );
    process.on('SIGHUP', () => void started.then(({ daemon }) => daemon.reload()).catch(() => undefined));
    const { daemon, stop, say } = await started;
    const api = daemon.apiUrl === null ? '' : `, api on ${daemon.apiUrl}`;
    say(`site on ${daemon.siteUrl}, admin on ${daemon.adminUrl}${api}`);
    await notifyServiceManager('READY=1', `site on ${daemon.siteUrl}`, say);
    await stopped;
    progress.end();
    // A second signal ends at once.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => process.exit(1));
    say('stopping: requests in flight finish');
    void notifyServiceManager('STOPPING=1', 'requests in flight finish', say);
    await stop();
  });
}

const WRITING_MS_MAX = 2_000;
const POLL_MS = 200;

/** A file that another program is about to write is empty at first. One that stays empty has the defaults. */
async function loadWritten(options: CommonOptions): Promise<LoadedConfig> {
  const endMs = performance.now() + WRITING_MS_MAX;
  let loaded = await loadStrictly(options);
  while (loaded.file !== null && loaded.written.size === 0 && performance.now() < endMs) {
    await sleep(POLL_MS);
    loaded = await loadStrictly(options);
  }
  return loaded;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
}

const run = promisify(execFile);
/** systemd-notify waits until its word is taken. */
const NOTIFY_MS_MAX = 5_000;

/**
 * Notifies the service manager, if any, in the words of sd_notify(3): the options of systemd-notify(1) are younger than some
 * hosts. By that program, since Node has no Unix datagram sockets; so the unit says `NotifyAccess=all`.
 */
async function notifyServiceManager(
  state: 'READY=1' | 'STOPPING=1',
  status: string,
  onFailure: (reason: string) => void,
): Promise<void> {
  if ((process.env.NOTIFY_SOCKET ?? '') === '') return;
  try {
    await run('systemd-notify', [state, `STATUS=${status}`], { timeout: NOTIFY_MS_MAX });
  } catch (error) {
    onFailure(`Cannot tell the service manager "${status}": ${(error as Error).message.split('\n')[0]}`);
  }
}
