#!/bin/sh
# install.sh GROUP...: installs the packages of ci/packages.txt that these groups name and this machine lacks. Asks nothing
# of the network when all are there.
here=$(dirname "$0")
missing=
while read -r package group command _; do
  case $package in '' | \#*) continue ;; esac
  case " $* " in *" ${group:-test} "*) ;; *) continue ;; esac
  [ -z "$command" ] || ! command -v "$command" >/dev/null || continue # it came from elsewhere
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done <"$here/packages.txt"
[ -n "$missing" ] || exit 0

echo "installing:$missing"
if [ "$(id -u)" = 0 ]; then
  sudo=
elif command -v sudo >/dev/null; then
  sudo=sudo
else
  echo "these packages are missing, and only root may install them: apt-get install$missing" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # names are words
if ! { $sudo apt-get -qq update && $sudo apt-get -qq install -y --no-install-recommends $missing >/dev/null; }; then
  echo "apt-get could not install:$missing" >&2
  exit 1
fi
