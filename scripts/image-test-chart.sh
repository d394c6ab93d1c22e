# Sourced by image-test.sh, after the image and its container exist. Runs the image with the config and command of a default install of the
# chart, which sets only the three published keys. It must serve a bundle from a presigned link. When its Secret and ConfigMap change, it
# must swap the version without a failed request. Needs helm (scripts/helm.sh).
say "the chart, from a presigned link"
sh scripts/helm.sh >"$work/helm.log" 2>&1 || { cat "$work/helm.log"; fail "helm"; }
mkdir -p "$work/links"
for version in 2026-11-01 2026-12-01; do
  echo "<!doctype html><title>Docs</title><h1>Edition $version</h1>" >"$work/site/index.html"
  tar -C "$work/site" -czf "$work/links/fixture-export-$version.tar.gz" .
done
# Serve presigned links. A link without its signature gives 403.
node -e '
  const { createServer } = require("node:http");
  const { readFileSync } = require("node:fs");
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://store");
    if (url.searchParams.get("signature") !== "fixture") return response.writeHead(403).end();
    const body = readFileSync(process.argv[1] + url.pathname);
    response.writeHead(200, { "content-length": body.length }).end(body);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
' "$work/links" >"$work/store-port" &
link_store=$!
until [ -s "$work/store-port" ]; do sleep 0.1; done
lay_out() {
  sh scripts/run.sh node test/helm/lay-out.ts "$work/pod" helm --set staticExport.enabled=true --set staticExport.version="$1" \
    --set staticExport.bundleUrl="http://127.0.0.1:$(cat "$work/store-port")/fixture-export-$1.tar.gz?signature=fixture" >"$work/pod-options"
  # Set permissions as the kubelet does with fsGroup: the group of the pod may read all mounts, and write to its volumes.
  chmod -R a+rX "$work/pod" && chmod 1777 "$work/pod/tmp" && chown 65532:65532 "$work/pod/var/lib/docshelf"
}
lay_out 2026-11-01
# Use another container, because each container has empty volumes of the image, which would hide mounted folders.
pod=$(b from "$image")
volumes=$(sed -n 's/^volume /--volume /p' "$work/pod-options")
environment=$(sed -n 's/^env /--env /p' "$work/pod-options")
arguments=$(sed -n 's/^args //p' "$work/pod-options")
timeout 180 buildah --storage-driver vfs $store run --isolation chroot $volumes $environment \
  --env "DOCSHELF__SERVER__PORT=${ports% *}" --env "DOCSHELF__ADMIN__PORT=${ports#* }" --env DOCSHELF__API__PORT=0 \
  "$pod" -- $entrypoint $arguments >"$work/log" 2>&1 &
runner=$!
until_ready "$admin" "$runner"
expect "$site/" "Edition 2026-11-01" 200

say "its Secret changes"
lay_out 2026-12-01
tries=0
asked=0
until curl -s --max-time 5 "$admin/v1/status" | grep -q '"active":{"version":"2026-12-01"'; do
  tries=$((tries + 1))
  [ "$tries" -lt 600 ] || fail "no swap within a minute"
  for _ in 1 2 3 4 5; do
    curl -fs -o /dev/null --max-time 5 "$site/" || fail "a request failed during the swap"
    asked=$((asked + 1))
  done
  sleep 0.1
done
expect "$site/" "Edition 2026-12-01" 200
if grep -q 'signature=fixture' "$work/log"; then fail "the log has the link's signature"; fi
say "swapped, with $asked requests meanwhile and none failed"
kill "$link_store"
for process in $(descendants "$runner"); do
  if tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | grep -q '^/usr/bin/node [^ ]*docshelf serve'; then kill -TERM "$process"; fi
done
code=0
wait "$runner" || code=$?
runner=
[ "$code" = 0 ] || fail "the chart's pod ended with $code on SIGTERM"
b rm "$pod" >/dev/null
