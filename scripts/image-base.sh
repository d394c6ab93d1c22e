#!/bin/sh
# Creates the base of the image without a registry of images. The base is built FROM scratch, with this project's Node 24, the npm
# of this machine, a shell, and the shared libraries that they need.
#
#   image-base.sh NAME [buildah options, such as --root FOLDER]
set -eu
cd "$(dirname "$0")/.."
name=${1:?usage: image-base.sh NAME [buildah options]}
shift

case "$(uname -m)" in
  x86_64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "image-base: no Node for $(uname -m) among the dependencies" >&2 && exit 69 ;;
esac
node=node_modules/node-linux-$arch/bin/node
[ -x "$node" ] || { echo "image-base: $node is missing: run npm ci" >&2; exit 69; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/usr/bin" "$root/usr/local/bin" "$root/usr/lib/node_modules" "$root/etc/ssl/certs" "$root/tmp" "$root/root"
chmod 1777 "$root/tmp"

# Copies the libraries that a program needs to the paths at which the loader looks for them.
add_libraries() {
  ldd "$1" | grep -o '/[^ ]*' | grep -v "^$PWD/" | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}
# Copies a program with its libraries to a path in the image.
add() {
  cp -L "$1" "$root$2"
  add_libraries "$1"
}
add "$node" /usr/bin/node
add /bin/sh /bin/sh
add "$(command -v env)" /usr/bin/env
# Add the libraries that native modules of the dependencies need, as a slim Debian has them.
for module in node_modules/onnxruntime-node/bin/napi-v*/linux/"$arch"/*.*; do add_libraries "$module"; done

npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
cp -R "$npm" "$root/usr/lib/node_modules/npm"
"$node" "$root/usr/lib/node_modules/npm/bin/npm-cli.js" --version >/dev/null || { echo "image-base: $npm is no whole npm" >&2; exit 69; }
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"

printf 'root:x:0:0:root:/root:/bin/sh\ndocshelf:x:65532:65532:docshelf:/nonexistent:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\ndocshelf:x:65532:\n' >"$root/etc/group"

# Copy the certificates that this machine trusts. NODE_EXTRA_CA_CERTS can name a file that includes those of a company.
authorities=/etc/ssl/certs/ca-certificates.crt
if [ -f "${NODE_EXTRA_CA_CERTS:-$authorities}" ]; then cp -L "${NODE_EXTRA_CA_CERTS:-$authorities}" "$root$authorities"; fi
# Node has built-in certificates, and uses these only if the variable is set.
extra=
if [ -f "$root$authorities" ]; then extra="ENV NODE_EXTRA_CA_CERTS=$authorities"; fi

buildah --storage-driver vfs "$@" bud --isolation chroot --tag "$name" --file - "$root" <<END
FROM scratch
COPY . /
ENV PATH=/usr/local/bin:/usr/bin:/bin
$extra
END
