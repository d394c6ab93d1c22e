import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync, Visitor } from 'vite';
import { describe, expect, it } from 'vitest';

/**
 * Checks the import directions of the design in src/. It uses a real parser (that of vite), so that comments, strings and type
 * annotations cannot hide or imitate an import. It does not see imports with a computed name, and state in closures or static
 * fields.
 */

const ROOT = posix.join(import.meta.dirname, '..');
const VERBS = ['deploy', 'site', 'search', 'export', 'crawl'];
const NOUNS = ['web', 'archive', 'net', 'database', 'traces'];
/** Rooms that each room may import. */
const GROUND = ['files', 'threads', 'domain'];

/** Allowed imports. A room is a folder of src/, or one of the two files next to the rooms. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  app: ['http', ...VERBS, ...NOUNS, 'config', ...GROUND],
  cli: ['app', 'http', ...VERBS, ...NOUNS, 'config', ...GROUND].filter((room) => room !== 'crawl'),
  http: [...VERBS, ...NOUNS, ...GROUND].filter((room) => room !== 'crawl'),
  ...Object.fromEntries(VERBS.map((verb) => [verb, [...NOUNS, ...GROUND]])),
  ...Object.fromEntries([...NOUNS, 'config'].map((noun) => [noun, GROUND])),
  files: ['domain'],
  threads: ['domain'],
  domain: [],
};

/** Adapters next to their ports: folders or files. Only `app` imports them. */
const ADAPTERS = ['deploy/sources', 'export/stores', 'search/hosted-search.ts'];

/** The thread of a job joins export and crawl. Only it imports the crawl, through its index. */
const JOB_THREAD = 'app/export-thread.ts';
const CRAWL_DOOR = 'crawl/index.ts';

/** Only net opens sockets, with an egress policy. Elsewhere, only these names of socket modules are allowed. */
const SOCKETS: Readonly<Record<string, readonly string[]>> = {
  undici: ['errors', 'util'],
  'playwright-core': [],
  'node:http': ['STATUS_CODES', 'createServer', 'validateHeaderName', 'validateHeaderValue'],
  'node:https': ['createServer'],
  'node:http2': ['createServer', 'createSecureServer', 'constants', 'Http2ServerResponse'],
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'createServer'],
  'node:tls': ['TLSSocket', 'getCACertificates', 'createSecureContext', 'createServer'],
  'node:dns': [],
  'node:dns/promises': [],
  'node:dgram': [],
  'node:inspector': [],
};
/** Names that open sockets in packages with other uses. */
const SOCKET_MAKERS: Readonly<Record<string, string>> = {
  '@aws-sdk/client-s3': 'S3Client',
  '@aws-sdk/credential-provider-web-identity': 'fromTokenFile',
  pg: 'Pool',
};
const SOCKET_GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']);
/** Requests to a docshelf daemon, without the egress policy. Only commands send them. */
const DAEMON_REQUEST = 'net/daemon-request.ts';
const ASKS_DAEMONS = /^(?:cli\/|app\/doctor\/)/;

/** Rooms that only compute, and the packages that they may use: pure parsers and tables. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  web: ['parse5', 'htmlparser2', 'entities', 'css-tree', 'es-module-lexer', 'mime-types', 'mdast-util-to-markdown'],
};
/** Globals that read the clock, random numbers, the network or the process. A pure room uses none of them. */
const IMPURE_GLOBALS = new Set(
  'performance process console crypto fetch setTimeout setInterval setImmediate queueMicrotask globalThis'.split(' '),
);
const IMPURE_MEMBERS = new Set(['Date.now', 'Math.random']);
const LINES_MAX = 600;
/** Maximum number of files in one folder. */
const FILES_MAX = 30;

interface Import {
  readonly specifier: string;
  /** True for `import type`, which is removed at run time. `import { type A }` still loads the module. */
  readonly isType: boolean;
  /** Imported values. `*` means all, for a namespace or a dynamic import. */
  readonly names: readonly string[];
}

/** Text of the sources by their path in src/. */
type Tree = Readonly<Record<string, string>>;

const roomOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.tsx?$/, ''));
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
const isRelative = (specifier: string) => specifier.startsWith('.');
const targetOf = (path: string, specifier: string) => posix.join(posix.dirname(path), specifier);

