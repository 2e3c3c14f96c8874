//! Hands the linker script to the linker, and the source's commit to Identify.

use std::{env, path::Path, process::Command};

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let script = Path::new(&folder).join("virt.ld");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    println!("cargo:rerun-if-changed={}", script.display());
    println!(
        "cargo:rustc-env=PPSRIG_GIT_HASH={}",
        git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or("unknown".into())
    );
    // The log grows with every commit and every switch of branch.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// What git says, or none outside a repository: a source archive builds as well.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
