//! `target/` holds sources here and is also Cargo's default output folder: `cargo clean` must never reach them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PACKAGES: &[&str] =
    &[".", "host", "target/wire", "target/timekeeping", "target/app", "target/firmware", "fixtures/vbench"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the tree is there")
}

/// Copies sources, leaving out git's folder, Cargo's output and run bundles.
fn copy_sources(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a temporary folder can be made");
    for entry in fs::read_dir(from).expect("a source folder can be read") {
        let path = entry.expect("a folder entry can be read").path();
        let name = path.file_name().expect("an entry has a name").to_owned();
        let text = name.to_string_lossy();
        if text == ".git" || text.starts_with("build") && path.is_dir() || text == "results" {
            continue;
        }
        if path.is_dir() {
            copy_sources(&path, &to.join(&name));
        } else if path.is_file() {
            fs::copy(&path, to.join(&name)).expect("a source file can be copied");
        }
    }
}

fn contents(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("the copy can be read") {
        let path = entry.expect("a folder entry can be read").path();
        if path.is_dir() {
            contents(&path, found);
        } else {
            let bytes = fs::read(&path).expect("a copied file can be read");
            found.insert(path, bytes);
        }
    }
}

#[test]
fn cargo_clean_leaves_the_sources_standing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("ppsrig");
    copy_sources(&root(), &copy);
    let mut before = BTreeMap::new();
    contents(&copy, &mut before);
    assert!(
        before.keys().any(|path| path.ends_with("target/wire/src/lib.rs")),
        "the copy holds the board's sources"
    );

    for package in PACKAGES {
        let output_file = copy.join("build/debug/some-output");
        fs::create_dir_all(output_file.parent().expect("it has a parent")).expect("an output folder");
        fs::write(&output_file, "built").expect("an output file");
        fs::write(copy.join("build/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55")
            .expect("the tag");
        let clean = Command::new(env!("CARGO"))
            .args(["clean", "--offline"])
            .current_dir(copy.join(package))
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_BUILD_TARGET_DIR")
            .output()
            .expect("cargo starts");
        assert!(clean.status.success(), "cargo clean in {package}: {}", stderr(&clean));
        assert!(!output_file.exists(), "cargo clean in {package} removes build/");
        let mut after = BTreeMap::new();
        contents(&copy, &mut after);
        assert_eq!(
            after.keys().collect::<Vec<_>>(),
            before.keys().collect::<Vec<_>>(),
            "after cargo clean in {package}"
        );
        assert!(after == before, "cargo clean in {package} changed a file");
    }
}

#[test]
fn a_build_into_the_source_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("build-script");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let compiled = Command::new(rustc)
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(root().join("host/build.rs"))
        .output()
        .expect("rustc starts");
    assert!(compiled.status.success(), "host/build.rs compiles: {}", stderr(&compiled));

    for (output, refused) in
        [("target/debug/build/ppsrig/out", true), ("build/debug/build/ppsrig/out", false)]
    {
        let out_dir = folder.path().join(output);
        fs::create_dir_all(&out_dir).expect("an output folder");
        let manifest_dir = folder.path().join("host");
        fs::create_dir_all(&manifest_dir).expect("a package folder");
        fs::create_dir_all(folder.path().join("target")).expect("the source folder");
        let run = Command::new(&script)
            .env("OUT_DIR", &out_dir)
            .env("CARGO_MANIFEST_DIR", &manifest_dir)
            .output()
            .expect("the build script starts");
        assert_eq!(!run.status.success(), refused, "{output}: {}", stderr(&run));
        assert_eq!(stderr(&run).contains("inside the source folder target/"), refused, "{output}");
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
