//! Refuses to build when Cargo's output lies in our source folder `target/`, and hands the git commit to `--version`.

use std::path::Path;
use std::process::Command;

fn main() {
    let out_dir = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let sources = Path::new(&manifest_dir).join("../target");
    let sources = sources.canonicalize().unwrap_or(sources);
    let out = Path::new(&out_dir).canonicalize().unwrap_or_else(|_| out_dir.clone().into());
    assert!(
        !out.starts_with(&sources),
        "Cargo's output is {}, inside the source folder target/: run cargo from inside the repository, \
         or set CARGO_TARGET_DIR to another folder (README, \"The target folder\")",
        out.display()
    );
    println!("cargo::rustc-env=PPSRIG_GIT={}", git_commit());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
}

fn git_commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}