function read(path: string, text: string) {
  const { program, errors } = parseSync(path, text);
  const imports: Import[] = [];
  const impure: string[] = [];
  /** Positions of names that are no variables: `a.fetch`, `{ fetch: 1 }`. */
  const labels = new Set<number>();
  const opened: string[] = [];
  const add = (node: { value: unknown } | null, kind?: string | null, names: readonly string[] = ['*']) => {
    if (typeof node?.value === 'string') imports.push({ specifier: node.value, isType: kind === 'type', names });
  };
  new Visitor({
    ImportDeclaration: (node) =>
      add(
        node.source,
        node.importKind,
        node.specifiers.flatMap((each) => {
          if (each.type !== 'ImportSpecifier') return ['*'];
          return each.importKind === 'type' || each.imported.type !== 'Identifier' ? [] : [each.imported.name];
        }),
      ),
    CallExpression: ({ callee }) => {
      if (callee.type === 'Identifier' && SOCKET_GLOBALS.has(callee.name)) opened.push(callee.name);
    },
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind),
    ImportExpression: (node) => add(node.source.type === 'Literal' ? node.source : null),
    TSImportType: (node) => add(node.source, 'type'),
    Identifier: (node) => {
      if (IMPURE_GLOBALS.has(node.name) && !labels.has(node.start)) impure.push(node.name);
    },
    Property: (node) => {
      if (!node.computed && !node.shorthand) labels.add(node.key.start);
    },
    MemberExpression: (node) => {
      if (!node.computed) labels.add(node.property.start);
      if (node.object.type !== 'Identifier' || node.property.type !== 'Identifier') return;
      const name = `${node.object.name}.${node.property.name}`;
      if (node.object.name === 'globalThis' && SOCKET_GLOBALS.has(node.property.name)) opened.push(name);
      if (IMPURE_MEMBERS.has(name)) impure.push(name);
    },
    NewExpression: (node) => {
      if (node.callee.type === 'Identifier' && SOCKET_GLOBALS.has(node.callee.name)) opened.push(node.callee.name);
      if (node.callee.type === 'Identifier' && node.callee.name === 'Date' && node.arguments.length === 0)
        impure.push('new Date()');
    },
  }).visit(program);
  const { body } = program;
  return { imports, impure, opened, state: moduleState(body), types: exportedTypes(body), broken: errors.length > 0 };
}

type Statements = ReturnType<typeof parseSync>['program']['body'];

/** Mutable names at the top level of a module: `let`, `var`, and collections that begin empty. */
function moduleState(body: Statements): string[] {
  return body.flatMap((statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (node?.type !== 'VariableDeclaration' || node.declare) return [];
    return node.declarations
      .filter(({ init }) => node.kind === 'let' || node.kind === 'var' || (init !== null && beginsEmpty(init)))
      .map(({ id }) => (id.type === 'Identifier' ? id.name : 'a pattern'));
  });
}

/** Names of the types, interfaces and classes that a module declares and exports. */
function exportedTypes(body: Statements): string[] {
  return body.flatMap((statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    const named = /^(?:TSTypeAlias|TSInterface|Class)Declaration$/.test(node?.type ?? '');
    return named && node !== null && 'id' in node && node.id?.type === 'Identifier' ? [node.id.name] : [];
  });
}

function beginsEmpty(init: { type: string }): boolean {
  const node = init as { type: string; elements?: unknown[]; arguments?: unknown[]; callee?: { name?: string } };
  if (node.type === 'ArrayExpression') return node.elements?.length === 0;
  if (node.type !== 'NewExpression') return false;
  return (
    /Cache$/.test(node.callee?.name ?? '') ||
    (/^(?:Weak)?(?:Map|Set)$/.test(node.callee?.name ?? '') && node.arguments?.length === 0)
  );
}

/** Names in a module that open sockets, including those of `Import.names`. */
function socketNames({ specifier, isType, names }: Import): string[] {
  if (isType) return [];
  const maker = SOCKET_MAKERS[specifier];
  if (maker !== undefined) return names.filter((name) => name === maker);
  const harmless = SOCKETS[specifier];
  return harmless === undefined ? [] : names.filter((name) => !harmless.includes(name));
}

/** Uses of sockets outside of the policy, one sentence each. */
function pastTheGate(path: string, text: string, { imports, opened }: ReturnType<typeof read>): string[] {
  const names = [...imports.flatMap(socketNames), ...opened];
  if (roomOf(path) === 'net') {
    if (names.length === 0 || path === DAEMON_REQUEST || /\bEgressPolicy\b/.test(text)) return [];
    return [`${path} opens sockets (${names.join(', ')}) and takes no EgressPolicy`];
  }
  const importsClient = imports.some(
    ({ specifier }) => isRelative(specifier) && targetOf(path, specifier) === DAEMON_REQUEST,
  );
  return [
    ...names.map((name) => `${path} goes past the gate of net: ${name}`),
    ...(importsClient && !ASKS_DAEMONS.test(path) ? [`${path} asks a daemon, as commands alone do`] : []),
  ];
}

