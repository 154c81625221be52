#!/bin/bash
# test_bundle.sh SOURCE_DIR BUILD_DIR: packs a bundle and runs its first stages as another machine would: unpacked elsewhere, with an
# empty environment. As root also in a mount namespace of its own, where the tree is not there and the libraries that the bundle
# brings are not installed.
set -u
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$source/ci/device_bundle.sh" -b "$build" -o "$work/bundle.tar.gz" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cat "$work/log"
tar -C "$work" -xzf "$work/bundle.tar.gz" || exit 1

cat >"$work/alone.sh" <<'END'
set -e
work=$1
place=$2
mount --make-rprivate /
mkdir "$work/layer"
mount -t tmpfs tmpfs "$work/layer"
mkdir "$work/layer/upper" "$work/layer/work"
libraries=/usr/lib/$(uname -m)-linux-gnu
mount -t overlay overlay -o "lowerdir=$libraries,upperdir=$work/layer/upper,workdir=$work/layer/work" "$libraries"
for name in libb2 libgomp libjpeg libpng16 libOpenCL libcmocka libmpfr; do rm -f "$libraries/$name".so*; done
mount -t tmpfs tmpfs "$place"
touch "$work/is_alone"
END
run() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" "$@" "$work/quern-device/run.sh" -o "$work/out" -s 300 machine devices examples images
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" unshare -m bash -c \
    'bash "$0/alone.sh" "$0" "$1" && exec "$0/quern-device/run.sh" -o "$0/out" -s 300 machine devices examples images' "$work" "$source"
  status=$?
  if [ ! -e "$work/is_alone" ]; then
    echo "no layer over the system's libraries can be made here: they are there"
    run
    status=$?
  fi
else
  run
  status=$?
fi
exit $status
