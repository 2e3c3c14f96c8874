#!/usr/bin/env bash
# Installs what ppsrig's tree needs to build and to run the virtual bench; with --tests also what only the tests need.
# Safe to run again: it installs only what is missing.
# Tried on Debian 12; Ubuntu has the same packages, but for the A53 library, which comes from rustup there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

toolchain_file=.cargo/firmware-toolchain.env # read by target/firmware/build.sh, ignored by git
rustup_seconds=60
qemu_at_least=7.2
tools=build/tools                            # what only the tests need: tools/venv, tools/node
schema_from=pytest==9.2.0                    # its source archive carries the JUnit schema that Jenkins checks with
with_tests=
case "$*" in
    "") ;;
    --tests) with_tests=yes ;;
    *)
        printf 'usage: ./setup.sh [--tests]\n  --tests  also what only the tests need: Chromium, ser2net, Node, Python packages in build/tools\n' >&2
        exit 2
        ;;
esac

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

qemu_version() { qemu-system-aarch64 --version 2>/dev/null | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p'; }
qemu_good() {
    local version
    version=$(qemu_version) && [ -n "$version" ] && [ "$(printf '%s\n' "$qemu_at_least" "$version" | sort -V | head -n 1)" = "$qemu_at_least" ]
}
c_compiler_good() { have cc && printf '#include <stdio.h>\nint main(void){return 0;}\n' | cc -x c -o /dev/null - 2>/dev/null; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else die "'$*' needs root: run this as root, or install sudo"; fi
}

lists_are_fresh=
apt_install() { # why, packages...
    local why=$1
    shift
    say "installing $* ($why)"
    [ -n "$lists_are_fresh" ] || as_root apt-get update -qq
    lists_are_fresh=yes
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends "$@" >/dev/null
}

other_system() {
    cat >&2 <<EOF
setup: this is not Debian or Ubuntu (no apt-get). Please install, then run this again:
  * qemu-system-aarch64, version $qemu_at_least or newer (the emulated board)
  * setpriv, from util-linux (ties the emulator's life to the bench's)
  * a C compiler with the C library's headers (crates that build C)
  * Rust's target for the board: rustup target add aarch64-unknown-none
  * just (cargo install --locked just)
EOF
    exit 1
}

system_packages() {
    if qemu_good && have setpriv && c_compiler_good; then return; fi
    have apt-get || other_system
    qemu_good || apt_install "the emulated Cortex-A53 board" qemu-system-arm
    qemu_good || die "QEMU $(qemu_version) is too old: $qemu_at_least or newer is needed (Debian 12 has 7.2)"
    have setpriv || apt_install "ties the emulator's life to the bench's" util-linux
    c_compiler_good || apt_install "crates that build C" gcc libc6-dev
}

rust_lld() { # the linker that every rustup toolchain carries
    local lld
    lld=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
    [ -x "$lld" ] && printf '%s\n' "$lld"
}

write_toolchain() { # rustc, linker, build-std (1 or 0)
    printf 'PPSRIG_FIRMWARE_RUSTC=%q\nPPSRIG_FIRMWARE_LINKER=%q\nPPSRIG_FIRMWARE_BUILD_STD=%q\n' "$@" >"$toolchain_file"
    say "the board's image is built by $1, linked by $2"
}

toolchain_good() {
    [ -f "$toolchain_file" ] || return 1
    # shellcheck source=/dev/null
    (
        . "$toolchain_file" && [ -x "$PPSRIG_FIRMWARE_LINKER" ] || exit 1
        if [ "$PPSRIG_FIRMWARE_BUILD_STD" = 1 ]; then
            [ -d "$("$PPSRIG_FIRMWARE_RUSTC" --print sysroot)/lib/rustlib/src/rust/library/core" ]
        else
            [ -d "$("$PPSRIG_FIRMWARE_RUSTC" --target aarch64-unknown-none --print target-libdir)" ]
        fi
    )
}

core_library() { # Rust's core for aarch64-unknown-none, and a linker
    toolchain_good && return
    local lld
    lld=$(rust_lld) || die "this Rust toolchain has no rust-lld: install Rust with rustup, https://rustup.rs"
    if have rustup && timeout "$rustup_seconds" rustup target add aarch64-unknown-none >/dev/null 2>&1; then
        write_toolchain "$(rustup which rustc)" "$lld" 0
        return
    fi
    say "rustup could not add aarch64-unknown-none within $rustup_seconds s; taking the core library's source from Debian"
    have apt-get || other_system
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo-clippy ] && [ -d /usr/lib/rustlib/src/rust/library/core ] ||
        apt_install "builds and lints the board's image" rustc-web rust-web-src rust-web-clippy ||
        die "no Debian packages rustc-web and rust-web-src here: connect rustup once (rustup target add aarch64-unknown-none)"
    write_toolchain /usr/bin/rustc "$lld" 1
}

