import hljs from 'highlight.js';
import { escapeHtml } from '../../../web/escape-html.ts';

/** UTF-16 code units. Longer code is data, and colours in it help nobody; some grammars take seconds for it. */
const HIGHLIGHTED_LENGTH_MAX = 100_000;
const TITLE = /(?:^|\s)(?:title|filename)=(?:"([^"]*)"|'([^']*)'|(\S+))/;

/** A block of code with the classes of highlight.js, which the theme colours. @param info what stands behind the fence */
export function renderCode(code: string, info: string): string {
  const language = /^[^\s{,:]+/.exec(info.trim())?.[0]?.replace(/^\./, '') ?? '';
  const [, quoted, single, bare] = TITLE.exec(info) ?? [];
  const title = quoted ?? single ?? bare ?? '';
  const name = title === '' ? '' : `<p class="code-title">${escapeHtml(title)}</p>`;
  return `<div class="code" data-language="${escapeHtml(language)}">${name}<pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;
}

function highlight(code: string, language: string): string {
  if (code.length > HIGHLIGHTED_LENGTH_MAX || hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
