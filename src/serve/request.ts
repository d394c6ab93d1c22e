/** What serving needs of a request, whatever framework it came through. */
export interface SiteRequest {
  readonly method: string;
  /** The raw request target as it came: neither decoded nor normalised. */
  readonly target: string;
  /** A header's value, several of one name joined as HTTP says; by lower-case name. */
  header(name: string): string | undefined;
  /** What its answer and the log know it by; null where nobody gave it an id. */
  id(): string | null;
}
