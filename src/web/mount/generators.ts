import type { Edit } from '../rewrite/write.ts';
import { docusaurusData, webpackPublicPath } from './docusaurus.ts';
import type { MountSource } from './edits.ts';
import { nextFolders, nextPagePayload, nextPayload, nextRuntime } from './next.ts';
import { fileLiterals, inScripts, sinks } from './script-literals.ts';
import {
  pagefindOptions,
  starlightLanguages,
  viteBase,
  vitePressBase,
  vitePressPage,
  vitePressRouter,
} from './vite.ts';

/** `page`: an HTML page. `payload`, `data`: text and JSON files. */
export type GeneratorPlace = 'page' | 'script' | 'payload' | 'data' | 'other';

/** A shape that a generator writes; a text of another shape is left alone. */
interface MountRow {
  readonly generator: string;
  readonly in: readonly GeneratorPlace[];
  /** In the text. */
  readonly mark: string | RegExp;
  /** In the text of others. */
  readonly unless?: RegExp;
  /** True where the generator's own scripts complete the addresses that stay. */
  readonly completes?: true;
  edits(source: MountSource): Iterable<Edit>;
}

const SINK_MARK = /\(\s*["'`]\/|=\s*["'`]\/|["']\s*,\s*["'`]\//;

const ROWS: readonly MountRow[] = [
  {
    generator: 'Next.js, app router',
    in: ['script'],
    mark: /addPathPrefix|pathHasPrefix|removeBasePath/,
    edits: nextRuntime,
  },
  { generator: 'Next.js', in: ['script'], mark: '/_next/', edits: nextFolders },
  { generator: 'Next.js, app router', in: ['page'], mark: 'self.__next_f', completes: true, edits: nextPagePayload },
  { generator: 'Next.js, app router', in: ['payload'], mark: /^(?:[0-9a-f]+:|:HL\[)/, edits: nextPayload },
  { generator: 'Vite', in: ['script'], mark: 'preload', edits: viteBase },
  { generator: 'VitePress', in: ['script', 'page'], mark: '__VP_SITE_DATA__=', completes: true, edits: vitePressBase },
  { generator: 'VitePress', in: ['script'], mark: '__VP_HASH_MAP__[', edits: vitePressRouter },
  { generator: 'VitePress', in: ['script'], mark: /\b__pageData\b/, completes: true, edits: vitePressPage },
  { generator: 'Starlight', in: ['script'], mark: /\bbundlePath\b/, edits: pagefindOptions },
  { generator: 'Starlight', in: ['page'], mark: '<starlight-lang-select', edits: starlightLanguages },
  { generator: 'webpack, Rspack', in: ['script'], mark: /\.p\s*=\s*"\//, edits: webpackPublicPath },
  {
    generator: 'Docusaurus',
    in: ['script'],
    mark: /webpackChunk\w*docusaurus|\bdocusaurus\b/,
    completes: true,
    edits: docusaurusData,
  },
  // What VitePress gives to its themes gets `base` there.
  { generator: 'any', in: ['script'], mark: /["'`]\//, unless: /\b__pageData\b|__VP_SITE_DATA__/, edits: fileLiterals },
  { generator: 'any', in: ['page'], mark: /<script/i, edits: inScripts(fileLiterals) },
  { generator: 'any', in: ['script'], mark: SINK_MARK, edits: sinks },
  { generator: 'any', in: ['page'], mark: SINK_MARK, edits: inScripts(sinks) },
];

export function editsOfGenerators(place: GeneratorPlace, source: MountSource): Edit[] {
  const { text } = source;
  return ROWS.filter(
    (row) => row.in.includes(place) && isIn(text, row.mark) && row.unless?.test(text) !== true,
  ).flatMap((row) => [...row.edits(source)]);
}

/** True for a script whose remaining addresses are completed when it runs. */
export function isCovered(text: string): boolean {
  return ROWS.some(({ completes, mark }) => completes === true && isIn(text, mark));
}

function isIn(text: string, mark: string | RegExp): boolean {
  return typeof mark === 'string' ? text.includes(mark) : mark.test(text);
}
