#!/bin/bash
# sysroot.sh ARCHITECTURE DIRECTORY: Debian's libraries and headers of another architecture (i386, arm64), unpacked into a
# directory for a cross compiler. They are this system's release and come from its own package sources, with apt's checks; the
# system itself isn't changed and no rights are needed. Does nothing when it is all there.
set -u
architecture=$1 root=$2
packages="libc6 libc6-dev linux-libc-dev libgcc-s1 libgcc-12-dev libgomp1 libzstd1 libzstd-dev libb2-1 libb2-dev libcmocka0 libcmocka-dev"
[ "$(cat "$root/.packages" 2>/dev/null)" = "$packages" ] && exit 0

fail() {
  echo "sysroot.sh: $*" >&2
  exit 1
}
mkdir -p "$root" || exit 1
root=$(cd "$root" && pwd)
rm -rf "${root:?}"/* "$root/.packages" "$root/.apt"
apt=$root/.apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$root/debs"
: >"$apt/status"
options=(-qq -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State::Lists=$apt/lists"
  -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives" -o APT::Sandbox::User=
  -o Acquire::Languages=none -o Debug::NoLocking=1)
cd "$root/debs" || exit 1
# A list may be renewed on its server just now: then once more. What counts is whether the packages can be had.
for try in 1 2 3; do
  apt-get "${options[@]}" update >"$root/apt.log" 2>&1
  # shellcheck disable=SC2086 # names are words
  apt-get "${options[@]}" download $packages >>"$root/apt.log" 2>&1 && break
  [ $try = 3 ] && { tail -n 5 "$root/apt.log"; fail "packages of $architecture could not be had"; }
  sleep 3
done
for deb in *.deb; do
  dpkg-deb -x "$deb" "$root" || fail "$deb can't be unpacked"
done
cd "$root" || exit 1
rm -rf debs .apt
# Absolute links mean the system they are for.
find . -type l -lname '/*' | while read -r link; do
  ln -sfn "$root$(readlink "$link")" "$link"
done
echo "$packages" >"$root/.packages"
