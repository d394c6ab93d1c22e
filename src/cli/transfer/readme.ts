import { basename } from 'node:path';
import { versionFromFileName } from '../../domain/version.ts';

interface Contents {
  readonly image: string | undefined;
  readonly chart: string | undefined;
  readonly bundles: readonly string[];
}

/** Ten lines for whoever unpacks the folder, and may never have seen docshelf. */
export function readmeText({ image, chart, bundles }: Contents): string {
  // The newest by name, as `transfer unpack` serves it. What comes through a pipe has no name that tells its version: without
  // --version it would be older than any other, and take its place all the same.
  const bundle = bundles.toSorted().at(-1) ?? 'BUNDLE.tar.gz';
  const version = versionFromFileName(bundle) ?? 'VERSION';
  return `This folder holds all that a docshelf deployment needs from outside. Work from within it.
Check that all arrived:   sha256sum --check SHA256SUMS
Check who made it:        minisign -V -p minisign.pub -m SHA256SUMS    (or docshelf transfer unpack . --verify-only --public-key minisign.pub)
Load the image:           ${image === undefined ? 'none was packed' : `podman load --input image/${basename(image)}    (or docker load; then push it to your registry)`}
Install the chart:        ${chart === undefined ? 'none was packed' : `helm upgrade --install docshelf chart/${basename(chart)} --namespace docs --create-namespace --values values.yaml`}
Take all bundles in:      docshelf transfer unpack . --config config.yaml
Take one into a pod:      kubectl --namespace docs exec -i deploy/docshelf -- docshelf bundle import - --version ${version} < bundles/${bundle}
Look what is served:      docshelf bundle list --config config.yaml
Go back:                  docshelf bundle rollback --config config.yaml
What the program is made of, with digests and licences, is in sbom.cdx.json (CycloneDX 1.6).
`;
}
