import { at, type Probe, type Step } from './crawl-probe.ts';

const img = at('img', 'src');

/** A page in an encoding, with its mark and a reference. */
function encoded(name: string, body: Buffer, marked: string, steps: readonly Step[], type = 'text/html'): Probe {
  return { name: `page in ${name}`, page: { type, body }, marked, steps };
}

/** Folder of a probe of `encoded`. */
const inFolder = (name: string, file: string): string => `/f/page-in-${name}/${file}`;
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

/** Pages in other encodings than UTF-8, with a reference. */
export const CHARSET_PROBES: readonly Probe[] = [
  // `表` ends in 0x5c, which is a backslash to whoever reads bytes as ASCII.
  encoded(
    'shift-jis',
    Buffer.concat([
      Buffer.from('<meta charset=shift_jis><p title="'),
      Buffer.from([0x95, 0x5c]),
      Buffer.from(`">x</p><img src="${inFolder('shift-jis', 'a.png')}">`),
    ]),
    'a.png',
    [img],
  ),
  encoded(
    'shift-jis-with-a-path',
    Buffer.concat([
      Buffer.from('<meta charset=shift_jis><img src="/f/page-in-shift-jis-with-a-path/'),
      Buffer.from([0x95, 0x5c]),
      Buffer.from('.png">'),
    ]),
    `${encodeURI('表')}.png`,
    [img],
  ),
  encoded(
    'windows-1252',
    Buffer.from(
      '<meta charset="windows-1252"><p>caf\u00e9</p><img src="/f/page-in-windows-1252/\u00e9.png">',
      'latin1',
    ),
    '%C3%A9.png',
    [img],
  ),
  encoded(
    'windows-1252-by-header',
    Buffer.from('<p>caf\u00e9</p><img src="/f/page-in-windows-1252-by-header/x?q=\u00e9">', 'latin1'),
    'x?q=%E9',
    [img],
    'text/html; charset=windows-1252',
  ),
  encoded('utf-16', utf16(`<p>caf\u00e9</p><img src="${inFolder('utf-16', 'a.png')}">`), 'a.png', [img]),
  encoded('utf-16be', utf16(`<p>x</p><img src="${inFolder('utf-16be', 'a.png')}">`).swap16(), 'a.png', [img]),
  encoded(
    'utf-16-by-header',
    utf16(`<p>x</p><img src="${inFolder('utf-16-by-header', 'a.png')}">`).subarray(2),
    'a.png',
    [img],
    'text/html; charset=utf-16le',
  ),
  encoded(
    'iso-2022-jp',
    Buffer.concat([
      Buffer.from('<meta charset=iso-2022-jp><p>\x1b$B'),
      Buffer.from('<">"', 'latin1'),
      Buffer.from(`\x1b(B</p><img src="${inFolder('iso-2022-jp', 'a.png')}">`),
    ]),
    'a.png',
    [img],
  ),
  encoded(
    'big5',
    Buffer.concat([
      Buffer.from('<meta charset=big5><p title="'),
      Buffer.from([0xa5, 0x5c]),
      Buffer.from(`"></p><img src="${inFolder('big5', 'a.png')}">`),
    ]),
    'a.png',
    [img],
  ),
  encoded(
    'gbk',
    Buffer.concat([
      Buffer.from('<meta http-equiv=content-type content="text/html; charset=gb2312"><p>'),
      Buffer.from([0xd6, 0xd0]),
      Buffer.from(`</p><img src="${inFolder('gbk', 'a.png')}">`),
    ]),
    'a.png',
    [img],
  ),
];
