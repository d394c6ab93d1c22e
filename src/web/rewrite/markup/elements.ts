import { isAssetPath } from '../../media-type.ts';
import type { FoundKind } from '../reference.ts';

type Rule = Readonly<Record<string, FoundKind>>;

const LINK: Rule = { href: 'link', 'xlink:href': 'link', ping: 'hint' };
const SVG_TARGET: Rule = { href: 'asset', 'xlink:href': 'asset' };
const MEDIA: Rule = { src: 'asset' };
/** All MathML elements that can be links (MathML 3, section 2.1.6), because browsers do not agree on which of them they support. */
const MATHML =
  'maction math merror mfrac mi mn mo mover mpadded mphantom mroot mrow ms msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover';

/** Attributes with addresses, by tag. Omits identifiers such as `itemtype` and `xmlns`. */
const RULES: readonly (readonly [tags: string, Rule])[] = [
  [`a area ${MATHML}`, LINK],
  ['body table tbody td tfoot th thead tr', { background: 'asset' }],
  ['cursor feimage filter font-face-uri lineargradient mpath pattern radialgradient textpath use', SVG_TARGET],
  ['audio bgsound track', MEDIA],
  ['blockquote q', { cite: 'mounted' }],
  ['button', { formaction: 'mounted' }],
  ['form', { action: 'mounted' }],
  ['frame iframe', { src: 'frame', longdesc: 'link' }],
  ['html', { manifest: 'mounted' }],
  ['image', { ...SVG_TARGET, src: 'asset', srcset: 'asset' }],
  ['img', { ...MEDIA, srcset: 'asset', longdesc: 'link', lowsrc: 'lazy', dynsrc: 'lazy' }],
  ['input', { ...MEDIA, formaction: 'mounted' }],
  ['source', { ...MEDIA, srcset: 'asset' }],
  ['video', { ...MEDIA, poster: 'asset' }],
  ['astro-island', { 'component-url': 'module', 'renderer-url': 'module', 'before-hydration-url': 'module' }],
  ['redoc', { 'spec-url': 'lazy' }],
  // The `data-url` of a script is the address of the API description that Scalar displays.
  ['script', { 'data-url': 'lazy' }],
];

const RULE_MAPS: ReadonlyMap<string, ReadonlyMap<string, FoundKind>> = new Map(
  RULES.flatMap(([tags, rule]) => tags.split(' ').map((tag) => [tag, new Map(Object.entries(rule))] as const)),
);

const CUSTOM_RULE: ReadonlyMap<string, FoundKind> = new Map(
  ['src', 'srcset', 'ios-src', 'poster', 'spec-url', 'apidescriptionurl'].map((name) => [name, 'lazy'] as const),
);

export const ruleOf = (tag: string): ReadonlyMap<string, FoundKind> | undefined =>
  RULE_MAPS.get(tag) ?? (tag.includes('-') ? CUSTOM_RULE : undefined);

/** `data-` attributes from which scripts load pictures, frames and Nuxt's payload. Their values are not always addresses. */
const LAZY_ATTRIBUTES: ReadonlySet<string> = new Set(
  'background background-image bg bgset full hires image img large lazy lazy-background lazy-src lazy-srcset original original-src poster src srcset thumb zoom zoom-image'
    .split(' ')
    .map((name) => `data-${name}`),
);

export function isLazyAttribute(name: string): boolean {
  if (!name.startsWith('data-')) return false;
  return LAZY_ATTRIBUTES.has(name) || name.endsWith('-src') || name.endsWith('-srcset');
}

export const isListAttribute = (name: string): boolean => name.endsWith('srcset') || name === 'data-bgset';

export const CSS_ATTRIBUTES: ReadonlySet<string> = new Set(
  'clip-path cursor fill filter marker marker-end marker-mid marker-start mask stroke'.split(' '),
);

