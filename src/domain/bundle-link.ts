interface LinkScheme {
  /** As it is written, in a sentence. */
  readonly form: string;
  readonly isSound: (link: string) => boolean;
  readonly leadsTo: 'file' | 'bundle';
  /** Key of the config with the credentials; null: the link is the credential. */
  readonly credentialsKey: string | null;
  /** An air-gapped deployment must name the host in `network.allowedHosts`. */
  readonly asksHost: boolean;
}

const isUrl = URL.canParse;

export const LINK_SCHEMES = {
  https: { form: 'https://…', isSound: isUrl, leadsTo: 'file', credentialsKey: null, asksHost: true },
  http: { form: 'http://…', isSound: isUrl, leadsTo: 'file', credentialsKey: null, asksHost: true },
  file: { form: 'file:///…', isSound: isUrl, leadsTo: 'file', credentialsKey: null, asksHost: false },
  oci: {
    form: 'oci://registry/repository:tag (or @sha256:…), the repository in small letters',
    isSound: (link) => parseOciReference(link) !== null,
    leadsTo: 'bundle',
    credentialsKey: 'network.registryAuthFile',
    asksHost: true,
  },
} as const satisfies Readonly<Record<string, LinkScheme>>;

export function schemeOf(link: string): LinkScheme | null {
  const name = /^([a-z][a-z0-9+.-]*):/i.exec(link)?.[1]?.toLowerCase() ?? '';
  return (LINK_SCHEMES as Readonly<Record<string, LinkScheme | undefined>>)[name] ?? null;
}

export function isBundleLink(link: string): boolean {
  return schemeOf(link)?.isSound(link) === true;
}

export function isFileLink(link: string): boolean {
  return isBundleLink(link) && schemeOf(link)?.leadsTo === 'file';
}

const formsOf = (schemes: readonly LinkScheme[]) =>
  schemes.map(({ form }, index) => `${index > 0 && index === schemes.length - 1 ? 'or ' : ''}${form}`).join(', ');
/** `https://…, http://…, or …`, in words that follow "as". */
export const BUNDLE_LINK_FORMS = formsOf(Object.values(LINK_SCHEMES));
export const FILE_LINK_FORMS = formsOf(Object.values(LINK_SCHEMES).filter(({ leadsTo }) => leadsTo === 'file'));

/** `oci://registry[:port]/repository:tag`, or `@sha256:…` in place of the tag. */
export interface OciReference {
  readonly registry: string;
  readonly repository: string;
  /** A tag may move; a digest, `sha256:` and 64 hex digits, does not. */
  readonly tag: string | null;
  readonly digest: string | null;
}

/** The grammar of the OCI distribution specification ("Pulling manifests"), and hosts as URLs have them. */
const REGISTRY = '(?<registry>(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::\\d{1,5})?)';
const SEGMENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^oci://${REGISTRY}/(?<repository>${SEGMENT}(?:/${SEGMENT})*)(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127})|@(?<digest>sha256:[0-9a-f]{64}))$`,
);

const CHARACTERS_MAX = 1024;

/** A tag or digest is needed: "latest" is not a version. */
export function parseOciReference(link: string): OciReference | null {
  const parts = link.length > CHARACTERS_MAX ? undefined : REFERENCE.exec(link)?.groups;
  if (parts?.registry === undefined || parts.repository === undefined) return null;
  const { registry, repository, tag = null, digest = null } = parts;
  return { registry: registry.toLowerCase(), repository, tag, digest };
}
