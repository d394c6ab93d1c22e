interface Part {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

/** Fields of CycloneDX that this file reads. */
interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly object[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface SystemPackage {
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

/**
 * Parts list of an image in CycloneDX 1.6: the program (dist/sbom.json), Node, and Debian packages. @param release content of
 * /etc/os-release, or an empty text
 */
export function imageSbom(
  sbom: Sbom,
  { node, release, packages }: { node: string; release: string; packages: readonly SystemPackage[] },
): Sbom {
  const os = osOf(release);
  const ref = `pkg:generic/node@${node}`;
  const parts: Part[] = [
    { type: 'platform', 'bom-ref': ref, name: 'node', version: node, purl: ref },
    ...(os === null ? [] : [os]),
    ...packages.map(({ name, version, arch }) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`;
      return { type: 'library', 'bom-ref': purl, name, version, purl };
    }),
  ];
  const added = parts.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const program = sbom.metadata.component['bom-ref'];
  const dependencies = sbom.dependencies.map((each) =>
    each.ref === program ? { ...each, dependsOn: [...each.dependsOn, ...added.map((part) => part['bom-ref'])] } : each,
  );
  return { ...sbom, components: [...sbom.components, ...added], dependencies };
}

/** Installed packages in a status file of dpkg. A control file of a package has no status field. */
export function debianPackages(status: string): SystemPackage[] {
  return status
    .split(/\n\n+/)
    .map((block) => fieldsOf(block, /^([A-Za-z-]+): (.*)$/gm))
    .filter(({ Package, Status }) => Package !== undefined && (Status === undefined || Status.endsWith(' installed')))
    .map(({ Package: name = '', Version: version = '', Architecture: arch = '' }) => ({ name, version, arch }));
}

function osOf(text: string): Part | null {
  const { ID: id, VERSION_ID: version = '' } = fieldsOf(text, /^([A-Z_]+)="?([^"\n]*)"?$/gm);
  return id === undefined ? null : { type: 'operating-system', 'bom-ref': `os:${id}@${version}`, name: id, version };
}

function fieldsOf(text: string, line: RegExp): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Array.from(text.matchAll(line), ([, key = '', value]) => [key, value]));
}

/** Files for users and name resolution in an image. No user has a shell. */
export const SYSTEM_FILES = {
  'etc/passwd': 'root:x:0:0:root:/root:/nonexistent\ndocshelf:x:65532:65532:docshelf:/nonexistent:/nonexistent\n',
  'etc/group': 'root:x:0:\ndocshelf:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/** Main file that starts Node directly, because the image lacks env(1). */
export function mainWithoutEnv(text: string): string {
  return text.replace(/^#!.*/, '#!/usr/bin/node');
}
