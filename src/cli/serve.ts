import type { Command } from 'commander';
import type { Builders } from './builders.ts';
import { type CommonOptions, command, loadFor } from './command.ts';
import { ProgressBar } from './progress-bar.ts';

export function serveCommand(builders: Builders): Command {
  return command(
    'serve',
    'run the daemon: serve the site, follow the config',
    'docshelf serve --config config.yaml',
  ).action(async (options: CommonOptions) => {
    const progress = new ProgressBar();
    const daemon = await builders.startDaemon({
      loaded: await loadFor(options),
      reload: () => loadFor(options),
      onProgress: progress.update,
    });
    const api = daemon.apiUrl === null ? '' : `, api on ${daemon.apiUrl}`;
    daemon.say(`site on ${daemon.siteUrl}, admin on ${daemon.adminUrl}${api}`);
    process.on('SIGHUP', () => void daemon.reload());
    await stopSignal();
    progress.end();
    // A second signal ends at once: whoever sends it does not want to wait for requests in flight.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => process.exit(1));
    daemon.say('stopping: requests in flight finish');
    await daemon.stop();
  });
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
}
