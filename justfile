# `just --list` shows what there is. Cargo's output goes to build/, because target/ holds sources.
export CARGO_TARGET_DIR := justfile_directory() / "build"

# A capture run on the virtual bench, with 100 edges; options of `ppsrig run` may follow
bench *OPTIONS: build
    build/debug/ppsrig run {{OPTIONS}}

# The programs and the board's image
build: firmware
    cargo build --workspace

# The images of the virtual A53 board: build/firmware/virt.elf, and virt-one-more.elf for tests
firmware:
    target/firmware/build.sh

# All tests, those that start the virtual bench last and one by one
test: build
    .ci/test

# Every order of the timekeeping's atomic accesses that the memory model allows, within bounds: a minute or two
loom:
    RUSTFLAGS="--cfg loom" cargo test --quiet -p ppsrig-timekeeping --release loom_

# Formatting, lints and documentation, without changing anything
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
    target/firmware/build.sh --clippy

# Reformats the sources
fmt:
    cargo fmt --all
    cargo fmt --manifest-path target/firmware/Cargo.toml
    cargo fmt --manifest-path host/fuzz/Cargo.toml

# Rewrites the expected outputs from what the programs print now: look at the diff, commit it alone
bless: build
    PPSRIG_BLESS=1 cargo test --quiet -p ppsrig --lib recorded
    PPSRIG_BLESS=1 cargo test --quiet -p ppsrig-wire --test byte_tables

# Tests against public data that is kept beside the tree, not in it
conformance:
    cargo test --quiet -p ppsrig --test conformance_receivers --test conformance_stability -- --ignored

# Any bytes into every reader, so many seconds each, or into those that are named; needs cargo-fuzz
fuzz SECONDS="60" *TARGETS:
    host/fuzz/run.sh {{SECONDS}} {{TARGETS}}

# What calls cost, then ppsrig beside allantools, polars and the csv crate: a table, and build/benchmark.json
benchmark *OPTIONS:
    cargo bench --quiet -p ppsrig
    host/benches/peers/run.sh {{OPTIONS}}

# A Debian package with the virtual bench in it: build/deb; `just deb --dev` takes the development build
deb *OPTIONS:
    host/packaging/deb.sh {{OPTIONS}}

# What CI does; its run is a slow one, which holds on a busy machine
ci: lint test loom (bench "--rate" "2" "--width-ms" "250" "--edges" "10") conformance
