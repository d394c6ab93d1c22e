import { type Listener, openListener } from '../../../src/http/listener/listener.ts';
import type { TlsSettings } from '../../../src/http/tls/tls-port.ts';
import { BodyCache, loadSiteRules, SiteServer, SiteSnapshot } from '../../../src/site/index.ts';
import { onFileEnd } from '../../helpers/file-end.ts';
import { type Files, releases } from '../../site/helpers.ts';
import { siteApp } from '../site/site-example.ts';
import { CACHE_BYTES, CREATED_AT } from './row-site.ts';

/** Site listener of one release, as in the daemon, until the test file ends. */
export async function openRowServer(files: Files, tls?: TlsSettings): Promise<Listener> {
  const release = releases.make(files, { createdAt: CREATED_AT });
  const rules = await loadSiteRules(release);
  const current = new SiteSnapshot(release, [], { trailingSlash: 'auto' }, rules);
  const server = new SiteServer(new BodyCache(CACHE_BYTES), { current });
  const app = siteApp({ server });
  const listener = await openListener({
    name: 'site',
    fastAnswer: ({ url = '', headers }) => server.fastAnswer(url, headers),
    fetch: (request, env) => app.fetch(request, env),
    host: '127.0.0.1',
    port: 0,
    tls,
  });
  onFileEnd(() => listener.stop(0));
  return listener;
}
