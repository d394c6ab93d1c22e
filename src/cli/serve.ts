import type { Command } from 'commander';
import { type CommonOptions, command, loadFor } from './command.ts';
import { offerInit } from './init/index.ts';
import { ProgressBar } from './progress-bar.ts';
import { notifyServiceManager } from './service-manager.ts';

export function serveCommand(programVersion: string): Command {
  return command(
    'serve',
    'run the daemon: serve the site, follow the config',
    'docshelf serve --config config.yaml',
  ).action(async (options: CommonOptions) => {
    const found = await loadFor(options);
    const loaded = (await offerInit(found)) ? await loadFor(options) : found;
    const progress = new ProgressBar();
    const daemon = await (await import('../app/index.ts')).startDaemon({
      loaded,
      reload: () => loadFor(options),
      onProgress: progress.update,
      programVersion,
    });
    const api = daemon.apiUrl === null ? '' : `, api on ${daemon.apiUrl}`;
    daemon.say(`site on ${daemon.siteUrl}, admin on ${daemon.adminUrl}${api}`);
    const warn = (reason: string): void => daemon.say(reason);
    process.on('SIGHUP', () => void daemon.reload());
    const stopped = stopSignal();
    await notifyServiceManager('READY=1', `site on ${daemon.siteUrl}`, warn);
    await stopped;
    progress.end();
    // A second signal ends at once.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => process.exit(1));
    daemon.say('stopping: requests in flight finish');
    void notifyServiceManager('STOPPING=1', 'requests in flight finish', warn);
    await daemon.stop();
  });
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
}
