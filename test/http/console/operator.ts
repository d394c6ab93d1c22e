import { expect } from 'vitest';
import { type AppChanges, appWith, TOKEN } from '../admin/admin-example.ts';

export const ORIGIN = 'http://localhost:9090';

/**
 * Browser on the console of an app in this process. It keeps its cookie, and sends the page of each form as Referer and Origin.
 */
export class Operator {
  readonly app: ReturnType<typeof appWith>['app'];
  readonly calls: unknown[][];
  readonly lines: ReturnType<typeof appWith>['lines'];
  readonly faults: ReturnType<typeof appWith>['faults'];
  readonly origin: string;
  cookie = '';
  /** Address of the client, or null without one. */
  peer: string | null = null;

  constructor(changes: AppChanges = {}, origin = ORIGIN) {
    const { app, calls, lines, faults } = appWith(changes);
    this.app = app;
    this.calls = calls;
    this.lines = lines;
    this.faults = faults;
    this.origin = origin;
  }

  static async signedIn(changes: AppChanges = {}, origin = ORIGIN): Promise<Operator> {
    const operator = new Operator(changes, origin);
    await operator.signIn();
    return operator;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const all = { Accept: 'text/html', ...(this.cookie && { Cookie: this.cookie }), ...headers };
    return this.app.request(this.origin + path, { headers: all });
  }

  async page(path: string): Promise<string> {
    return (await this.get(path)).text();
  }

  /** A null value omits the header. */
  async post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string | null> = {},
  ): Promise<Response> {
    const all = {
      Accept: 'text/html',
      Origin: this.origin,
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/x-www-form-urlencoded',
      ...(this.cookie && { Cookie: this.cookie }),
      ...headers,
    };
    const present = Object.entries(all).filter((each): each is [string, string] => each[1] !== null);
    const body = new URLSearchParams(fields).toString();
    const env = this.peer === null ? {} : { incoming: { socket: { remoteAddress: this.peer } } };
    return this.app.request(this.origin + path, { method: 'POST', headers: present, body }, env);
  }

  async signIn(token = TOKEN, headers: Record<string, string | null> = {}): Promise<Response> {
    const answer = await this.post('/sign-in', { token }, headers);
    const set = answer.headers.get('set-cookie');
    if (set !== null) this.cookie = set.split(';')[0] ?? '';
    return answer;
  }

  async formToken(page = '/'): Promise<string> {
    return /name="formToken" value="([^"]+)"/.exec(await this.page(page))?.[1] ?? '';
  }

  /** Submits a form of the page. */
  async act(
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string | null> = {},
  ): Promise<Response> {
    return this.post(path, { formToken: await this.formToken(), ...fields }, headers);
  }

  /** Returns the page after an accepted form. */
  async follow(
    answer: Response,
    from: string,
  ): Promise<{ readonly path: string; readonly query: string; readonly page: string }> {
    expect(answer.status).toBe(303);
    const { origin, pathname, search } = new URL(answer.headers.get('location') ?? '', this.origin + from);
    expect(origin).toBe(this.origin);
    return { path: pathname, query: search, page: await this.page(pathname + search) };
  }

  async actAndFollow(path: string, fields: Record<string, string> = {}) {
    return this.follow(await this.act(path, fields), path);
  }
}
