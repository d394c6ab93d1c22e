#!/bin/sh
# Runs commands on a copy of this machine's file system in its own mounts: clean-machine.sh RELEASE FOLDER COMMANDS
# It stands in for sudo, and for systemd: "systemctl start" runs the unit with its user, its environment and its state directory.
set -eu
release=$1 folder=$2 commands=$3
work=$(mktemp -d)
mount --make-rprivate /
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount -t proc proc "$work/root/proc"
mount --rbind /dev "$work/root/dev"
cp -al "$release/." "$folder/"
cat >"$work/root/usr/local/bin/sudo" <<'END'
#!/bin/sh
exec "$@"
END
cat >"$work/root/usr/local/bin/systemctl" <<'END'
#!/bin/sh
started=/run/docshelf-started
if [ "$1 $2" = "disable --now" ] && [ -e $started ]; then
  pid=$(cat $started)
  kill "$pid"
  while [ -e "/proc/$pid" ]; do sleep 0.1; done
  rm $started
fi
[ "$1" = start ] || [ "$1 $2" = "enable --now" ] || exit 0
[ ! -e $started ] || exit 0
unit=/etc/systemd/system/docshelf.service
[ -e "$unit" ] || unit=/usr/lib/systemd/system/docshelf.service
of() { sed -n "s/^$1=//p" "$unit"; }
install -d -o "$(of User)" -g "$(of Group)" -m "$(of StateDirectoryMode)" "/var/lib/$(of StateDirectory)"
setpriv --pdeathsig=KILL --reuid="$(of User)" --regid="$(of Group)" --clear-groups --no-new-privs \
  env -i $(env | grep ^DOCSHELF__) $(of Environment) $(of ExecStart) >/dev/null 2>&1 &
echo $! >$started
END
chmod +x "$work/root/usr/local/bin/sudo" "$work/root/usr/local/bin/systemctl"
exec chroot "$work/root" sh -euc "cd '$folder'
$commands"
