/** `oci://registry[:port]/repository:tag`, or `@sha256:…` in place of the tag. */
export interface OciReference {
  /** `host` or `host:port`. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, which may move; or a digest, `sha256:` and 64 hex digits, which does not. */
  readonly tag: string | null;
  readonly digest: string | null;
}

/** The grammar of the OCI distribution specification ("Pulling manifests"), and hosts as URLs have them. */
const REGISTRY = '(?<registry>(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::\\d{1,5})?)';
const SEGMENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^oci://${REGISTRY}/(?<repository>${SEGMENT}(?:/${SEGMENT})*)(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127})|@(?<digest>sha256:[0-9a-f]{64}))$`,
);

/** 16 KiB links are let in by the config; a registry's names are at most 255 characters, and so is this with room. */
const CHARACTERS_MAX = 1024;

/** The parts of a link, or null. A tag or digest is needed: "latest" is not a version. */
export function parseOciReference(link: string): OciReference | null {
  const parts = link.length > CHARACTERS_MAX ? undefined : REFERENCE.exec(link)?.groups;
  if (parts?.registry === undefined || parts.repository === undefined) return null;
  const { registry, repository, tag = null, digest = null } = parts;
  return { registry: registry.toLowerCase(), repository, tag, digest };
}
