/** Bytes searched for a `<meta charset>`. The HTML standard says 1,024; browsers find later ones that arrive with them. */
export const CHARSET_HEAD_BYTES = 4096;

const META = /<meta[\s/][^>]*>/gi;
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
const XML_DECLARATION = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;

function attributesOf(tag: string): ReadonlyMap<string, string> {
  const attributes = Array.from(
    tag.slice('<meta'.length).matchAll(ATTRIBUTE),
    ([, name = '', quoted, apostrophed, bare]) => [name.toLowerCase(), quoted ?? apostrophed ?? bare ?? ''] as const,
  );
  return new Map(attributes.reverse());
}

/** The encoding standard's name of a label (`latin1` is `windows-1252`), or null for one that it does not know. */
function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return null;
  }
}

function metaCharset(text: string): string | null {
  for (const [tag] of text.matchAll(META)) {
    const attributes = attributesOf(tag);
    const isContentType = attributes.get('http-equiv')?.trim().toLowerCase() === 'content-type';
    const content = isContentType ? (attributes.get('content') ?? '') : '';
    const label = attributes.get('charset') ?? /charset\s*=\s*["']?\s*([^\s;"']+)/i.exec(content)?.[1];
    const encoding = label === undefined ? null : encodingOf(label);
    // A meta that could be read as single bytes cannot be UTF-16: the standard's prescan says UTF-8 then.
    if (encoding !== null) return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  }
  return null;
}

export function charsetOfType(mediaType: string): string | null {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(mediaType)?.[1]?.toLowerCase() ?? null;
}

/** The charset of a byte order mark, which counts for more than a header (encoding standard, "decode"), or null. */
export function markedCharset([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** Of a page, XML or SVG, by byte order mark, `<meta>`, XML declaration (HTML standard, section 13.2.3.2). */
export function htmlCharset(head: Uint8Array): string | null {
  return markedCharset(head) ?? charsetInMarkup(new TextDecoder('latin1').decode(head.subarray(0, CHARSET_HEAD_BYTES)));
}

/** One unit a byte. Simplified from the standard's prescan: a `>` inside an attribute's value ends a tag. */
export function charsetInMarkup(text: string): string | null {
  const head = text.slice(0, CHARSET_HEAD_BYTES);
  const meta = metaCharset(head.replace(/<!--[\s\S]*?(?:-->|$)/g, ''));
  if (meta !== null) return meta;
  const declared = XML_DECLARATION.exec(head)?.[1];
  return declared === undefined ? null : encodingOf(declared);
}

/** The charset that a style sheet begins with (CSS Syntax Level 3, section 3.2), or null. */
export function charsetInCss(text: string): string | null {
  return /^@charset "([\w.:-]+)";/.exec(text.slice(0, 100))?.[1]?.toLowerCase() ?? null;
}
