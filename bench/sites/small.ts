import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { gz, rawTar } from '../../test/helpers/archives.ts';
import { type Bench, withDefaults } from '../../test/helpers/daemon.ts';
import { residentMiBOf } from '../../test/helpers/process-facts.ts';
import { configOf, loadNow, startAgain, startShelf, TOKEN } from './shelf.ts';

const RELOADS = 5;

/** Small idle sites: memory, time until ready, and a reload that changes one. */
export async function benchSmall(bench: Bench, count: number): Promise<void> {
  const domains = Array.from({ length: count }, (_, at) => `small-${at}`);
  const first = await startShelf(
    bench,
    domains.map((domain) => ({ domain, archive: smallSite(domain) })),
  );
  console.log(`${count} small sites: first start ${first.seconds.toFixed(1)} s, ${loadNow()}`);
  const { daemon, seconds, folder } = await startAgain(bench, first, count);
  const resident = await residentMiBOf(daemon.pid);
  console.log(`second start ${seconds.toFixed(1)} s, ${resident.toFixed(0)} MiB resident, ${loadNow()}`);
  const times: number[] = [];
  for (let keep = 4; keep < 4 + RELOADS; keep += 1) {
    const {
      sites: [changed, ...others],
      ...config
    } = configOf(domains);
    const sites = [{ ...changed, staticExport: { enabled: true, keep } }, ...others];
    await writeFile(join(folder, 'config.yaml'), stringify(withDefaults({ ...config, sites })));
    const reloadMs = performance.now();
    const answer = await fetch(`${daemon.admin}/v1/reload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    if (answer.status !== 200) throw new Error(`the reload answered ${answer.status}`);
    times.push(performance.now() - reloadMs);
  }
  const told = times.map((ms) => ms.toFixed(0)).join(', ');
  console.log(`reloads that change one: ${told} ms (aim: 1,000 at 1,000 sites), ${loadNow()}`);
  await daemon.stop();
}

function smallSite(domain: string): Uint8Array {
  const page = (name: string) =>
    `<!doctype html><html lang="en"><title>${name} of ${domain}</title><h1>${name}</h1><p>${domain} ${'words '.repeat(200)}</p>`;
  return gz(
    rawTar([
      { name: 'index.html', body: page('Home') },
      { name: 'guide.html', body: page('Guide') },
    ]),
  );
}
