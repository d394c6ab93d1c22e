import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Config } from '../config/index.ts';
import { DocshelfError } from '../domain/errors.ts';
import { askDaemon } from '../net/daemon-request.ts';
import { answer, type CommonOptions, command, loadFor } from './command.ts';
import { marksOn } from './daemon-client.ts';

/** Container engines and orchestrators give up after a few seconds themselves. */
const TIMEOUT_MS = 3_000;

interface HealthOptions extends CommonOptions {
  readonly live?: boolean;
}

export function healthcheckCommand(): Command {
  return command(
    'healthcheck',
    'check whether the daemon of the data folder is ready (exit code 0 or 69)',
    'docshelf healthcheck --live',
  )
    .option('--live', 'ask only whether it runs')
    .action(async (options: HealthOptions) => {
      const { config } = await loadFor(options);
      const url = new URL(options.live === true ? '/livez' : '/readyz', await adminUrlOf(config));
      const response = await askDaemon(url, AbortSignal.timeout(TIMEOUT_MS));
      const state = response === null ? 'it does not answer' : (await response.text()).trim();
      if (response?.ok !== true) {
        throw new DocshelfError('daemon_unreachable', `Cannot call the daemon at ${url.origin} healthy: ${state}`, {
          next: 'Look at its log, and at /v1/status of its admin listener.',
        });
      }
      answer(options, { ok: true, url: url.href }, () => `${url.origin} is ${options.live ? 'alive' : 'ready'}.`);
    });
}

/** Of a daemon on the data folder: another folder's may have the configured port. @throws DocshelfError `daemon_unreachable` */
async function adminUrlOf(config: Config): Promise<string> {
  const marks = await marksOn(config);
  const here = marks.filter(({ owner }) => owner.host === hostname());
  const [adminUrl] = here.map((mark) => mark.adminUrl).filter((url) => url !== null);
  if (adminUrl !== undefined) return adminUrl;
  const other = marks[0] === undefined ? '' : `, but one on the host "${marks[0].owner.host}"`;
  const state = `no daemon runs on "${config.storage.dir}" here${other}`;
  throw new DocshelfError('daemon_unreachable', `Cannot check the daemon: ${state}`, {
    next: 'Start it with "docshelf serve", or name its config with --config.',
  });
}
