#!/bin/bash
# webgpu.sh DIRECTORY: brings a library that implements webgpu.h and a driver that needs no GPU, for tests of WGSL:
#   libwebgpu_wrapper.so   Dawn (npm: bun-webgpu-linux-x64)
#   libwgpu_native.so      wgpu-native (PyPI: wgpu)
#   libvk_swiftshader.so   SwiftShader (Debian: chromium-common), and driver.json, which names it for the Vulkan loader
# What is there already stays. x86-64 alone; exit status 0 when all of it is there.
set -eu
directory=${1:?usage: ci/webgpu.sh DIRECTORY}
version=0.1.7
sum=8badfecdad4e726ac12be4f29771f4cbd7ce7683b4418316a547c5bda94fb798
wgpu_version=0.32.0
wgpu_sum=6499a31b5a29a10b4f1089fea4a0806411f42605fa86b6c0b543a07ca0de8568
mkdir -p "$directory"
cd "$directory"
scratch=$(mktemp -d "$PWD/part.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

if [ ! -f libwebgpu_wrapper.so ]; then
  npm pack --silent --pack-destination "$scratch" "bun-webgpu-linux-x64@$version" >/dev/null
  mv "$scratch/bun-webgpu-linux-x64-$version.tgz" "$scratch/dawn.tgz"
  echo "$sum  $scratch/dawn.tgz" | sha256sum --check --quiet
  tar -C "$scratch" -xzf "$scratch/dawn.tgz" package/libwebgpu_wrapper.so
  mv "$scratch/package/libwebgpu_wrapper.so" .
fi
if [ ! -f libvk_swiftshader.so ]; then
  # apt verifies what it downloads.
  (cd "$scratch" && apt-get -o APT::Sandbox::User=root download chromium-common >apt.log 2>&1) || { cat "$scratch/apt.log"; exit 1; }
  dpkg-deb --fsys-tarfile "$scratch"/chromium-common_*.deb | tar -C "$scratch" -x ./usr/lib/chromium/libvk_swiftshader.so
  mv "$scratch/usr/lib/chromium/libvk_swiftshader.so" .
fi
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s/libvk_swiftshader.so", "api_version": "1.0.5"}}\n' \
  "$PWD" >"$scratch/driver.json"
mv "$scratch/driver.json" driver.json
if [ ! -f libwgpu_native.so ]; then
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform manylinux_2_28_x86_64 \
    --dest "$scratch" "wgpu==$wgpu_version"
  wheel=$(echo "$scratch"/wgpu-*.whl)
  echo "$wgpu_sum  $wheel" | sha256sum --check --quiet
  python3 -m zipfile -e "$wheel" "$scratch/wheel"
  mv "$scratch/wheel/wgpu/resources/libwgpu_native-release.so" libwgpu_native.so
fi
