#!/bin/sh
# Builds the firmware image, and leaves it as build/firmware/virt.elf. Arguments go to cargo (`--clippy`: lint instead).
#
# Which compiler knows the A53's target: setup.sh writes it down in .cargo/firmware-toolchain.env, as shell assignments:
#   PPSRIG_FIRMWARE_RUSTC      a rustc; without it, the one that cargo takes
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

command=build
after=
if [ "${1:-}" = --clippy ]; then
    shift
    command=clippy
    after='-- -D warnings'
    if [ "${PPSRIG_FIRMWARE_BUILD_STD:-}" = 1 ]; then
        echo "skipped: clippy of the firmware, since $PPSRIG_FIRMWARE_RUSTC comes without clippy (rustup's target has it)" >&2
        exit 0
    fi
fi
if [ "${PPSRIG_FIRMWARE_BUILD_STD:-}" = 1 ]; then
    export RUSTC_BOOTSTRAP=1
    set -- -Zbuild-std=core "$@"
fi

cd "$here"
# shellcheck disable=SC2086 # $after is two words or none
cargo "$command" --locked --release --target "$target" "$@" $after
if [ "$command" = build ]; then
    mkdir -p "$root/build/firmware"
    cp "$CARGO_TARGET_DIR/$target/release/virt" "$root/build/firmware/virt.elf.new"
    mv "$root/build/firmware/virt.elf.new" "$root/build/firmware/virt.elf"
    echo "build/firmware/virt.elf"
fi
