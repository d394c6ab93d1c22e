# Sourced by the tests of the image, which set `work`. Contains functions that print results and send requests to a daemon.
say() { echo "image-test: $*"; }
fail() {
  if [ -f "$work/log" ]; then sed 's/^/  | /' "$work/log"; fi
  say "FAILED: $*"
  exit 1
}
descendants() { for child in $(pgrep -P "$1"); do echo "$child"; descendants "$child"; done; }
# expect URL TEXT STATUS: requires a response with the text and the status.
expect() {
  answer=$(curl -s --max-time 30 -w ' %{http_code}' "$1") || fail "$1 does not respond: curl ended with $?"
  case "$answer" in *"$2"*" $3") say "$3 from /${1#http://*/}" ;; *) fail "$1 responded with: $answer" ;; esac
}
# until_ready URL PROCESS: waits up to a minute until the admin listener reports that the daemon is ready.
until_ready() {
  tries=0
  until curl -fs -o /dev/null --max-time 5 "$1/readyz"; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "not ready within 60 s"
    kill -0 "$2" 2>/dev/null || fail "the daemon ended before it was ready"
    sleep 0.2
  done
  say "ready after about $((tries * 200)) ms"
}
