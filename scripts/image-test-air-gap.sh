#!/bin/sh
# Tests behind the air gap. Run by image-test-kit.sh with a network that has only the loopback. The folder `carried` in `work` has the kit and the public
# key. Checks the kit, then loads its image and runs it as its chart describes, as user 65532 with a read-only root. Imports the bundles with required
# signatures, serves, searches, swaps and rolls them back. Each stage prints a line. Any failure gives an exit code other than 0.
set -eu
. scripts/image-test-words.sh
carried=$work/carried
kit=$carried/kit
store="--root $work/store --runroot $work/run"
b() { buildah --storage-driver vfs $store "$@"; }

ip link set lo up
[ "$(sed '1,2d; s/:.*//; s/ //g' /proc/net/dev)" = lo ] || fail "there is more of a network than the loopback"
if curl -s --max-time 5 http://192.0.2.1/ 2>/dev/null; then fail "something answers from outside"; fi
say "behind the gap: no network but the loopback"

(cd "$kit" && sha256sum --check --quiet --strict SHA256SUMS) || fail "the checksums"
say "the kit: all $(wc -l <"$kit/SHA256SUMS") checksums hold"

gunzip --stdout "$kit/image/docshelf.tar.gz" >"$work/docshelf.tar"
b pull --quiet "docker-archive:$work/docshelf.tar" >"$work/image" 2>"$work/log" || fail "the image does not load"
image=$(cat "$work/image")
[ "sha256:${image#sha256:}" = "$image_id" ] || fail "the image is $image, not $image_id"
say "the image: loaded from the archive, $(echo "${image#sha256:}" | cut -c1-12)"

# Render the pod with the kit's chart. The API listener needs a key, and the bundles need their signatures.
key=svc_dsc_of-the-kit
cat >"$work/values.yaml" <<END
deployment: { type: air-gapped, domain: acme }
staticExport: { signature: { required: true, publicKeys: ["$(sed -n 2p "$carried/minisign.pub")"] } }
config: { search: { keys: [{ id: kit, sha256: $(printf %s "$key" | sha256sum | cut -d' ' -f1) }] } }
END
sh scripts/run.sh node test/helm/lay-out.ts "$work/pod" "$(echo "$kit"/chart/*.tgz)" --values "$work/values.yaml" >"$work/pod-options"
chmod -R a+rX "$work/pod" && chmod 1777 "$work/pod/tmp" && chown 65532:65532 "$work/pod/var/lib/docshelf"
sed -n 's/^volume //p' "$work/pod-options" | grep -q ':/var/lib/docshelf$' || fail "the chart mounts no data folder"

# Build a container without an engine: the root of the image, read-only, with the mounts of the pod.
container=$(b from "$image")
root=$(b mount "$container")
mount --bind "$root" "$root"
mkdir -p "$root/proc" "$root/dev" "$root/carried"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$carried" "$root/carried"
for volume in $(sed -n 's/^volume //p' "$work/pod-options"); do
  place=$root$(echo "$volume" | cut -d: -f2)
  mkdir -p "$place"
  mount --bind "$(echo "$volume" | cut -d: -f1)" "$place"
  case "$volume" in *:ro) mount -o remount,bind,ro "$place" ;; esac
done
mount -o remount,bind,ro "$root"
field() { b inspect --type image --format "$1" "$image"; }
[ "$(field '{{.Docker.Config.User}}')" = 65532:65532 ] || fail "the image's user is another"
environment=$(field '{{range .Docker.Config.Env}}{{.}} {{end}}')
environment="$environment $(sed -n 's/^env //p' "$work/pod-options" | tr '\n' ' ')"
# Start the daemon without a shell, so that a background process is the daemon itself. The image has no env(1), so the env of this
# machine sets the environment.
inside="setpriv --no-new-privs env -i $environment $(command -v chroot) --userspec=65532:65532 --groups=65532 $root"
docshelf() { $inside docshelf "$@"; }

# Check the kit with the program of the image that is in the kit. It must reject a kit with a changed byte, even with matching checksums.
unpack() { docshelf transfer unpack "/carried/$1" --verify-only --public-key /carried/minisign.pub --json; }
unpack kit >"$work/verdict" 2>"$work/log" || { cat "$work/verdict"; fail "transfer unpack"; }
grep -q '"unsigned": *\[\]' "$work/verdict" || fail "transfer unpack: $(cat "$work/verdict")"
say "the kit: all of it is signed"
bundle=acme-export-2026-11-01.tar.gz
second=acme-export-2026-12-01.tar.gz
for kind in tampered forged; do
  cp -al "$kit" "$carried/$kind"
  cp --remove-destination "$kit/bundles/$bundle" "$carried/$kind/bundles/$bundle"
  byte=$(od -An -tu1 -j200 -N1 "$kit/bundles/$bundle")
  printf "\\$(printf %o $((byte ^ 1)))" | dd of="$carried/$kind/bundles/$bundle" bs=1 seek=200 conv=notrunc status=none
