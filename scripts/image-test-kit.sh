# Sourced by image-test.sh, after the image, its container and helm exist. Tests a kit for an air gap. Packs the image as an archive, the chart
# as a package, two signed bundles and the list of parts. Then image-test-air-gap.sh imports the kit without a network.
say "a kit: packing"
mkdir -p "$work/kit/keys" "$work/kit/parts"
minisign -G -W -p "$work/kit/keys/minisign.pub" -s "$work/kit/keys/minisign.key" >/dev/null
b push --quiet "$image" "docker-archive:$work/kit/parts/docshelf.tar:docshelf:kit" 2>"$work/kit.log" || { cat "$work/kit.log"; fail "the archive of the image"; }
.cache/helm/helm package helm --destination "$work/kit/parts" >/dev/null
for edition in 2026-11-01 2026-12-01; do
  rm -rf "$work/kit/site" && mkdir "$work/kit/site"
  page() { echo "<!doctype html><html lang=\"en\"><title>$2</title><main><h1>$2</h1><p>$3</p></main></html>" >"$work/kit/site/$1.html"; }
  page index "Acme" "Edition $edition of the documentation."
  page refunds "Refunds" "A purchase is reimbursed in full within fourteen days. Said in edition $edition."
  page engine "Engine" "The motor of the vehicle needs fresh oil every year."
  page keys "Credentials" "Rotate the credentials of your account every ninety days."
  bundle=$work/kit/parts/acme-export-$edition.tar.gz
  tar -C "$work/kit/site" -czf "$bundle" .
  minisign -S -s "$work/kit/keys/minisign.key" -m "$bundle" -t "edition $edition" >/dev/null
done
chart=$(basename "$work"/kit/parts/docshelf-*.tgz)
chmod -R a+rX "$work/kit"
mkdir "$work/kit/out"
chmod 777 "$work/kit/out"
# Pack with the program in the image, which includes its list of parts.
packer=$(b from "$image")
timeout 120 buildah --storage-driver vfs $store run --isolation chroot --volume "$work/kit:/kit" "$packer" -- \
  $entrypoint transfer pack --image /kit/parts/docshelf.tar --chart "/kit/parts/$chart" \
  --bundle /kit/parts/acme-export-2026-11-01.tar.gz /kit/parts/acme-export-2026-12-01.tar.gz \
  --public-key /kit/keys/minisign.pub --signing-key-file /kit/keys/minisign.key --output /kit/out/kit >"$work/kit.log" 2>&1 ||
  { cat "$work/kit.log"; fail "transfer pack"; }
b rm "$packer" >/dev/null
say "packed: $(cd "$work/kit/out/kit" && find . -type f | sort | sed 's,^\./,,' | xargs -d '\n' du -h | awk '{printf "%s%s %s", sep, $2, $1; sep=", "}')"

# Carry only the kit and the public key over the gap. The script there has separate mounts, processes and network, which end with it.
mkdir -p "$work/inside/carried"
mv "$work/kit/out/kit" "$work/kit/keys/minisign.pub" "$work/inside/carried"
rm -rf "$work/kit"
work="$work/inside" image_id="$(b images --quiet --no-trunc "$image")" \
  timeout 900 unshare --net --mount --pid --fork --kill-child --mount-proc sh scripts/image-test-air-gap.sh || fail "behind the air gap: it ended with $? (124: not over within 15 minutes)"
