import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { originOf } from '../crawl/origin.ts';
import { openBench } from '../helpers/daemon.ts';
import { crawlOf, filesOfJob, startCrawler } from './crawl-service.ts';

/** What an export leaves as it was, and the digests that it cannot. */

const bench = openBench(afterEach);

const KEPT = `<!doctype html>
<title>caf\u00e9</title>
<link rel="canonical" href="https://docs.example/kept">
<meta property="og:image" content="https://docs.example/og.png">
<meta name="twitter:image" content="https://docs.example/og.png">
<script type="application/ld+json">{"@context":"https://schema.org","image":"https://docs.example/ld.png"}</script>
<form action="/search" method="get"><button formaction="/go">x</button></form>
<blockquote cite="/source">x</blockquote><div itemscope itemtype="https://schema.org/Thing">x</div>
<a href="https://elsewhere.example/x?a=1&b=2">away</a> <a href="mailto:a@b.example">mail</a> <a href="#here">here</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" usemap="#m"><svg><use href="#g"/></svg>
<p   style="filter:url(#f)" >odd   spacing,\tand a lone & <br></p>
<!-- <img src="/in-a-comment.png"> -->
`;

test('a page without references to files is the same, byte for byte', async () => {
  const site = await originOf({ '/': '<a href="/kept">kept</a>', '/kept': KEPT });
  bench.onEnd(() => site.close());
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
  const { jobId } = await service.export();
  expect((await filesOfJob(bench, service, jobId)).get('kept.html')?.toString()).toBe(KEPT);
  expect(site.askedPaths().filter((path) => /search|go|source|og\.png|in-a-comment/.test(path))).toEqual([]);
});

test('a digest of what is rewritten is computed anew, and one of what is not stays', async () => {
  const digestOf = (text: string): string => `sha384-${createHash('sha384').update(text).digest('base64')}`;
  const [sheet, script] = ['p{background:url("/a.png")}', 'console.log(1)'];
  const site = await originOf({
    '/': `<link rel=stylesheet href="/s.css" integrity="${digestOf(sheet)}"><script src="/s.js" integrity="${digestOf(script)}"></script>`,
    '/s.css': { type: 'text/css', body: sheet },
    '/s.js': { type: 'text/javascript', body: script },
    '/a.png': { type: 'image/png', body: 'a' },
  });
  bench.onEnd(() => site.close());
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
  const { jobId } = await service.export();
  const files = await filesOfJob(bench, service, jobId);
  const written = files.get('s.css')?.toString() ?? '';
  expect(written).toBe('p{background:url("a.png")}');
  const page = files.get('index.html')?.toString() ?? '';
  expect([...page.matchAll(/integrity="([^"]+)"/g)].map(([, digest]) => digest)).toEqual([
    digestOf(written),
    digestOf(script),
  ]);
});
