#!/usr/bin/env bash
# Builds the fuzz targets and runs each of them, or those that are named, for so many seconds: run.sh SECONDS [TARGET]...
# A finding is left in build/fuzz/artifacts/TARGET/, and ends this with its exit code. What was found interesting stays in
# build/fuzz/corpus/TARGET/ for the next time. `just fuzz` calls this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:?seconds for each target}
shift
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: cargo-fuzz is missing; install it with: cargo install --locked cargo-fuzz" >&2
    exit 2
fi
export CARGO_TARGET_DIR=$PWD/build/fuzz
# libFuzzer needs flags that a stable compiler takes only if told so. The readers have no unsafe code for a sanitizer to watch.
export RUSTC_BOOTSTRAP=1
options=(--fuzz-dir host/fuzz --sanitizer none --release)

# The recordings of fixtures/captures are what a target begins with.
seeds() {
    case $1 in
    nmea | ubx | splitter) echo fixtures/captures/*/raw/reference.log ;;
    ticc) echo fixtures/captures/*/raw/interval-counter.log fixtures/captures/series/ticc-*.txt ;;
    scpi) echo fixtures/captures/*/raw/generator.log ;;
    link) echo fixtures/captures/*/raw/link.log ;;
    raw_log) echo fixtures/captures/*/raw/*.log ;;
    samples_csv | spool) echo fixtures/captures/samples/* ;;
    tables) echo fixtures/published/*.csv fixtures/captures/*/*.csv ;;
    *) echo fixtures/captures/series/* ;;
    esac
}

cargo fuzz build "${options[@]}"
mapfile -t targets < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else cargo fuzz list --fuzz-dir host/fuzz; fi)
for target in "${targets[@]}"; do
    echo "fuzz: $target, $seconds s" >&2
    corpus=build/fuzz/corpus/$target first=build/fuzz/seeds/$target artifacts=build/fuzz/artifacts/$target
    rm -rf "$first"
    mkdir -p "$corpus" "$first" "$artifacts"
    for seed in $(seeds "$target"); do
        cp "$seed" "$first/$(echo "$seed" | tr / -)"
    done
    cargo fuzz run "${options[@]}" "$target" "$corpus" "$first" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$artifacts/" 2>&1 | grep -v '^Running\|^ *Finished'
done