/** Reason why `path` may not import this, or null. */
function faultOf(path: string, { specifier, isType }: Import, packages: ReadonlySet<string>): string | null {
  const room = roomOf(path);
  if (!isRelative(specifier)) {
    const allowed = PURE[room];
    const isErased = isType && packageOf(specifier) === 'typebox';
    if (allowed !== undefined && !isErased && !allowed.includes(packageOf(specifier)))
      return 'a pure room imports no such thing';
    if (specifier.startsWith('node:') || packages.has(packageOf(specifier))) return null;
    return 'not among the dependencies of package.json';
  }
  const target = targetOf(path, specifier);
  const targetRoom = roomOf(target);
  if (target.endsWith('/worker.ts') && !isType) return 'a worker is started by its address, never imported';
  const adapter = ADAPTERS.find((each) => target === each || target.startsWith(`${each}/`));
  if (adapter !== undefined && room !== 'app' && !path.startsWith(`${adapter}/`))
    return 'an adapter is named by app alone';
  if (target === JOB_THREAD) return 'the thread of a job is started by its address, never imported';
  if (targetRoom === room) return null;
  if (targetRoom === 'crawl' && (path !== JOB_THREAD || target !== CRAWL_DOOR))
    return 'the crawl is entered by its door, from the thread of a job';
  if (!(MAY_IMPORT[room] ?? []).includes(targetRoom)) return `${room} may not import ${targetRoom}`;
  return null;
}