done
rm "$carried/forged/SHA256SUMS"
(cd "$carried/forged" && sed 's/^[0-9a-f]*  //' ../kit/SHA256SUMS | xargs sha256sum >SHA256SUMS)
refused() {
  code=0
  "$@" >"$work/verdict" 2>&1 || code=$?
  [ "$code" = 65 ] && grep -q "\"code\": *\"$fault\"" "$work/verdict" || fail "not refused as $fault, but $code: $(cat "$work/verdict")"
}
fault=wrong_digest refused unpack tampered
fault=bad_signature refused unpack forged
say "a kit with another byte in a bundle is refused: wrong_digest; with checksums to fit: bad_signature"
rm -rf "$carried/tampered" "$carried/forged"

$inside $(field '{{.Docker.Config.Entrypoint}}' | tr -d '[]') $(sed -n 's/^args //p' "$work/pod-options") >"$work/log" 2>&1 &
daemon=$!
import() { docshelf bundle import - --version "$1" --signature "$(cat "$kit/bundles/$2.minisig")" --json <"$kit/bundles/$3"; }
# Import while the daemon starts, because the import must not need to wait.
import 2026-11-01 "$bundle" "$bundle" >"$work/verdict" 2>&1 || fail "bundle import: $(cat "$work/verdict")"
site=http://127.0.0.1:8080
admin=http://127.0.0.1:9090
until_ready "$admin" "$daemon"
status() { sed -n "s/^$1:[[:space:]]*\([0-9a-f]*\).*/\1/p" "/proc/$daemon/status"; }
[ "$(status Uid) $(status CapEff) $(status NoNewPrivs)" = "65532 0000000000000000 1" ] ||
  fail "the daemon is user $(status Uid) with capabilities $(status CapEff)"
if $inside node -e 'require("node:fs").writeFileSync("/opt/docshelf/x", "")' 2>"$work/refusal"; then fail "the root can be written"; fi
grep -q EROFS "$work/refusal" || fail "the root is not read-only: $(cat "$work/refusal")"
say "the pod: runs as user 65532, without capabilities, on a read-only root"
expect "$site/" "Edition 2026-11-01" 200
expect "$admin/v1/status" '"type":"air-gapped"' 200
say "the first bundle: imported while the daemon started, its signature verified, served"

fault=no_signature refused docshelf bundle import "/carried/kit/chart/$(ls "$kit/chart")" --json
fault=bad_signature refused import 2026-12-01 "$bundle" "$second"
say "a bundle without its signature is refused: no_signature; with another's: bad_signature"

# Search by meaning: the query and the result have no word in common. Their similarity differs between CPUs by up to 0.02, and is at
# least 0.1 above the minimum of a result.
found() {
  tries=0
  until curl -s --max-time 5 "$admin/v1/status" | grep -q '"semantic":"ready"'; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail "no meanings within two minutes"
    sleep 0.2
  done
  answer=$(curl -s --max-time 30 -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -d '{"query":"how can a customer get their money back","pageSize":1}' http://127.0.0.1:8081/v1/search/acme) || fail "the search: curl ended with $?"
  case "$answer" in *"edition $1"*'"path":"/refunds'*) ;; *) fail "the search answered $answer" ;; esac
  say "a search by meaning finds /refunds of edition $1"
}
found 2026-11-01

# Send hundreds of requests a second until the file `until` exists. Every response must be a page of one of the editions.
node -e '
  const [site, until] = process.argv.slice(1);
  const seen = {};
  (async () => {
    while (!require("node:fs").existsSync(until)) {
      const response = await fetch(site);
      const edition = /Edition [0-9-]+/.exec(await response.text())?.[0];
      const kind = response.status === 200 && edition !== undefined ? edition : `failed with ${response.status}`;
      seen[kind] = (seen[kind] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    console.log(JSON.stringify(seen));
  })();
' "$site/" "$work/enough" >"$work/seen" 2>&1 &
reader=$!
import 2026-12-01 "$second" "$second" >"$work/verdict" 2>&1 || fail "bundle import: $(cat "$work/verdict")"
expect "$site/" "Edition 2026-12-01" 200
found 2026-12-01
docshelf bundle rollback --json >"$work/verdict" 2>&1 || fail "bundle rollback: $(cat "$work/verdict")"
expect "$site/" "Edition 2026-11-01" 200
found 2026-11-01
touch "$work/enough"
wait "$reader" || fail "the reader: $(cat "$work/seen")"
if grep -q failed "$work/seen" || ! grep -q 'Edition 2026-12-01' "$work/seen"; then fail "the reader saw $(cat "$work/seen")"; fi
say "swapped to the second bundle and rolled back; a reader saw $(cat "$work/seen") and no failure"

kill -TERM "$daemon"
code=0
wait "$daemon" || code=$?
[ "$code" = 0 ] || fail "ended with $code on SIGTERM"
say "behind the gap: all held"
