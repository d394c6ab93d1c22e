#!/bin/sh
# Publishes the files that "npm run release" created: the npm package, the images under one tag, and the chart.
#   REGISTRY=ghcr.io/OWNER REGISTRY_USER=… REGISTRY_PASSWORD=… publish.sh FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=${1:?usage: publish.sh FOLDER}
: "${REGISTRY:?set REGISTRY to the registry and the path for image and chart}"
version=$(node -p 'require("./package.json").version')
(cd "$folder" && sha256sum --check --quiet --strict SHA256SUMS)
host=${REGISTRY%%/*}

if [ -n "${REGISTRY_USER:-}" ]; then printf %s "${REGISTRY_PASSWORD:?}" | buildah login --username "$REGISTRY_USER" --password-stdin "$host"; fi
list=docshelf-release-$version
buildah manifest create "$list"
for system in amd64 arm64; do buildah manifest add "$list" "oci-archive:$folder/docshelf-$version-image-$system.tar"; done
# shellcheck disable=SC2086
buildah manifest push --all ${REGISTRY_OPTIONS:-} "$list" "docker://$REGISTRY/docshelf:$version"
buildah manifest rm "$list"

sh scripts/helm.sh
helm=.cache/helm/helm
if [ -n "${REGISTRY_USER:-}" ]; then printf %s "$REGISTRY_PASSWORD" | "$helm" registry login --username "$REGISTRY_USER" --password-stdin "$host"; fi
# shellcheck disable=SC2086
"$helm" push ${HELM_OPTIONS:-} "$folder/docshelf-$version-chart.tgz" "oci://$REGISTRY/charts"

# Last, because npm never accepts the same version twice.
npm publish --access public "$folder/docshelf-$version.tgz"
