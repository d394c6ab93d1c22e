/** Of a bundle, in the trusted comment of our signatures: `docshelf domain=acme version=v1 created=2024-06-01T00:00:00Z`. */
export interface SignedWords {
  readonly domain: string;
  /** Null, and left out, where the export was given none. */
  readonly version: string | null;
  readonly createdAt: string;
}

export function signedComment({ domain, version, createdAt }: SignedWords): string {
  return [
    'docshelf',
    `domain=${domain}`,
    ...(version === null ? [] : [`version=${version}`]),
    `created=${createdAt}`,
  ].join(' ');
}

/** Null for a comment of another form, which says nothing. */
export function readSignedComment(comment: string): SignedWords | null {
  const [, domain, version, createdAt] = /^docshelf domain=(\S+)(?: version=(\S+))? created=(\S+)$/.exec(comment) ?? [];
  return domain === undefined || createdAt === undefined ? null : { domain, version: version ?? null, createdAt };
}
