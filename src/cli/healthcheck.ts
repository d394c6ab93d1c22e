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
  return command('healthcheck', 'exit 0 where the daemon is ready, 69 where not', 'docshelf healthcheck --live')
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

async function adminUrlOf(config: Config): Promise<string> {
  const marks = await marksOn(config);
  const [adminUrl] = marks.filter(({ owner }) => owner.host === hostname()).map((mark) => mark.adminUrl);
  if (adminUrl != null) return adminUrl;
  const { host, port, tls } = config.admin;
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `${tls.certFile === null ? 'http' : 'https'}://${reachable}:${port}`;
}
