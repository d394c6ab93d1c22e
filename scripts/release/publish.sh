#!/bin/sh
# Publishes the files that "npm run release" created: the npm package, the images under one tag, and the chart.
#   REGISTRY=ghcr.io/OWNER REGISTRY_USER=… REGISTRY_PASSWORD=… publish.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?usage: publish.sh FOLDER}
: "${REGISTRY:?set REGISTRY to the registry and the path for image and chart}"
version=$(node -p 'require("./package.json").version')
name=docshelf-$version
# Check all files first. A file without a checksum, or of another version, stops the script before it publishes any file.
for file in "$folder/$name.tgz" "$folder/$name-chart.tgz" "$folder/$name-image-amd64.tar" "$folder/$name-image-arm64.tar" "$folder"/*; do
  case ${file##*/} in SHA256SUMS | SHA256SUMS.minisig | minisign.pub) continue ;; esac
  grep -qxE "[0-9a-f]{64}  ${file##*/}" "$folder/SHA256SUMS" ||
    { echo "publish: SHA256SUMS does not contain ${file##*/}: create the release again with \"npm run release\"" >&2; exit 65; }
done
(cd "$folder" && sha256sum --check --quiet --strict SHA256SUMS)
host=${REGISTRY%%/*}

if [ -n "${REGISTRY_USER:-}" ]; then printf %s "${REGISTRY_PASSWORD:?}" | buildah login --username "$REGISTRY_USER" --password-stdin "$host"; fi
list=docshelf-release-$version
# Remove the list at the end, so that a second attempt does not find it.
trap 'buildah manifest rm "$list" >/dev/null 2>&1 || true' EXIT
buildah manifest create "$list"
for system in amd64 arm64; do buildah manifest add "$list" "oci-archive:$folder/$name-image-$system.tar"; done
# shellcheck disable=SC2086
buildah manifest push --all ${REGISTRY_OPTIONS:-} "$list" "docker://$REGISTRY/docshelf:$version"

sh scripts/helm.sh
helm=.cache/helm/helm
if [ -n "${REGISTRY_USER:-}" ]; then printf %s "$REGISTRY_PASSWORD" | "$helm" registry login --username "$REGISTRY_USER" --password-stdin "$host"; fi
# shellcheck disable=SC2086
"$helm" push ${HELM_OPTIONS:-} "$folder/$name-chart.tgz" "oci://$REGISTRY/charts"

# Publish this package last, because npm never accepts the same version twice.
npm publish --access public "$folder/$name.tgz"
