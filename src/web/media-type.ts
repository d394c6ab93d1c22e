import { lookup } from 'mime-types';

/** Extensions that `mime-types` lacks or has with another meaning, such as `.ts` for video. */
const OWN_TYPES: ReadonlyMap<string, string> = new Map([
  ...['ts', 'mts', 'cts', 'tsx', 'rst', 'adoc', 'vue', 'svelte', 'astro'].map((ext) => [ext, 'text/plain'] as const),
  ['cjs', 'text/javascript'],
]);

/**
 * Extensions of text files that `mime-types` lacks or misreads (`.rs`, `.dot`). Serve them as `text/plain`, because browsers
 * download unknown types.
 */
const TEXT_EXTENSIONS = new Set(
  [
    'py pyi pyw go mod sum rs proto graphql gql rb erb gemspec php pl pm r jl scala sbt kt kts swift groovy gradle dart',
    'hpp cs fs fsx vb m mm d ex exs erl hrl hs lhs ml mli clj cljs edn lisp el scm rkt nim zig v sv vhdl f95 ada adb',
    'sh bash zsh fish bat cmd ps1 psm1 tcl awk sed vim sql tf tfvars hcl nix cue rego prisma bicep sol wgsl glsl hlsl cu',
    'diff patch bib tex ltx latex sty cls textile org asciidoc puml plantuml mmd mermaid dot wat wast wit thrift capnp',
    'jsonl ndjson jsonc toml env cfg cnf properties lock raml cmake make mk mak ninja bzl bazel dockerfile containerfile',
    'ac am m4 service socket timer desktop rules spec po pot strings plist feature robot mustache ejs njk liquid j2 tmpl tpl',
    'http rest htaccess sha256 sha512 md5 asc minisig lst out err',
  ].flatMap((extensions) => extensions.split(' ')),
);

const TEXT_NAME =
  /^(?:AUTHORS|BUILD|CHANGELOG|CHANGES|CNAME|CODEOWNERS|CONTRIBUTING|CONTRIBUTORS|COPYING|COPYRIGHT|HISTORY|INSTALL|LICEN[CS]E|MAINTAINERS|NEWS|NOTICE|PATENTS|README|THANKS|TODO|UNLICENSE|VERSION|WORKSPACE|(?:Brew|Caddy|Container|Docker|Earth|Gem|Guard|Jenkins|Just|Make|Pip|Pod|Proc|Rake|Tilt|Vagrant)file)(?:[-.][A-Z0-9.]+)?$/;

const ARCHIVES: ReadonlyMap<string, string> = new Map([
  ['tgz', 'application/gzip'],
  ['tbz', 'application/x-bzip2'],
  ['tbz2', 'application/x-bzip2'],
  ['txz', 'application/x-xz'],
  ['zst', 'application/zstd'],
  ['tzst', 'application/zstd'],
  ['lz4', 'application/x-lz4'],
  ['lzma', 'application/x-lzma'],
  ['gem', 'application/x-tar'],
  ...['whl', 'egg', 'vsix', 'nupkg', 'conda'].map((ext) => [ext, 'application/zip'] as const),
]);

const UNKNOWN = 'application/octet-stream';

const TEXT =
  /^(?:text\/|application\/(?:json|xml|javascript|ecmascript|manifest\+json|toml|yaml|x-sh|sql|[\w.-]+\+(?:json|xml))$|image\/svg\+xml$)/;

export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
}

function knownTypeOf(path: string): string | null {
  const extension = extensionOf(path);
  if (extension === '') return null;
  return OWN_TYPES.get(extension) ?? (lookup(extension) || null);
}

const withoutParameters = (type: string): string => type.split(';', 1)[0]?.trimEnd() ?? '';

export const isTextType = (type: string): boolean => TEXT.test(withoutParameters(type));

/** Returns the media type without a charset. */
export function shownTypeOf(path: string): string {
  const extension = extensionOf(path);
  if (TEXT_EXTENSIONS.has(extension) || TEXT_NAME.test(path.slice(path.lastIndexOf('/') + 1))) return 'text/plain';
  // `wget` writes the query of an address into the name of the file: `style.css?v=1.2`.
  const withoutQuery = path.replace(/\?[^/]*$/, '');
  return ARCHIVES.get(extension) ?? knownTypeOf(path) ?? (withoutQuery === path ? UNKNOWN : shownTypeOf(withoutQuery));
}

export function mediaTypeOf(path: string, charset = 'utf-8'): string {
  const type = shownTypeOf(path);
  return isTextType(type) ? `${type}; charset=${charset}` : type;
}

const MARKUP = new Set(['html', 'htm', 'xhtml', 'xml', 'svg', 'rss', 'atom']);

export const namesItsCharset = (path: string): boolean => MARKUP.has(extensionOf(path));

export function mediaTypeOfFile(path: string, head: Uint8Array): string {
  const charset = namesItsCharset(path) ? htmlCharset(head) : null;
  return mediaTypeOf(path, charset ?? 'utf-8');
}

/** True for a path with a known extension, except the extensions of pages. False for `docs/v1.2`, which may be a page. */
export function isAssetPath(path: string): boolean {
  const type = knownTypeOf(path);
  return type !== null && type !== 'text/html' && type !== 'application/xhtml+xml';
}

const PAGE_PART =
  /^(?:text\/(?:css|javascript|vtt)|application\/(?:javascript|wasm|vnd\.ms-fontobject)|(?:audio|font|image|video)\/.*)$/;
/**
 * Matches names of service workers. docshelf does not serve them from older versions, because such a worker would keep showing
 * the older version.
 */
