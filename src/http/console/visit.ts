import type { Context } from 'hono';
import { DocshelfError, type Problem } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import type { AdminEnv, AdminOptions } from '../admin/actions.ts';
import type { TokenGuard } from '../admin/guards.ts';
import { type OperationId, operations, sitePath } from '../admin/operations.ts';
import { BASE_STYLE, type HashedAsset, ICON, ownAsset } from '../own-asset.ts';
import { type ActionMessage, type ConsoleSession, requireSession, type Sessions } from './sessions.ts';
import type { SignInAudit } from './sign-in-audit.ts';

export interface ConsoleParts extends AdminOptions {
  /** Handler of the admin API. The console makes every change through this API. */
  readonly api: (request: Request, env: AdminEnv['Bindings']) => Response | Promise<Response>;
  readonly guard: TokenGuard;
}

export interface ConsoleVisit {
  readonly c: Context<AdminEnv>;
  readonly parts: ConsoleParts;
  readonly sessions: Sessions;
  readonly signIns: SignInAudit;
  readonly assets: ConsoleAssets;
  /** Session of the operator. Null if the operator is not signed in: the page is then read-only. */
  readonly session: ConsoleSession | null;
  /** Relative path to `/`, such as `../`, so that links also work behind a proxy with a path. */
  readonly root: string;
  readonly now: Date;
  readonly changes: string;
}

export interface VisitProps {
  readonly visit: ConsoleVisit;
}

export interface SessionVisit extends ConsoleVisit {
  readonly session: ConsoleSession;
}

export interface SignedVisit extends SessionVisit {
  readonly form: URLSearchParams;
}

type Answer = Response | Promise<Response>;

/** Route of the console. `act` runs after a check of the form token, `take` checks the token itself, `enter` needs no session. */
export type ConsoleRoute = { readonly path: string } & (
  | { readonly method: 'GET'; readonly run: (visit: ConsoleVisit) => Answer }
  | { readonly method: 'POST'; readonly act: (visit: SignedVisit) => Answer }
  | { readonly method: 'POST'; readonly take: (visit: SessionVisit) => Answer }
  | { readonly method: 'POST'; readonly enter: (visit: ConsoleVisit, form: URLSearchParams) => Answer }
);

export interface CallInput {
  readonly domain?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: object | ReadableStream<Uint8Array> | string;
  readonly signal?: AbortSignal;
}

export async function call({ c, parts, sessions, session }: ConsoleVisit, id: OperationId, input: CallInput = {}) {
  const operation: Operation = operations[id];
  // Check the session before each call of the admin API, because these calls skip the token check, and a session can end during a
  // long upload.
  if (operation.security !== null) requireSession(session !== null && sessions.isOpen(session) ? session : null);
  const path = input.domain === undefined ? operation.path : sitePath(operation.path);
  const values: Readonly<Record<string, string>> = { domain: input.domain ?? '', ...input.parameters };
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const given = Object.entries(input.query ?? {}).filter((each): each is [string, string] => each[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  const isJson = typeof input.body === 'object' && !(input.body instanceof ReadableStream);
  const request = new Request(new URL(query === '' ? address : `${address}?${query}`, c.req.url), {
    method: operation.method,
    signal: input.signal === undefined ? c.req.raw.signal : AbortSignal.any([c.req.raw.signal, input.signal]),
    ...(isJson ? { headers: { 'Content-Type': 'application/json' } } : {}),
    ...(input.body === undefined ? {} : { body: isJson ? JSON.stringify(input.body) : (input.body as BodyInit) }),
    ...(input.body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
  });
  const answer = await parts.api(request, { ...c.env, ...(session && { session: session.name }) });
  if (!answer.ok) return { problem: (await answer.json()) as Problem };
  return { value: answer.status === 204 ? null : await answer.json(), problem: null };
}

/** Redirects the operator to a page that shows the message. @param page encoded path from the root, such as `sites/acme` */
export function backTo({ c, root, session }: SessionVisit, page: string, message: ActionMessage): Response {
  return c.redirect(`${root}${page}${page.includes('?') ? '&' : '?'}message=${session.messages.put(message)}`, 303);
}

export function fieldOf({ form }: SignedVisit, name: string): string {
  const value = form.get(name);
  if (value !== null && value !== '') return value;
  throw new DocshelfError('bad_request', `Cannot perform the action: the field "${name}" is missing`, {
    fields: { field: name },
  });
}

export const parameterOf = ({ c }: ConsoleVisit, name: string): string => c.req.param(name) ?? '';

export const siteAddress = (domain: string | null): string => `sites/${encodeURIComponent(domain ?? '')}`;

export const jobAddress = (jobId: string): string => `jobs/${encodeURIComponent(jobId)}`;

export const keysAddress = (organization: string): string => `organizations/${encodeURIComponent(organization)}/keys`;

export function signInAddress({ c }: ConsoleVisit): string {
  const to = c.req.path.slice(1);
  return to === '' ? 'sign-in' : `sign-in?to=${encodeURIComponent(to)}`;
}

/** The console's scripts must not contain imports, because an import would need the hashed name of the imported script. */
const SCRIPTS = ['live.js', 'upload.js', 'copy.js'] as const;
type AssetName = (typeof SCRIPTS)[number] | 'console.css' | 'shelf.svg';

export class ConsoleAssets {
  readonly #byFile: ReadonlyMap<AssetName, HashedAsset>;

  constructor() {
    const own = (file: AssetName): URL => new URL(`assets/${file}`, import.meta.url);
    this.#byFile = new Map([
      ['console.css', ownAsset(own('console.css'), BASE_STYLE)],
      ['shelf.svg', ownAsset(ICON)],
      ...SCRIPTS.map((file) => [file, ownAsset(own(file))] as const),
    ]);
  }

  address(file: AssetName): string {
    return `assets/${this.#byFile.get(file)?.name}`;
  }

  find(name: string): HashedAsset | null {
    return this.#byFile.values().find((asset) => asset.name === name) ?? null;
  }
}
