import type { FoundKind } from '../reference.ts';

type Rule = Readonly<Record<string, FoundKind>>;

const LINK: Rule = { href: 'link', 'xlink:href': 'link', ping: 'hint' };
const SVG_TARGET: Rule = { href: 'asset', 'xlink:href': 'asset' };
const BACKGROUND: Rule = { background: 'asset' };
const MEDIA: Rule = { src: 'asset', 'data-src': 'lazy', 'data-srcset': 'lazy' };
const FRAME: Rule = { src: 'frame', 'data-src': 'lazy', longdesc: 'link' };

/**
 * Attributes that hold addresses, by element, names in lower case. What `link`, `script`, `meta`, `base` and `param` hold depends on their
 * other attributes, and is told in `page-reader.ts`.
 *
 * Not here, on purpose: `action` and `formaction` (a form leads nowhere offline), `cite`, `itemtype`, `itemid`, `profile` and `xmlns`
 * (names, which nobody loads), `usemap` (always within the page).
 */
const RULES: Readonly<Record<string, Rule>> = {
  a: LINK,
  area: LINK,
  'astro-island': { 'component-url': 'module', 'renderer-url': 'module', 'before-hydration-url': 'module' },
  audio: MEDIA,
  bgsound: { src: 'asset' },
  body: BACKGROUND,
  cursor: SVG_TARGET,
  embed: { src: 'frame' },
  feimage: SVG_TARGET,
  filter: SVG_TARGET,
  'font-face-uri': SVG_TARGET,
  frame: FRAME,
  iframe: FRAME,
  image: { ...SVG_TARGET, src: 'asset', srcset: 'asset' },
  img: { ...MEDIA, srcset: 'asset', longdesc: 'link', lowsrc: 'lazy', dynsrc: 'lazy' },
  input: { src: 'asset' },
  lineargradient: SVG_TARGET,
  mpath: SVG_TARGET,
  object: { data: 'frame' },
  pattern: SVG_TARGET,
  radialgradient: SVG_TARGET,
  // Nuxt's payload, which its script loads.
  script: { 'data-src': 'lazy' },
  source: { ...MEDIA, srcset: 'asset' },
  table: BACKGROUND,
  tbody: BACKGROUND,
  td: BACKGROUND,
  textpath: SVG_TARGET,
  tfoot: BACKGROUND,
  th: BACKGROUND,
  thead: BACKGROUND,
  tr: BACKGROUND,
  track: { src: 'asset' },
  use: SVG_TARGET,
  video: { ...MEDIA, poster: 'asset', 'data-poster': 'lazy' },
};

export const ELEMENT_RULES: ReadonlyMap<string, ReadonlyMap<string, FoundKind>> = new Map(
  Object.entries(RULES).map(([tag, rule]) => [tag, new Map(Object.entries(rule))]),
);

/** Attributes that hold several addresses with descriptors. */
export const LIST_ATTRIBUTES: ReadonlySet<string> = new Set(['srcset', 'imagesrcset', 'data-srcset']);

/** SVG's attributes whose value is CSS and may hold `url()`. */
export const CSS_ATTRIBUTES: ReadonlySet<string> = new Set(
  'clip-path cursor fill filter marker marker-end marker-mid marker-start mask stroke'.split(' '),
);

/** HTML elements whose content is text. What is in `noscript` is read as a document of its own: only a reader without scripts sees it. */
export const RAW_TEXT: ReadonlySet<string> = new Set(
  'iframe noembed noframes noscript script style textarea title xmp'.split(' '),
);

/** `param` names whose value is an address. */
export const ADDRESS_PARAMS: ReadonlySet<string> = new Set(['data', 'filename', 'href', 'movie', 'src', 'url']);

const ICON = /^(?:icon|mask-icon|fluid-icon|apple-touch-icon(?:-precomposed)?|apple-touch-startup-image)$/;

/** What a `link` refers to, by its `rel` and `as`. */
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

export type ScriptType = 'classic' | 'module' | 'importmap' | 'speculationrules' | 'data';

const JAVASCRIPT =
  /^(?:(?:application|text)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;

export function scriptType(type: string | null): ScriptType {
  const name = (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (name === '' || JAVASCRIPT.test(name)) return 'classic';
  return name === 'module' || name === 'importmap' || name === 'speculationrules' ? name : 'data';
}
