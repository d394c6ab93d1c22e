#!/bin/sh
# Makes the base of the image without any registry of images: FROM scratch, out of this project's Node 24, the npm of this
# machine, a shell, and the shared libraries that they need.
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

# Every library of the machine that a program names, at the path under which the loader looks for it.
add_libraries() {
  ldd "$1" | grep -o '/[^ ]*' | grep -v "^$PWD/" | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}
# A program at its place, with its libraries.
add() {
  cp -L "$1" "$root$2"
  add_libraries "$1"
}
add "$node" /usr/bin/node
add /bin/sh /bin/sh
add "$(command -v env)" /usr/bin/env
# A slim Debian has what the native modules among the dependencies ask for.
for module in node_modules/onnxruntime-node/bin/napi-v*/linux/"$arch"/*.*; do add_libraries "$module"; done

npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
cp -R "$npm" "$root/usr/lib/node_modules/npm"
"$node" "$root/usr/lib/node_modules/npm/bin/npm-cli.js" --version >/dev/null || { echo "image-base: $npm is no whole npm" >&2; exit 69; }
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"

printf 'root:x:0:0:root:/root:/bin/sh\ndocshelf:x:65532:65532:docshelf:/nonexistent:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\ndocshelf:x:65532:\n' >"$root/etc/group"

# The authorities that this machine trusts, a company's own among them where NODE_EXTRA_CA_CERTS names them.
authorities=/etc/ssl/certs/ca-certificates.crt
if [ -f "${NODE_EXTRA_CA_CERTS:-$authorities}" ]; then cp -L "${NODE_EXTRA_CA_CERTS:-$authorities}" "$root$authorities"; fi
# Node has roots of its own and asks for these only when it is told to.
extra=
if [ -f "$root$authorities" ]; then extra="ENV NODE_EXTRA_CA_CERTS=$authorities"; fi

buildah --storage-driver vfs "$@" bud --isolation chroot --tag "$name" --file - "$root" <<END
FROM scratch
COPY . /
ENV PATH=/usr/local/bin:/usr/bin:/bin
$extra
END
