#!/usr/bin/env bash
# Builds ppsrig's Debian package: deb.sh [--dev] [--no-build] [--out DIR]
#   --dev       from the development build, which is there already after `just build`; without it from a release build
#   --no-build  takes what is built
#   --out DIR   where to put it; without it build/deb
# Prints the package's path. The same sources and programs give the same bytes. Needs dpkg-deb and dpkg-shlibdeps (Debian: dpkg-dev), strip and gzip.
set -euo pipefail
umask 022
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target_dir=${CARGO_TARGET_DIR:-$root/build}
out=$target_dir/deb
profile=release
build=yes

die() { printf 'deb.sh: %s\n' "$*" >&2; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
        --dev) profile=dev ;;
        --no-build) build= ;;
        --out) shift; out=${1:?--out needs a folder} ;;
        *) die "unknown option $1" ;;
    esac
    shift
done
for tool in dpkg-deb dpkg-shlibdeps strip gzip; do
    command -v "$tool" >/dev/null || die "no $tool: install dpkg-dev and binutils"
done

cd "$root"
if [ -n "$build" ]; then
    cargo build --quiet --profile "$profile" -p ppsrig -p ppsrig-vbench >&2
    target/firmware/build.sh >&2
fi
folder=$profile
[ "$profile" = dev ] && folder=debug
binaries=$target_dir/$folder
for file in "$binaries/ppsrig" "$binaries/vbench" build/firmware/virt.elf; do
    [ -f "$file" ] || die "no $file: leave --no-build out"
done

# Between releases: 0.1.0~20261130T181500.299a874c3d21, which is older than 0.1.0 and younger than yesterday's.
in_git() { git -C "$root" -c safe.directory='*' "$@" 2>/dev/null; }
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
if commit=$(in_git rev-parse --short=12 HEAD); then
    changed=
    [ -z "$(in_git status --porcelain --untracked-files=no)" ] || changed=.changed
    if [ -n "$changed" ] || ! in_git tag --points-at HEAD | grep -qx "v$version"; then
        version="$version~$(TZ=UTC in_git log -1 --date=format-local:%Y%m%dT%H%M%S --format=%cd).$commit$changed"
    fi
fi
# When it was made is when its sources were.
: "${SOURCE_DATE_EPOCH:=$(in_git log -1 --format=%ct || stat -c %Y Cargo.toml)}"
export SOURCE_DATE_EPOCH
maintainer="${DEBFULLNAME:-the ppsrig authors} <${DEBEMAIL:-maintainers@ppsrig.invalid}>"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
share=$tree/usr/share
put() { install -D -m "$1" "$2" "$3"; }

program() { # source, destination
    put 755 "$1" "$2"
    strip --strip-unneeded "$2"
}
program "$binaries/ppsrig" "$tree/usr/bin/ppsrig"
# What brings the virtual bench up, looked for by its bench file; QEMU is recommended, not needed for real benches.
program "$binaries/vbench" "$tree/usr/lib/ppsrig/vbench"

fixtures=fixtures
for kind in benches boards scenarios plans published; do
    for file in "$fixtures/$kind"/*; do
        [ -f "$file" ] && put 644 "$file" "$share/ppsrig/$kind/$(basename "$file")"
    done
done
put 644 build/firmware/virt.elf "$share/ppsrig/firmware/virt.elf"
sed -i -e 's|"../../build/firmware/|"../firmware/|' -e 's|\["vbench"|["../../../lib/ppsrig/vbench"|' "$share/ppsrig/benches"/*.toml
sed -i -e 's|"../../build/firmware/|"../firmware/|' "$share/ppsrig/plans"/*.toml 2>/dev/null || true

doc=$share/doc/ppsrig
put 644 README.md "$doc/README.md"
put 644 results/README.md "$doc/results.md"
put 644 host/packaging/copyright "$doc/copyright"
put 644 LICENSE-MIT "$doc/LICENSE-MIT"
put 644 LICENSE-APACHE "$doc/LICENSE-APACHE"
put 644 CHANGELOG.md "$doc/news.md" # what is called changelog there is dpkg's
printf 'ppsrig (%s) unstable; urgency=medium\n\n  * Built from source; news.md.gz says what is new.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$work/changelog"
put 644 "$work/changelog" "$doc/changelog"
gzip -9n "$doc/changelog" "$doc/news.md"
# What is linked in, and under which license.
cargo tree --locked --quiet -p ppsrig -p ppsrig-vbench -e normal --prefix none --format '{p}: {l}' --no-dedupe |
    sed 's/ ([^)]*)//; s/ v\([0-9]\)/ \1/' | LC_ALL=C sort -u >"$work/crates.txt"
put 644 "$work/crates.txt" "$doc/crates.txt"
put 644 "$here/lintian-overrides" "$share/lintian/overrides/ppsrig"

ppsrig=$binaries/ppsrig
"$ppsrig" man "$share/man/man1"
gzip -9n "$share/man/man1"/*.1
completion() { # shell, file
    mkdir -p "$(dirname "$2")"
    "$ppsrig" completions "$1" >"$2"
}
completion bash "$share/bash-completion/completions/ppsrig"
completion zsh "$share/zsh/vendor-completions/_ppsrig"
completion fish "$share/fish/vendor_completions.d/ppsrig.fish"

lib=$tree/usr/lib
put 644 "$here/60-ppsrig.rules" "$lib/udev/rules.d/60-ppsrig.rules"
put 644 "$here/ppsrig-nightly@.service" "$lib/systemd/system/ppsrig-nightly@.service"
put 644 "$here/ppsrig-nightly@.timer" "$lib/systemd/system/ppsrig-nightly@.timer"
put 644 "$here/sysusers.conf" "$lib/sysusers.d/ppsrig.conf"
put 644 "$here/tmpfiles.conf" "$lib/tmpfiles.d/ppsrig.conf"

# The libraries that the programs are linked to, as dpkg names them; it insists on a control file of a source.
mkdir "$work/debian"
printf 'Source: ppsrig\n\nPackage: ppsrig\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "tree/usr/bin/ppsrig" "tree/usr/lib/ppsrig/vbench" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')

architecture=$(dpkg --print-architecture)
mkdir "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: ppsrig
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: science
Priority: optional
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: ${depends:-libc6}
Recommends: qemu-system-arm (>= 1:7.2)
Suggests: labgrid
Description: measures how late a Cortex-A53 board takes a timestamp
 Loads a board through a debug probe, has a reference generator fire PPS edges
 over serial, ties the board's captures to GPS time, and answers with latency
 statistics, a verdict and reports; by hand at a bench, or every night.
 .
 The virtual bench is in it: with QEMU installed, "ppsrig run" needs no
 hardware.
CONTROL
for script in postinst prerm postrm; do put 755 "$here/$script" "$tree/DEBIAN/$script"; done
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$work/md5sums"
put 644 "$work/md5sums" "$tree/DEBIAN/md5sums"

mkdir -p "$out"
package=$out/ppsrig_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz -z1 --build "$tree" "$package.new" >/dev/null
mv "$package.new" "$package"
printf '%s\n' "$package"
