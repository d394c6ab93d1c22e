export interface SiteRequest {
  readonly method: string;
  /** The raw request target, neither decoded nor normalised. */
  readonly target: string;
  /** By lower-case name; several values are joined as HTTP says. */
  header(name: string): string | undefined;
  /** Request id of answer and log; null where nobody gave it one. */
  id(): string | null;
  /** Aborted when the client leaves, until it is disposed. Absent for requests that come from no client. */
  client?(): Disposable & { readonly signal: AbortSignal };
}
