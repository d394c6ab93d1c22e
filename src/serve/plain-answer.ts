/** An answer whose parts are all in memory: written to the socket as it is. */
export interface PlainAnswer {
  readonly status: 200 | 304;
  /** Names and values in turns, as Node takes them. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export function flatHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}