/** First import cycle as a list of paths. Imports of types also count. */
function cycleOf(edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): string[] | null => {
    const at = trail.indexOf(path);
    if (at >= 0) return [...trail.slice(at), path];
    if (done.has(path)) return null;
    for (const next of edges.get(path) ?? []) {
      const cycle = walk(next, [...trail, path]);
      if (cycle !== null) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const path of edges.keys()) {
    const cycle = walk(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

type ReadTree = ReadonlyMap<string, ReturnType<typeof read>>;

const readAll = (tree: Tree): ReadTree => new Map(Object.entries(tree).map(([path, text]) => [path, read(path, text)]));

/** Violations of the design in a tree, one sentence each. */
function breaches(tree: Tree, packages: ReadonlySet<string>, files: ReadTree = readAll(tree)): string[] {
  const found: string[] = [];
  const edges = new Map<string, string[]>();
  const declaredIn = new Map<string, string>();
  for (const [folder, paths] of Map.groupBy(files.keys(), posix.dirname)) {
    if (paths.length > FILES_MAX) found.push(`${folder}/ has ${paths.length} files, over ${FILES_MAX}`);
  }
  for (const [path, contents] of files) {
    const { imports, impure, state, types, broken } = contents;
    found.push(...pastTheGate(path, tree[path] ?? '', contents));
    for (const name of types) {
      const other = declaredIn.get(name);
      if (other !== undefined) found.push(`${name} has two meanings: ${other} and ${path} export it`);
      declaredIn.set(name, path);
    }
    if (broken) found.push(`${path} does not parse`);
    if (!(roomOf(path) in MAY_IMPORT)) found.push(`${path} is in no room of the design`);
    const lines = (tree[path] ?? '').split('\n').length - 1;
    if (lines > LINES_MAX) found.push(`${path} has ${lines} lines, over ${LINES_MAX}`);
    for (const name of state) found.push(`${path} keeps state in its module: ${name}`);
    if (roomOf(path) in PURE) for (const name of impure) found.push(`${path} is pure and names ${name}`);
    for (const each of imports) {
      const fault = faultOf(path, each, packages);
      if (fault !== null) found.push(`${path} imports ${each.specifier}: ${fault}`);
    }
    edges.set(
      path,
      imports.filter(({ specifier }) => isRelative(specifier)).map(({ specifier }) => targetOf(path, specifier)),
    );
  }
  const cycle = cycleOf(edges);
  return cycle === null ? found : [...found, `import cycle: ${cycle.join(' -> ')}`];
}

function importsOf(path: string, files: ReadTree): readonly Import[] {
  return files.get(path)?.imports.filter(({ isType }) => !isType) ?? [];
}

/** Files that these may load, including dynamic imports. */
function loadedFrom(entries: readonly string[], files: ReadTree): ReadonlySet<string> {
  const loaded = new Set(entries);
  for (const path of loaded) {
    for (const { specifier } of importsOf(path, files)) {
      if (isRelative(specifier)) loaded.add(targetOf(path, specifier));
    }
  }
  return loaded;
}

const dependencies = new Set<string>(
  Object.keys(JSON.parse(readFileSync(posix.join(ROOT, 'package.json'), 'utf8')).dependencies),
);

describe('structure of src/', () => {
  const paths = globSync('**/*.{ts,tsx}', { cwd: posix.join(ROOT, 'src') });
  const tree = Object.fromEntries(paths.map((path) => [path, readFileSync(posix.join(ROOT, 'src', path), 'utf8')]));

  const files = readAll(tree);

  it('contains domain/errors.ts, so that the structure test does not check an empty list of files', () => {
    expect(paths).toContain('domain/errors.ts');
  });

  it('keeps the crawl and the schema builder out of all modules that a deployment loads', () => {
    const workers = paths.filter((path) => path.endsWith('/worker.ts') && roomOf(path) !== 'crawl');
    const loaded = loadedFrom(['main.ts', ...workers], files);
    expect(loaded).toContain('app/daemon.ts');
    expect(loaded).toContain('app/open-exports.ts');
    expect([...loaded].filter((path) => roomOf(path) === 'crawl' || path === JOB_THREAD)).toEqual([]);
    const packages = [...loaded].flatMap((path) => importsOf(path, files).map(({ specifier }) => packageOf(specifier)));
    expect(packages).not.toContain('playwright-core');
    // 373 modules, a third of a command's processor time. At run time the schemas are JSON.
    expect(packages).not.toContain('typebox');
    expect(loadedFrom([JOB_THREAD], files)).toContain(CRAWL_DOOR);
  });

  it('keeps the folders site, web, search, export and threads, and archive/index.ts, out of the modules that every command loads', () => {
    const loaded = loadedFrom(['cli/daemon-client.ts', 'cli/load-config.ts', 'cli/stored-versions.ts'], files);
    const rooms = ['site', 'web', 'search', 'export', 'threads'];
    expect([...loaded].filter((path) => rooms.includes(roomOf(path)) || path === 'archive/index.ts')).toEqual([]);
  });

  it('follows the import rules and the size limits of the design', () => {
    expect(breaches(tree, dependencies, files)).toEqual([]);
  });
});

describe('structure test', () => {
  const judge = (tree: Tree) => breaches(tree, new Set(['hono', 'undici', 'parse5']));

  it('accepts a source tree that follows all rules', () => {
    const tree = {
      'main.ts': "import { run } from './cli/index.ts';\nawait run();\n",
      'app.ts':
        "import { site } from './http/index.ts';\nimport { disk } from './export/stores/disk.ts';\nexport const build = () => [site, disk];\n",
      'cli/index.ts': "export const run = async () => (await import('../app.ts')).build();\n",
      'http/index.ts':
        "import { serve } from '../site/index.ts';\nimport { Hono } from 'hono';\nexport const site = [serve, Hono];\n",
      'site/index.ts': "import { page } from '../web/page.ts';\nexport const serve = page;\n",
      'export/ports.ts': 'export interface Store { read(): string }\n',
      'export/stores/disk.ts':
        "import type { Store } from '../ports.ts';\nexport const disk: Store = { read: () => '' };\n",
      'web/page.ts':
        "import { parse } from 'parse5';\n// Date.now() in a comment\nexport const page = (at: number) => [parse('let x = 1'), new Date(at), parse.fetch];\n",
    };
    expect(judge(tree)).toEqual([]);
  });

  it.each<[string, Tree, RegExp]>([
    [
      'a verb folder that imports another verb folder',
      { 'site/a.ts': "import '../deploy/index.ts';" },
      /site may not import deploy/,
    ],
    [
      'a type import across verb folders',
      { 'site/a.ts': "import type { A } from '../deploy/index.ts';" },
      /may not import deploy/,
    ],
    [
      'a re-export across verb folders',
      { 'site/a.ts': "export * from '../deploy/index.ts';" },
      /may not import deploy/,
    ],
    [
      'a dynamic import across verb folders',
      { 'site/a.ts': "await import('../deploy/index.ts');" },
      /may not import deploy/,
    ],
    ['an import in type position', { 'site/a.ts': "type A = import('../deploy/a.ts').A;" }, /may not import deploy/],
    ['app that imports cli', { 'app/a.ts': "import { run } from '../cli/index.ts';" }, /app may not import cli/],
    ['a noun folder that imports http', { 'web/a.ts': "import '../http/index.ts';" }, /web may not import http/],
    ['http that imports an adapter', { 'http/a.ts': "import '../export/stores/disk.ts';" }, /named by app alone/],
    ['a verb folder that imports its adapter', { 'export/a.ts': "import './stores/disk.ts';" }, /named by app alone/],
    ['http that imports the crawl', { 'http/a.ts': "import '../crawl/index.ts';" }, /from the thread of a job/],
    [
      'an import past the entry point of the crawl',
      { 'app/export-thread.ts': "import '../crawl/scope.ts';" },
      /by its door/,
    ],
    [
      'an export that imports the crawl',
      { 'export/a.ts': "import type { A } from '../crawl/index.ts';" },
      /by its door/,
    ],
    ['an import of a job thread', { 'app/a.ts': "import './export-thread.ts';" }, /never imported/],
    [
      'a verb folder that imports types of the config',
      { 'site/a.ts': "import type { Config } from '../config/index.ts';" },
      /site may not import config/,
    ],
    ['an import of a worker', { 'deploy/a.ts': "import './worker.ts';" }, /never imported/],
    ['a pure file that reads files', { 'domain/a.ts': "import 'node:fs';" }, /no such thing/],
    ['a pure file with a framework', { 'web/a.ts': "import { Hono } from 'hono';" }, /no such thing/],
    ['a pure file that reads the clock', { 'domain/a.ts': 'export const a = () => Date.now();' }, /names Date\.now/],
    ['a pure file that creates a Date', { 'web/a.ts': 'export const a = () => new Date();' }, /names new Date/],
    [
      'a pure file that uses random numbers',
      { 'web/a.ts': 'export const a = () => Math.random();' },
      /names Math\.random/,
    ],
    ['a pure file that fetches', { 'web/a.ts': "export const a = () => fetch('');" }, /names fetch/],
    ['an agent outside net', { 'crawl/a.ts': "import { Agent } from 'undici';" }, /past the gate of net: Agent/],
    ['a socket outside net', { 'deploy/a.ts': "import { connect } from 'node:net';" }, /past the gate of net: connect/],
    [
      'a namespace import of a socket module',
      { 'deploy/a.ts': "import * as net from 'node:net';" },
      /past the gate of net: \*/,
    ],
    ['a dynamic import of a socket module', { 'app/a.ts': "await import('node:https');" }, /past the gate of net: \*/],
    ['a DNS lookup', { 'app/a.ts': "import { lookup } from 'node:dns/promises';" }, /past the gate of net: lookup/],
    ['a call of fetch', { 'search/a.ts': "export const a = () => fetch('');" }, /past the gate of net: fetch/],
    ['a call of globalThis.fetch', { 'search/a.ts': 'export const a = globalThis.fetch;' }, /net: globalThis\.fetch/],
    ['a WebSocket', { 'search/a.ts': "export const a = new WebSocket('');" }, /past the gate of net: WebSocket/],
    ['a client factory without a policy', { 'net/a.ts': "import { Agent } from 'undici';" }, /takes no EgressPolicy/],
    [
      'a daemon that sends requests to daemons',
      { 'deploy/a.ts': "import { askDaemon } from '../net/daemon-request.ts';", 'net/daemon-request.ts': '' },
      /as commands alone do/,
    ],
    ['an import of a development dependency', { 'http/a.ts': "import 'vitest';" }, /not among the dependencies/],
    ['a let at module level', { 'site/a.ts': 'export let count = 0;' }, /keeps state in its module: count/],
    ['a map at module level', { 'site/a.ts': 'const seen = new Map<string, string>();' }, /module: seen/],
    ['an unknown top-level folder', { 'utils/a.ts': 'export const a = 1;' }, /no room of the design/],
    [
      'a name with two declarations',
      { 'site/a.ts': 'export interface Target {}', 'web/a.ts': 'export type Target = 1;' },
      /Target has two meanings: site\/a\.ts and web\/a\.ts/,
    ],
    [
      'a folder with too many files',
      Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`serve/a${at}.ts`, 'export const a = 1;'])),
      /serve\/ has 31 files/,
    ],
    ['a file that is too long', { 'site/a.ts': '\n'.repeat(601) }, /601 lines/],
    [
      'a circular import',
      { 'site/a.ts': "import './b.ts';", 'site/b.ts': "import './a.ts';" },
      /a\.ts -> site\/b\.ts -> site\/a/,
    ],
    ['text that is not TypeScript', { 'site/a.ts': 'const = ;' }, /does not parse/],
  ])('finds a violation of the structure rules: %s', (_, tree, breach) => {
    expect(judge(tree).join('\n')).toMatch(breach);
  });
});
