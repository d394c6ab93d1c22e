import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Random } from '../search/random.ts';

/** A live site in a separate process: `node crawl-origin.ts <pages> <bytes> <links>` prints its port. */
const [pages = 0, bytes = 0, links = 0] = process.argv.slice(2).map(Number);

const WORDS =
  'the of a to and in is for that with are this be as on by it or an from at can not will when which if'.split(' ');
const STYLE = Buffer.from('body { font: 16px sans-serif; background: url("/logo.svg") }');
const LOGO = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>');

const bodies = Array.from({ length: pages }, (_, at) => Buffer.from(pageOf(at)));

function pageOf(at: number): string {
  const random = new Random(at);
  const menu = Array.from({ length: links }, (_, n) => {
    // Half of the links are the menu of the site, on every page. The others lead to random pages.
    const target = n < links / 2 ? (n * 7) % pages : random.below(pages);
    return `<li><a class="nav-link" href="/section-${target % 20}/page-${target}">Page ${target}</a></li>`;
  });
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page ${at}</title><link rel="stylesheet" href="/style.css"></head><body><img src="/logo.svg" alt=""><ul>\n${menu.join('\n')}\n</ul>`;
  let text = '';
  while (head.length + text.length < bytes - 200) {
    const words = Array.from({ length: 60 }, () => random.oneOf(WORDS)).join(' ');
    text += `<h2 id="h${text.length}">Heading</h2>\n<p class="text">${words}, <code>${random.oneOf(WORDS)}</code>.</p>\n`;
  }
  return `${head}${text}</body></html>\n`;
}

const server = createServer((request, response) => {
  const at = /^\/section-\d+\/page-(\d+)$/.exec(request.url ?? '')?.[1];
  const body = request.url === '/' ? bodies[0] : at === undefined ? undefined : bodies[Number(at)];
  if (body !== undefined)
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length }).end(body);
  else if (request.url === '/style.css') response.writeHead(200, { 'content-type': 'text/css' }).end(STYLE);
  else if (request.url === '/logo.svg') response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(LOGO);
  else response.writeHead(404, { 'content-type': 'text/html' }).end('<p>nothing here');
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