just_runner() {
    have just && return
    local bin=/usr/local/bin home=${XDG_DATA_HOME:-$HOME/.local/share}/ppsrig/just
    case ":$PATH:" in *":$HOME/.cargo/bin:"*) bin=$HOME/.cargo/bin ;; esac
    say "installing just into $home, linked from $bin (runs the recipes in justfile)"
    mkdir -p "$home"
    if ! { python3 -m venv "$home" && "$home/bin/pip" install --quiet --disable-pip-version-check rust-just; } >/dev/null 2>&1; then
        say "no Python with venv here, so just is compiled from source, which takes some minutes"
        cargo install --locked --quiet --root "$home" just
    fi
    if [ "$bin" = /usr/local/bin ]; then as_root ln -sf "$home/bin/just" "$bin/just"; else ln -sf "$home/bin/just" "$bin/just"; fi
    have just || die "just was installed into $bin, which is not on PATH: add it"
}

# What only the tests need: programs that others wrote, which read what ppsrig writes, or stand for a lab.
test_program() { # command, package, why
    if have "$1" || [ -x "/usr/sbin/$1" ]; then return; fi
    missing_packages="$missing_packages $2"
    missing_whys="$missing_whys${missing_whys:+, }$3"
}

test_programs() {
    local missing_packages='' missing_whys=''
    test_program chromium chromium "opens report.html"
    test_program ser2net ser2net "serial ports over the network"
    test_program node nodejs "drives Chromium"
    test_program npm npm "installs what drives it"
    test_program groff groff "renders the manual pages"
    test_program dpkg-shlibdeps dpkg-dev "builds the package"
    test_program strip binutils "makes it small"
    test_program systemd-analyze systemd "checks its units"
    python3 -c 'import ensurepip, venv' 2>/dev/null || { missing_packages="$missing_packages python3-venv" && missing_whys="$missing_whys${missing_whys:+, }holds their Python packages"; }
    [ -n "$missing_packages" ] || return 0
    have apt-get || die "the tests need$missing_packages (Debian's names): please install them, then run this again"
    # shellcheck disable=SC2086
    apt_install "for the tests: $missing_whys" $missing_packages
}

test_python() { # the packages of requirements.txt, and the JUnit schema
    local venv=$tools/venv wanted=host/tests/tools/requirements.txt
    local pip=("$venv/bin/pip" --quiet --disable-pip-version-check)
    if ! { [ -x "$venv/bin/python" ] && cmp -s "$wanted" "$venv/installed.txt"; }; then
        say "installing the tests' Python packages into $venv (parsers and validators of JUnit, OpenMetrics, Markdown; labgrid)"
        [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
        "${pip[@]}" install -r "$wanted"
        cp "$wanted" "$venv/installed.txt"
    fi
    if ! [ -s "$venv/share/junit-10.xsd" ]; then
        say "fetching the JUnit schema out of $schema_from"
        local scratch
        scratch=$(mktemp -d)
        "${pip[@]}" download --no-deps --no-binary :all: --dest "$scratch" "$schema_from"
        mkdir -p "$venv/share"
        tar -xzOf "$scratch"/pytest-*.tar.gz --wildcards '*/junit-10.xsd' >"$scratch/junit-10.xsd"
        mv "$scratch/junit-10.xsd" "$venv/share/"
        rm -rf "$scratch"
    fi
}

test_node() {
    local node=$tools/node wanted=host/tests/browser/package.json
    if cmp -s "$wanted" "$node/installed.json" && [ -d "$node/node_modules/playwright-core" ]; then return; fi
    say "installing playwright-core into $node (drives Chromium)"
    mkdir -p "$node"
    cp "$wanted" "$node/package.json"
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --prefix "$node" --no-package-lock --no-audit --no-fund --silent
    cp "$wanted" "$node/installed.json"
}

have cargo || die "no cargo: install Rust with rustup, https://rustup.rs"
system_packages
core_library
just_runner
if [ -n "$with_tests" ]; then
    mkdir -p "$tools"
    test_programs
    test_python
    test_node
    say "ready: now 'just test'"
else
    say "ready: now 'just bench' ('just test' wants ./setup.sh --tests before it)"
fi