export const RAW_TEXT: ReadonlySet<string> = new Set(
  'iframe noembed noframes noscript script style textarea title xmp'.split(' '),
);

export const ADDRESS_METAS: ReadonlySet<string> = new Set(
  'config square70x70logo square150x150logo square310x310logo tileimage wide310x150logo'
    .split(' ')
    .map((name) => `msapplication-${name}`),
);

/** Names of `meta` elements with an address that other sites show in previews of the page. */
export const PREVIEW_META =
  /^(?:og:(?:url|image|audio|video)(?::(?:url|secure_url))?|twitter:(?:image|player|url)(?::src)?)$/i;

export const ROBOTS_METAS: ReadonlySet<string> = new Set(['robots', 'docshelf']);

export const ADDRESS_PARAMS: ReadonlySet<string> = new Set(['data', 'filename', 'href', 'movie', 'src', 'url']);

const PAGE_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

export function kindOfEmbedded(type: string, url: string): FoundKind {
  const isFile = type.trim() === '' ? isAssetPath(url.replace(/[?#].*/, '')) : !PAGE_TYPE.test(type);
  return isFile ? 'asset' : 'frame';
}

const ICON = /^(?:icon|mask-icon|fluid-icon|apple-touch-icon(?:-precomposed)?|apple-touch-startup-image)$/;

export function kindOfLink(rel: string, as: string): FoundKind {
  const tokens = rel.toLowerCase().split(/[\t\n\f\r ]+/);
  const has = (token: string): boolean => tokens.includes(token);
  if (has('canonical')) return 'canonical';
  if (has('stylesheet')) return 'style';
  if (has('modulepreload')) return 'script';
  if (has('manifest')) return 'manifest';
  if (has('preload') || has('prefetch') || has('prerender')) return kindOfPreload(as.trim().toLowerCase());
  if (tokens.some((token) => ICON.test(token))) return 'asset';
  return has('preconnect') || has('dns-prefetch') ? 'hint' : 'link';
}

function kindOfPreload(as: string): FoundKind {
  if (as === 'style') return 'style';
  return as === 'script' || as === 'worker' || as === 'sharedworker' ? 'script' : 'asset';
}

type ScriptType = 'classic' | 'module' | 'importmap' | 'speculationrules' | 'data';

const JAVASCRIPT =
  /^(?:(?:application|text)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;

export function scriptType(type: string | null): ScriptType {
  const name = (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (name === '' || JAVASCRIPT.test(name)) return 'classic';
  // Polyfills for older browsers use their own script types for import maps (`systemjs-importmap`) and modules (`module-shim`).
  const own = name === 'systemjs-importmap' ? 'importmap' : name.replace(/-shim$/, '');
  return own === 'module' || own === 'importmap' || own === 'speculationrules' ? own : 'data';
}

type Span = readonly [start: number, end: number];

const COMMA = 0x2c;

/** Addresses in a `srcset` (HTML standard, "parse a srcset attribute"). An address may contain commas, but not at its end. */
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

/** Matches a meta refresh as in the HTML standard, "shared declarative refresh steps": seconds, divider and address. */
const REFRESH =
  /^\s*(?:\d|(?=\.))[\d.]*(?:\s*[;,]\s*(?=\S)|\s+(?=[^\s;,]))(?:url\s*=\s*)?(?:"(?<double>[^"]*)|'(?<single>[^']*)|(?<bare>.*))/dis;

/** Finds the address in a meta refresh. Null if the page only reloads, or if the text is invalid. */
export function refreshSpan(content: string): Span | null {
  const { double, single, bare } = REFRESH.exec(content)?.indices?.groups ?? {};
  return double ?? single ?? bare ?? null;
}

export function refreshOf(header: string): { readonly seconds: number; readonly address: string } | null {
  const span = refreshSpan(header);
  return span === null ? null : { seconds: Number.parseFloat(header) || 0, address: header.slice(...span).trim() };
}

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