const SERVICE_WORKER = /(?:^|[-_.])(?:ng)?sw(?:[-_.]|$)|service-?worker|ngsw-worker/i;

export function isPagePart(path: string): boolean {
  const type = knownTypeOf(path);
  if (type === null) return false;
  if (extensionOf(path) === 'map') return true;
  return (
    PAGE_PART.test(type) && !(type === 'text/javascript' && SERVICE_WORKER.test(path.slice(path.lastIndexOf('/') + 1)))
  );
}

const SHRINKING = new Set(
  [
    'application/wasm application/vnd.ms-fontobject font/ttf font/otf font/collection',
    'image/bmp image/x-icon image/vnd.microsoft.icon',
  ].flatMap((types) => types.split(' ')),
);

/** First bytes of compressed formats. The extension may not show the format: Pagefind's files are gzip. */
const COMPRESSED_MAGIC: readonly (readonly number[])[] = [
  [0x1f, 0x8b], // gzip
  [0x28, 0xb5, 0x2f, 0xfd], // zstd
  [0x50, 0x4b, 0x03, 0x04], // zip
  [0x42, 0x5a, 0x68], // bzip2
  [0xfd, 0x37, 0x7a, 0x58, 0x5a], // xz
  [0x89, 0x50, 0x4e, 0x47], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x77, 0x4f, 0x46], // WOFF and WOFF2
];

export const isCompressibleType = (type: string): boolean => isTextType(type) || SHRINKING.has(withoutParameters(type));

export function isCompressible(type: string, head: Uint8Array): boolean {
  if (!isCompressibleType(type)) return false;
  return !COMPRESSED_MAGIC.some((magic) => magic.every((byte, at) => head[at] === byte));
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

type Weights = ReadonlyMap<string, number>;

/**
 * Reads the weights in an `Accept` or `Accept-Encoding` header, by lower-case name.
 * @param invalid weight to use instead of an invalid weight
 */
export function weightsOf(header: string, invalid: 0 | 1): Weights {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter));
      return [name.toLowerCase(), weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? invalid)] as const;
    }),
  );
}

function weightOf(type: string, weights: Weights): number {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  return ranges.map((range) => weights.get(range)).find((weight) => weight !== undefined) ?? 0;
}

/**
 * True if an `Accept` header lists the type `wanted` with at least the weight of the type `usual`. Both types must be in lower
 * case, without parameters.
 */
export function prefersType(accept: string, wanted: string, usual: string): boolean {
  // Most clients do not name the wanted type, so test for its name before parsing the header.
  if (!accept.toLowerCase().includes(wanted)) return false;
  const weights = weightsOf(accept, 1);
  const ofWanted = weights.get(wanted) ?? 0;
  return ofWanted > 0 && ofWanted >= weightOf(usual, weights);
}

/**
 * True if an `Accept` header allows a type. A missing or empty header allows all types.
 * @param type media type in lower case, without parameters
 */
export const acceptsType = (accept: string | null, type: string): boolean =>
  accept === null || accept.trim() === '' || weightOf(type, weightsOf(accept, 1)) > 0;

/**
 * Number of bytes in which to search for a charset declaration. The HTML standard requires 1,024, but browsers find later
 * declarations in the first packet.
 */
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

/** Returns the encoding standard's name for a label: `windows-1252` for `latin1`. Null for an unknown label. */
export function encodingOf(label: string): string | null {
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
    // A `meta` element that can be read byte by byte is not UTF-16. If it declares UTF-16, the HTML standard prescribes UTF-8.
    if (encoding !== null) return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  }
  return null;
}

export const charsetOfType = (mediaType: string): string | null =>
  CHARSET_PARAMETER.exec(mediaType)?.[1]?.toLowerCase() ?? null;

const CHARSET_PARAMETER = /;\s*charset\s*=\s*["']?([^\s;"']+)["']?/i;

/** Charset of the byte order mark, which overrides the header (encoding standard, "decode"). */
export function markedCharset([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

export function htmlCharset(head: Uint8Array): string | null {
  return markedCharset(head) ?? charsetInMarkup(new TextDecoder('latin1').decode(head.subarray(0, CHARSET_HEAD_BYTES)));
}

/**
 * Charset that a page or XML file declares. Unlike in browsers, a `>` in an attribute of a `meta` element ends the tag.
 * @param text bytes as Latin-1
 */
export function charsetInMarkup(text: string): string | null {
  const head = text.slice(0, CHARSET_HEAD_BYTES);
  const meta = metaCharset(head.replace(/<!--[\s\S]*?(?:-->|$)/g, ''));
  if (meta !== null) return meta;
  const declared = XML_DECLARATION.exec(head)?.[1];
  return declared === undefined ? null : encodingOf(declared);
}

export const charsetInCss = (text: string): string | null =>
  /^@charset "([\w.:-]+)";/.exec(text.slice(0, 100))?.[1]?.toLowerCase() ?? null;

/**
 * Changes the charset of the media type to UTF-8 if the file begins with a byte order mark. docshelf adds this mark to each
 * file that it converts.
 */
export function rewrittenType(mediaType: string, bytes: Uint8Array): string {
  return markedCharset(bytes) === 'utf-8' ? mediaType.replace(CHARSET_PARAMETER, '; charset=utf-8') : mediaType;
}

/** Decodes a page. The byte order mark wins over the charset of the media type. Default: UTF-8; for unknown charsets, Latin-1. */
export function pageText(bytes: Uint8Array, mediaType: string): string {
  const charset = markedCharset(bytes) ?? charsetOfType(mediaType) ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}
