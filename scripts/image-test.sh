#!/bin/sh
# Builds the image and runs the daemon from it, with the user and environment of the image. The daemon must import a bundle,
# become ready, serve it, pass its health check, and end with exit code 0 on SIGTERM. Prints each result. Any failure gives an
# exit code other than 0. Then tests the chart (image-test-chart.sh) and a kit behind an air gap (image-test-kit.sh). Needs
# buildah, curl, minisign, iproute2 and root, and no container engine.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
store="--root $work/store --runroot $work/run"
base=localhost/docshelf-base
image=localhost/docshelf
container=
runner=

b() { buildah --storage-driver vfs $store "$@"; }
. scripts/image-test-words.sh
# Always remove all processes, mounts and stores.
clean() {
  if [ -n "$runner" ]; then kill -9 "$runner" $(descendants "$runner") 2>/dev/null || true; fi
  if [ -n "$container" ]; then b rm "$container" >/dev/null 2>&1 || true; fi
  b rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

say "building"
timeout 300 sh scripts/image-base.sh "$base" $store >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "the base"; }
timeout 600 buildah --storage-driver vfs $store bud --isolation chroot --format docker \
  --build-arg BASE="$base" --tag "$image" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "the image"; }

config() { b inspect --type image --format "{{$1}}" "$image"; }
[ "$(config .Docker.Config.User)" = 65532:65532 ] || fail "the image's user is $(config .Docker.Config.User)"
[ "$(config 'index .Docker.Config.Labels "org.opencontainers.image.licenses"')" = Apache-2.0 ] || fail "the image has no labels"
entrypoint=$(config .Docker.Config.Entrypoint | tr -d '[]')

# Two free ports, and a site of two files.
ports=$(node -e '
  const servers = [0, 0].map(() => require("node:net").createServer().listen(0, "127.0.0.1"));
  setTimeout(() => {
    console.log(servers.map((server) => server.address().port).join(" "));
    for (const server of servers) server.close();
  }, 50);
')
site=http://127.0.0.1:${ports% *}
admin=http://127.0.0.1:${ports#* }
mkdir -p "$work/site/guides" "$work/etc/bundles"
echo '<!doctype html><title>Fixture</title><h1>Served from the image</h1>' >"$work/site/index.html"
echo '<!doctype html><title>Guide</title><h1>A guide</h1>' >"$work/site/guides/start.html"
tar -C "$work/site" -czf "$work/etc/bundles/fixture-export-2026-11-01.tar.gz" .
cat >"$work/etc/config.yaml" <<END
deployment: { type: air-gapped, domain: fixture }
staticExport: { enabled: true, version: "2026-11-01" }
server: { host: 127.0.0.1, port: ${ports% *} }
admin: { host: 127.0.0.1, port: ${ports#* } }
api: { host: 127.0.0.1, port: 0 }
END
chmod -R a+rX "$work/etc"; chmod a+x "$work"

say "running"
container=$(b from "$image")
# Runs a command with the user and environment of the image. The config is mounted as on a real host.
inside() {
  bound=$1
  shift
  timeout "$bound" buildah --storage-driver vfs $store run --isolation chroot --volume "$work/etc:/etc/docshelf:ro" \
    "$container" -- "$@"
}
inside 600 $entrypoint serve >"$work/log" 2>&1 &
runner=$!

until_ready "$admin" "$runner"

daemon=
for process in $(descendants "$runner"); do
  if tr '\0' ' ' <"/proc/$process/cmdline" | grep -q '^/usr/bin/node [^ ]*docshelf serve'; then daemon=$process; fi
done
[ -n "$daemon" ] || fail "no process of the daemon found"
user=$(sed -n 's/^Uid:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$daemon/status")
[ "$user" = 65532 ] || fail "the daemon runs as user $user"
# Print both versions in one run, because a container starts slowly on a busy machine.
nodes=$(inside 300 node -p '`${require("/opt/docshelf/sbom.json").components.find(({ name }) => name === "node")?.version} ${process.versions.node}`')
[ -n "$nodes" ] && [ "${nodes% *}" = "${nodes#* }" ] || fail "node in the list of parts and in the image: $nodes"
say "runs as user $user, $(sed -n 's/^VmRSS:[[:space:]]*//p' "/proc/$daemon/status") resident"

expect "$site/" "Served from the image" 200
expect "$site/guides/start" "A guide" 200
expect "$site/nothing" "" 404
expect "$admin/v1/status" '"version":"2026-11-01"' 200
inside 120 $entrypoint healthcheck >"$work/health" 2>&1 || { cat "$work/health"; fail "the health check"; }
say "the health check passes"

kill -TERM "$daemon"
tries=0
while kill -0 "$daemon" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || fail "still running 20 s after SIGTERM"
  sleep 0.2
done
code=0
wait "$runner" || code=$?
runner=
[ "$code" = 0 ] || fail "ended with $code on SIGTERM"
say "ended with 0 on SIGTERM"

. scripts/image-test-chart.sh
. scripts/image-test-kit.sh

size() { b images --format '{{.Size}}' "$1"; }
say "the base has $(size "$base"), the image $(size "$image"); of that, in MB:"
root=$(b mount "$container")
megabytes() { du -s --apparent-size --block-size=1MB "$@"; }
(cd "$root/opt/docshelf" && megabytes dist models node_modules && megabytes node_modules/* | sort -rn | head -n 8) | sed 's/^/  /'
own=$(megabytes "$root/opt/docshelf" | cut -f1)
[ "$own" -lt 130 ] || fail "the image's own layers have $own MB unpacked"
say "the image's own layers have $own MB unpacked"
for file in LICENSE NOTICE; do cmp -s "$file" "$root/$file" || fail "the image has no $file"; done
programs=$(cd "$root" && find . \( -path ./opt -o -path ./etc \) -prune -o \( -type f -o -type l \) -perm -u+x -print | grep -v '\.so' | sort | tr '\n' ' ')
[ "$programs" = "./usr/bin/node ./usr/local/bin/docshelf " ] || fail "the image has other programs: $programs"
b umount "$container" >/dev/null
say "passed"
