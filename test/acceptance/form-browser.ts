/** An operator's browser in the console, without JavaScript. */
export class FormBrowser {
  #cookie = '';
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async open(path: string): Promise<string> {
    return (await fetch(this.#origin + path, { headers: { cookie: this.#cookie, accept: 'text/html' } })).text();
  }

  /** @returns the page after the redirect */
  async send(path: string, fields: Readonly<Record<string, string>>, from = path): Promise<string> {
    const formToken = /name="formToken" value="([^"]+)"/.exec(await this.open(from))?.[1] ?? '';
    const answer = await fetch(this.#origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: this.#cookie, origin: this.#origin, accept: 'text/html' },
      body: new URLSearchParams({ formToken, ...fields }),
    });
    this.#cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie;
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`${answer.status}: ${await answer.text()}`);
    const { pathname, search } = new URL(to, this.#origin + path);
    return this.open(pathname + search);
  }
}
