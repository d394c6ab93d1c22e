/** A page's text, parted from the heading of level 1 that it begins with. */
export interface TitledBody {
  /** Inline Markdown, or null where the text begins with something else. */
  readonly heading: string | null;
  readonly body: string;
}

/** UTF-16 code units. A longer first line is a text, and patterns are spared it. */
const HEADING_LENGTH_MAX = 1_000;
/** What begins a block that is no paragraph, and so no setext heading (CommonMark, section 4.3). */
const OTHER_BLOCK = /^(?:[#>`~|<]|[*+-](?:\s|$)|\d{1,9}[.)]\s)/;

/** Finds CommonMark's ATX and setext headings (sections 4.2 and 4.3), of one line. */
export function splitTitle(markdown: string): TitledBody {
  const start = markdown.search(/\S/);
  const [line = '', below = ''] = start === -1 ? [] : markdown.slice(start).split('\n', 2);
  if (line.length > HEADING_LENGTH_MAX || /\n {4}|^ {4}|\t/.test(markdown.slice(0, start))) {
    return { heading: null, body: markdown };
  }
  const after = (lines: string) => markdown.slice(start + lines.length + 1);
  if (/^#\s/.test(line)) {
    return {
      heading:
        line
          .slice(1)
          .trim()
          .replace(/(?:^|\s)#+$/, '')
          .trim() || null,
      body: after(line),
    };
  }
  if (/^=+$/.test(below.trim()) && !OTHER_BLOCK.test(line)) {
    return { heading: line.trim(), body: after(`${line}\n${below}`) };
  }
  return { heading: null, body: markdown };
}
