/** UTF-16 code units; the longest real pages have a million. What comes after is not read. */
const PAGE_LENGTH_MAX = 8 * 1024 ** 2;

/** Next.js's payload, the page's text once more, up to three quarters of a page. */
const PAYLOAD_START = '<script>self.__next_f.push(';
const PAYLOAD_END = '</script>';

/** Colours that highlighters write on every word of code. */
const COLOURS = / style="--(?:shiki-|\d)[^"<>]*"/g;

/** Often empty elements, in XHTML written `<a/>`, which the HTML parser takes for an open tag. */
const SELF_CLOSED = /<(a|div|em|i|p|script|section|span|td|textarea|title)((?:\s[^<>]*)?)\/>/g;

/** Markup for the HTML parser, which takes a third less time without what frameworks add. `path` tells XHTML. */
export function readableMarkup(path: string, html: string): string {
  const light = withoutPayload(html.slice(0, PAGE_LENGTH_MAX)).replace(COLOURS, '');
  return path.toLowerCase().endsWith('.xhtml') ? light.replace(SELF_CLOSED, '<$1$2></$1>') : light;
}

/** Searches, since a pattern would take quadratic time where no script ends. */
function withoutPayload(html: string): string {
  let rest = '';
  let from = 0;
  for (;;) {
    const start = html.indexOf(PAYLOAD_START, from);
    const end = start === -1 ? -1 : html.indexOf(PAYLOAD_END, start);
    if (end === -1) return rest + html.slice(from);
    rest += html.slice(from, start);
    from = end + PAYLOAD_END.length;
  }
}
