/**
 * Parts list of the program in CycloneDX 1.6 JSON: production packages of the lock file with their digests, and the embedding
 * model. The same lock file gives the same bytes.
 */

/** Embedding model. models/README.md describes its source. */
const MODEL = {
  name: 'sentence-transformers/all-MiniLM-L6-v2',
  license: 'Apache-2.0',
  sha256: '0fcc3b3e411d61f14379a7a628ee685852497d85e6b8ebe366367c08329e3a05',
  changed: 'Weights quantised to int8, per channel (dynamic quantisation), in an ONNX graph with pooling.',
};

/** @param lock parsed package-lock.json, version 3 */
export function createSbom(lock) {
  const { name, version, license } = lock.packages[''];
  const root = {
    type: 'application',
    'bom-ref': refOf(name, version),
    name,
    version,
    purl: refOf(name, version),
    ...licensesOf(license),
  };
  const shipped = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && isShipped(entry));
  const refByPath = new Map(shipped.map(([path, entry]) => [path, refOf(nameOf(path), entry.version)]));
  // A package at two paths in node_modules is one component.
  const components = new Map(shipped.map(([path, entry]) => [refByPath.get(path), componentOf(path, entry)]));
  const model = {
    type: 'machine-learning-model',
    'bom-ref': MODEL.name,
    name: MODEL.name,
    ...licensesOf(MODEL.license),
    hashes: [{ alg: 'SHA-256', content: MODEL.sha256 }],
    pedigree: { notes: MODEL.changed },
  };

  const dependencies = new Map([
    [root['bom-ref'], new Set([MODEL.name])],
    [MODEL.name, new Set()],
  ]);
  for (const [path, entry] of [['', { dependencies: lock.packages[''].dependencies }], ...shipped]) {
    const from = path === '' ? root['bom-ref'] : refByPath.get(path);
    const to = dependencies.get(from) ?? new Set();
    // Omit packages that docshelf does not ship, such as libraries of other platforms.
    for (const each of Object.keys({
      ...entry.dependencies,
      ...entry.optionalDependencies,
      ...entry.peerDependencies,
    })) {
      const ref = refByPath.get(resolvedPath(each, path, lock.packages));
      if (ref !== undefined) to.add(ref);
    }
    dependencies.set(from, to);
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components: [...components.values(), model].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: [...dependencies]
      .map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn].sort() }))
      .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  };
}

/** True if the image contains the package. The image is installed with `npm ci --omit=dev --omit=optional`. */
function isShipped({ dev = false, optional = false, devOptional = false }) {
  return !(dev || optional || devOptional);
}

/** Path at which Node finds a package: in the nearest node_modules of the parent folders. */
function resolvedPath(name, from, packages) {
  for (let at = from; ; at = at.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (path in packages || at === '') return path;
  }
}

function componentOf(path, { version, resolved, integrity, license }) {
  const ref = refOf(nameOf(path), version);
  return {
    type: 'library',
    'bom-ref': ref,
    name: nameOf(path),
    version,
    purl: ref,
    ...licensesOf(license),
    ...(integrity?.startsWith('sha512-')
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
      : {}),
    ...(resolved === undefined ? {} : { externalReferences: [{ type: 'distribution', url: resolved }] }),
  };
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Package URL, in which the @ of a scope is encoded. */
function refOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** Licenses from npm's `license`, which is an SPDX expression, or a sentence that begins with a capital letter. */
function licensesOf(license) {
  if (license === undefined) return {};
  return {
    licenses: [/^SEE LICENSE|^UNLICENSED/.test(license) ? { license: { name: license } } : { expression: license }],
  };
}
