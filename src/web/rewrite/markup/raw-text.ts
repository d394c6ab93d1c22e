const ENDS_NAME = /[\t\n\f\r />]/;

function isTagNameAt(text: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((text.charCodeAt(at + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  const after = at + name.length;
  return after < text.length && ENDS_NAME.test(text[after] ?? '');
}

/** The place of the end tag of an element whose content is no markup; the text's end where there is none. */
export function endOfRawText(text: string, start: number, name: string): number {
  for (let at = text.indexOf('</', start); at !== -1; at = text.indexOf('</', at + 2)) {
    if (isTagNameAt(text, at + 2, name)) return at;
  }
  return text.length;
}

/**
 * HTML standard, 13.2.5.4 and 13.2.5.15 to 13.2.5.31: in `<!-- -->` a `<script` opens a stretch that its `</script` ends.
 */
export function endOfScript(text: string, start: number): number {
  const plainEnd = endOfRawText(text, start, 'script');
  // Searched in the script alone, or a page would be read once for each script.
  const opening = text.slice(start, plainEnd).indexOf('<!--') + start;
  if (opening < start) return plainEnd;

  let state: 'plain' | 'escaped' | 'doubly' = 'escaped';
  /** The next `-->`, kept: a search at every `<` would cost the square of the text. */
  let close = next(text, '-->', opening + 2);
  let at = opening + 4;
  for (;;) {
    const tag = next(text, '<', at);
    if (state !== 'plain' && close < tag) {
      state = 'plain';
      at = close + 3;
      continue;
    }
    if (tag === text.length) return tag;
    at = tag + 1;
    if (state === 'plain') {
      if (text.startsWith('!--', at)) {
        state = 'escaped';
        at += 3;
        if (close < at - 2) close = next(text, '-->', at - 2);
      } else if (text[at] === '/' && isTagNameAt(text, at + 1, 'script')) return tag;
    } else if (text[at] === '/' && isTagNameAt(text, at + 1, 'script')) {
      if (state === 'escaped') return tag;
      state = 'escaped';
    } else if (state === 'escaped' && isTagNameAt(text, at, 'script')) state = 'doubly';
  }
}

function next(text: string, searched: string, from: number): number {
  const at = text.indexOf(searched, from);
  return at === -1 ? text.length : at;
}

export function endOfDoctype(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"' || character === "'") at = next(text, character, at + 1);
    else if (character === '<') {
      if (text.startsWith('<!--', at)) at = next(text, '-->', at + 4) + 2;
      else depth++;
    } else if (character === '>') {
      if (depth === 0) return at + 1;
      depth--;
    }
  }
  return text.length;
}
