import type { Context } from 'hono';
import { DocshelfError, type Problem } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import type { AdminEnv, AdminOptions } from '../admin/actions.ts';
import { type OperationId, operations } from '../admin/operations.ts';
import { sitePath } from '../admin/site-operations.ts';
import type { TokenGuard } from '../admin/token-guard.ts';
import type { ConsoleAssets } from './console-assets.ts';
import { requireSession } from './session/guard.ts';
import type { ActionMessage } from './session/messages.ts';
import type { ConsoleSession, Sessions } from './session/sessions.ts';
import type { SignInAudit } from './session/sign-in-audit.ts';

/** What the console stands on. */
export interface ConsoleParts
  extends Pick<
    AdminOptions,
    | 'status'
    | 'features'
    | 'audit'
    | 'revisions'
    | 'service'
    | 'observe'
    | 'token'
    | 'trustedProxies'
    | 'metrics'
    | 'onError'
    | 'programVersion'
  > {
  /** The calls of the admin listener behind their guard: all that is changed goes through them. */
  readonly api: (request: Request, env: AdminEnv['Bindings']) => Response | Promise<Response>;
  readonly guard: TokenGuard;
}

export interface ConsoleVisit {
  readonly c: Context<AdminEnv>;
  readonly parts: ConsoleParts;
  readonly sessions: Sessions;
  readonly signIns: SignInAudit;
  readonly assets: ConsoleAssets;
  /** Null: nobody is signed in, and the page can only be read. */
  readonly session: ConsoleSession | null;
  /** From the page to `/`, so that links hold behind a proxy's path too: `./`, `../`. */
  readonly root: string;
  readonly now: Date;
  /** As when it was asked for. */
  readonly changes: string;
}

/** Of somebody who is signed in. */
export interface SessionVisit extends ConsoleVisit {
  readonly session: ConsoleSession;
}

/** With its form, whose token is that of the session. */
export interface SignedVisit extends SessionVisit {
  readonly form: URLSearchParams;
}

type Answer = Response | Promise<Response>;

/**
 * A page; an action of a signed-in operator, which ends with the address of a page; one that reads its own form, its token included;
 * or what a form does before a session.
 */
export type ConsoleRoute = { readonly path: string } & (
  | { readonly method: 'GET'; readonly run: (visit: ConsoleVisit) => Answer }
  | { readonly method: 'POST'; readonly act: (visit: SignedVisit) => Answer }
  | { readonly method: 'POST'; readonly take: (visit: SessionVisit) => Answer }
  | { readonly method: 'POST'; readonly enter: (visit: ConsoleVisit, form: URLSearchParams) => Answer }
);

export type Called = { readonly value: unknown; readonly problem: null } | { readonly problem: Problem };

export interface CallInput {
  /** Of the site that it is for; absent: for none, or the only one. */
  readonly domain?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON; a stream as it is. */
  readonly body?: object | ReadableStream<Uint8Array> | string;
}

/** Makes one call of the admin listener in the name of the session. @throws DocshelfError `unauthorized` where it needs one */
export async function call(
  { c, parts, sessions, session }: ConsoleVisit,
  id: OperationId,
  input: CallInput = {},
): Promise<Called> {
  const operation: Operation = operations[id];
  // Calls are made behind the door's own guard. A form of archives is read for minutes, in which its session may end.
  if (operation.security !== null) requireSession(session !== null && sessions.isOpen(session) ? session : null);
  const path = input.domain === undefined ? operation.path : sitePath(operation.path);
  const values: Readonly<Record<string, string>> = { domain: input.domain ?? '', ...input.parameters };
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const given = Object.entries(input.query ?? {}).filter((each): each is [string, string] => each[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  const isJson = typeof input.body === 'object' && !(input.body instanceof ReadableStream);
  const request = new Request(new URL(query === '' ? address : `${address}?${query}`, c.req.url), {
    method: operation.method,
    signal: c.req.raw.signal,
    ...(isJson ? { headers: { 'Content-Type': 'application/json' } } : {}),
    ...(input.body === undefined ? {} : { body: isJson ? JSON.stringify(input.body) : (input.body as BodyInit) }),
    ...(input.body instanceof ReadableStream ? { duplex: 'half' as const } : {}),
  });
  const answer = await parts.api(request, { ...c.env, ...(session && { session: session.name }) });
  if (!answer.ok) return { problem: (await answer.json()) as Problem };
  return { value: answer.status === 204 ? null : await answer.json(), problem: null };
}

/** To the page that shows what became of an action (RFC 9110, section 15.4.4). @param page below the root, encoded: `sites/acme` */
export function backTo({ c, root, session }: SessionVisit, page: string, message: ActionMessage): Response {
  return c.redirect(`${root}${page}?said=${session.messages.put(message)}`, 303);
}

/** A field of the form. @throws DocshelfError `bad_request` */
export function fieldOf({ form }: SignedVisit, name: string): string {
  const value = form.get(name);
  if (value !== null && value !== '') return value;
  throw new DocshelfError('bad_request', `Cannot act: the field "${name}" is missing`, { fields: { field: name } });
}

/** Decoded. */
export function parameterOf({ c }: ConsoleVisit, name: string): string {
  return c.req.param(name) ?? '';
}
