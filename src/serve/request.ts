/** A request, independent of the HTTP framework. */
export interface SiteRequest {
  readonly method: string;
  /** The raw request target as it came: neither decoded nor normalised. */
  readonly target: string;
  /** A header's value, several of one name joined as HTTP says; by lower-case name. */
  header(name: string): string | undefined;
  /** Request id of answer and log; null where nobody gave it one. */
  id(): string | null;
}
