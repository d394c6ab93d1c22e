/** UTF-16 code units of a page; the longest real ones have a million. What comes after is not read. */
const PAGE_LENGTH_MAX = 8 * 1024 ** 2;

/** Next.js's payload, the page's text once more: no reader sees it, and it is up to three quarters of a page. */
const PAYLOAD_START = '<script>self.__next_f.push(';
const PAYLOAD_END = '</script>';

/** Colours that highlighters write on every word of code. Nobody's prose has these variables. */
const COLOURS = / style="--(?:shiki-|\d)[^"<>]*"/g;

/** Elements that are often empty, and in XHTML then written `<a/>`: the HTML parser takes that for an open tag. */
const SELF_CLOSED = /<(a|div|em|i|p|script|section|span|td|textarea|title)((?:\s[^<>]*)?)\/>/g;

/**
 * A page's markup as the HTML parser should be given it. Parsing is most of the work of extraction, and without what
 * frameworks add it takes a third less. `path` tells XHTML.
 */
export function readableMarkup(path: string, html: string): string {
  const light = withoutPayload(html.slice(0, PAGE_LENGTH_MAX)).replace(COLOURS, '');
  return path.toLowerCase().endsWith('.xhtml') ? light.replace(SELF_CLOSED, '<$1$2></$1>') : light;
}

/** By searching and not by a pattern, which would take quadratic time where no script ends. */
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
