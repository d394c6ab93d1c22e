type Span = readonly [start: number, end: number];

const COMMA = 0x2c;

/**
 * HTML standard, "parse a srcset attribute": an address may hold commas, but not at its end. Descriptors are not judged.
 */
export function srcsetSpans(srcset: string): Span[] {
  const spans: Span[] = [];
  for (let at = 0; ; ) {
    while (at < srcset.length && (srcset.charCodeAt(at) === COMMA || isSpace(srcset.charCodeAt(at)))) at++;
    if (at === srcset.length) return spans;
    const start = at;
    while (at < srcset.length && !isSpace(srcset.charCodeAt(at))) at++;
    let end = at;
    while (srcset.charCodeAt(end - 1) === COMMA) end--;
    spans.push([start, end]);
    if (end === at) at = endOfDescriptors(srcset, at);
  }
}

/** The place of the comma behind an address's descriptors, which may hold some in parentheses. */
function endOfDescriptors(srcset: string, start: number): number {
  let isInside = false;
  for (let at = start; at < srcset.length; at++) {
    const character = srcset[at];
    if (character === '(') isInside = true;
    else if (character === ')') isInside = false;
    else if (character === ',' && !isInside) return at;
  }
  return srcset.length;
}

/** The address of a meta refresh (HTML standard, "shared declarative refresh steps"), or null where it names none. */
export function refreshSpan(content: string): Span | null {
  let at = skip(content, 0, isSpace);
  const digits = at;
  at = skip(content, at, (code) => code >= 0x30 && code <= 0x39);
  if (at === digits && content[at] !== '.') return null;
  at = skip(content, at, (code) => (code >= 0x30 && code <= 0x39) || code === 0x2e);
  const divider = at;
  at = skip(content, at, isSpace);
  const isDivided = content[at] === ';' || content[at] === ',';
  if (!isDivided && at === divider) return null;
  if (isDivided) at = skip(content, at + 1, isSpace);
  if (at >= content.length) return null;
  const prefix = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i.exec(content.slice(at))?.[0] ?? '';
  const start = at + prefix.length;
  const quote = content[start];
  if (quote !== '"' && quote !== "'") return [start, content.length];
  const close = content.indexOf(quote, start + 1);
  return [start + 1, close === -1 ? content.length : close];
}

export function refreshOf(header: string): { readonly seconds: number; readonly address: string } | null {
  const span = refreshSpan(header);
  return span === null ? null : { seconds: Number.parseFloat(header) || 0, address: header.slice(...span).trim() };
}

function skip(text: string, start: number, belongs: (code: number) => boolean): number {
  let at = start;
  while (at < text.length && belongs(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}
