import { lookup } from 'mime-types';
import { htmlCharset } from './charset.ts';

/** Extensions that the registry lacks, or knows as what documentation never means: to it `.ts` is video. */
const OWN_TYPES: ReadonlyMap<string, string> = new Map([
  ...['ts', 'mts', 'cts', 'tsx', 'rst', 'adoc', 'vue', 'svelte', 'astro'].map((ext) => [ext, 'text/plain'] as const),
  ['cjs', 'text/javascript'],
]);

/**
 * Code, data and texts that the registry lacks, or has for another format of the same name (`.rs`, `.dot`, `.pot`, `.mmd`), or as
 * what a browser downloads and does not show. The answers say `nosniff`: what is not told to be text, nobody can read.
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

/** Texts whose names have no extension, as they are written. */
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

export function isTextType(type: string): boolean {
  const end = type.indexOf(';');
  return TEXT.test(end === -1 ? type : type.slice(0, end).trimEnd());
}

function shownTypeOf(path: string): string {
  const extension = extensionOf(path);
  if (TEXT_EXTENSIONS.has(extension) || TEXT_NAME.test(path.slice(path.lastIndexOf('/') + 1))) return 'text/plain';
  return ARCHIVES.get(extension) ?? knownTypeOf(path) ?? UNKNOWN;
}

export function mediaTypeOf(path: string, charset = 'utf-8'): string {
  const type = shownTypeOf(path);
  return isTextType(type) ? `${type}; charset=${charset}` : type;
}

const MARKUP = new Set(['html', 'htm', 'xhtml', 'xml', 'svg', 'rss', 'atom']);

export function namesItsCharset(path: string): boolean {
  return MARKUP.has(extensionOf(path));
}

export function mediaTypeOfFile(path: string, head: Uint8Array): string {
  const charset = namesItsCharset(path) ? htmlCharset(head) : null;
  return mediaTypeOf(path, charset ?? 'utf-8');
}

/** True where the extension is known and not a page's: a missing asset gets no HTML. `docs/v1.2` is page-like. */
export function isAssetPath(path: string): boolean {
  const type = knownTypeOf(path);
  return type !== null && type !== 'text/html' && type !== 'application/xhtml+xml';
}

/** Scripts, styles, fonts, pictures, media and WebAssembly by their types; source maps by their name. */
const PAGE_PART =
  /^(?:text\/(?:css|javascript|vtt)|application\/(?:javascript|wasm|vnd\.ms-fontobject)|(?:audio|font|image|video)\/.*)$/;
/** By the names that they go by: a registered one asks for itself again, and must find that it is gone. */
const SERVICE_WORKER = /(?:^|[-_.])(?:ng)?sw(?:[-_.]|$)|service-?worker|ngsw-worker/i;

/** True for what a page loads as a part of itself, and not for documents, feeds, archives, data and service workers. */
export function isPagePart(path: string): boolean {
  const type = knownTypeOf(path);
  if (type === null) return false;
  if (extensionOf(path) === 'map') return true;
  return (
    PAGE_PART.test(type) && !(type === 'text/javascript' && SERVICE_WORKER.test(path.slice(path.lastIndexOf('/') + 1)))
  );
}
