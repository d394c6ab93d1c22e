import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crawlBench } from './crawl-bench.ts';
import { CrawlHome, crawlOf } from './crawled-site.ts';
import type { Origin, OriginFile } from './origin.ts';

const PAGES = 120;
const CONCURRENCY = 16;
const page = (at: number) =>
  `<a href="/p${at + 1}">next</a><a href="/p${(at * 7) % PAGES}">other</a><img src="/i${at}.png">`;

const bench = crawlBench();
let site: Origin;
let onAnswer: () => void = () => undefined;

beforeEach(async () => {
  const paths = Array.from({ length: PAGES }, (_, at) => [`/p${at}`, page(at)] as const);
  const links = paths.map(([path]) => `<a href="${path}">x</a>`).join('');
  const pages = [['/', links] as const, ...paths].map(([path, body]) => {
    const answer: OriginFile = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      onAnswer();
    };
    return [path, answer] as const;
  });
  const images = paths.map((_, at) => [`/i${at}.png`, { type: 'image/png', body: `image ${at}` }] as const);
  site = await bench.open(Object.fromEntries([...pages, ...images]));
});
afterEach(() => {
  onAnswer = () => undefined;
});

describe('crawl whose process is killed', () => {
  it('resumes with the fetched pages, without loss or duplicates', async () => {
    const other = await CrawlHome.make();
    const whole = await other.crawl(crawlOf(`${site.origin}/`));
    const before = site.requests.length;

    const script = new URL('killed-crawl.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, bench.home.dir, `${site.origin}/`], { stdio: 'inherit' });
    let answered = 0;
    onAnswer = () => {
      answered += 1;
      if (answered === PAGES / 2) child.kill('SIGKILL');
    };
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');

    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`), { job: 'killed', options: { pageThreads: 2 } });
    expect(crawled.paths).toEqual(whole.paths);
    for (const path of whole.paths) expect(crawled.text(path)).toBe(whole.text(path));
    const requestCounts = new Map<string, number>();
    for (const path of site.requestedPaths().slice(before)) requestCounts.set(path, (requestCounts.get(path) ?? 0) + 1);
    const twice = [...requestCounts.values()].filter((count) => count > 1);
    expect(Math.max(...requestCounts.values())).toBeLessThanOrEqual(2);
    // Only addresses that the process was fetching or reading when it ended are requested twice.
    expect(twice.length).toBeLessThanOrEqual(2 * CONCURRENCY + 2);
  });

  it('skips an incomplete line of its journal', async () => {
    await bench.home.crawl(crawlOf(`${site.origin}/`), { job: 'killed' });
    const [name = ''] = await readdir(join(bench.home.dir, 'journal-killed'));
    await writeFile(join(bench.home.dir, 'journal-killed', name), '{"url":"http', { flag: 'a' });
    const before = site.requests.length;
    await bench.home.crawl(crawlOf(`${site.origin}/`), { job: 'killed' });
    expect(site.requests.length - before).toBe(0);
  });
});
