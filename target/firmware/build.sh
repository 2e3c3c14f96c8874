#!/bin/sh
# Builds the firmware image, and leaves it as build/firmware/virt.elf; beside it virt-one-more.elf, which takes one
# instruction more to read the counter. `build.sh --clippy` lints them instead. Further arguments go to cargo.
#
# Which compiler knows the A53's target: setup.sh writes it down in .cargo/firmware-toolchain.env, as shell assignments:
#   PPSRIG_FIRMWARE_RUSTC      a rustc (lints: with its cargo-clippy beside it); without it, the one that cargo takes
#   PPSRIG_FIRMWARE_LINKER     the linker's absolute path
#   PPSRIG_FIRMWARE_BUILD_STD  1: the target's core library is built from source
# Without that file the target is taken to be installed: rustup target add aarch64-unknown-none
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
target=aarch64-unknown-none
: "${CARGO_TARGET_DIR:=$root/build}"
case $CARGO_TARGET_DIR in /*) ;; *) CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR ;; esac
export CARGO_TARGET_DIR

# shellcheck source=/dev/null
if [ -f "$root/.cargo/firmware-toolchain.env" ]; then . "$root/.cargo/firmware-toolchain.env"; fi
if [ -n "${PPSRIG_FIRMWARE_RUSTC:-}" ]; then export RUSTC="$PPSRIG_FIRMWARE_RUSTC"; fi
if [ -n "${PPSRIG_FIRMWARE_LINKER:-}" ]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_NONE_LINKER="$PPSRIG_FIRMWARE_LINKER"
fi

if [ "${PPSRIG_FIRMWARE_BUILD_STD:-}" = 1 ]; then
    export RUSTC_BOOTSTRAP=1
    build_std=-Zbuild-std=core
fi

cd "$here"
if [ "${1:-}" = --clippy ]; then
    shift
    # Lints must come from the same release as the compiler that built core.
    set -- clippy --locked --release --target "$target" --features one-more ${build_std:-} "$@" -- -D warnings
    if [ -z "${RUSTC:-}" ]; then exec cargo "$@"; fi
    clippy=$(dirname -- "$RUSTC")/cargo-clippy
    if [ ! -x "$clippy" ]; then
        echo "no $clippy to lint with: install the clippy of $RUSTC (Debian: rust-web-clippy)" >&2
        exit 2
    fi
    exec "$clippy" "$@"
fi

build() { # name of the image, then arguments of cargo
    image=build/firmware/$1.elf
    shift
    cargo build --locked --release --target "$target" ${build_std:-} "$@"
    # Copied under another name first: a reader never sees half an image.
    cp "$CARGO_TARGET_DIR/$target/release/virt" "$root/$image.new"
    mv "$root/$image.new" "$root/$image"
    echo "$image"
}

mkdir -p "$root/build/firmware"
build virt-one-more --features one-more "$@"
build virt "$@"
