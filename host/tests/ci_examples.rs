//! The CI examples of fixtures/ci: valid by the schemas of GitHub and GitLab, and their script does what they promise.

mod common;
mod reports;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Place, fixtures};

#[test]
fn the_examples_are_valid_by_the_schemas_of_github_and_gitlab() {
    let ci = fixtures().join("ci");
    for (schema, file) in
        [("vendor.github-workflows", "github-actions.yml"), ("vendor.gitlab-ci", "gitlab-ci.yml")]
    {
        let mut check = Command::new(reports::tool("bin/check-jsonschema"));
        if file.starts_with("gitlab") {
            check.args(["--data-transform", "gitlab-ci"]);
        }
        let checked = check.args(["--builtin-schema", schema]).arg(ci.join(file)).output().expect("it runs");
        assert!(checked.status.success(), "{file}: {}", String::from_utf8_lossy(&checked.stdout));
    }
}

/// A ppsrig that leaves a night, finished or cut, notes how it was called, and ends with a status.
fn stub(place: &Place, finished: bool, status: u8) {
    let last = if finished { r#"{"what":"finished","utc":"","why":""}"# } else { r#"{"what":"began"}"# };
    let script = format!(
        "#!/bin/sh\necho \"$@\" >>{0}/calls\nnight={0}/nights/2026-12-01T01-00-00Z-plan\nmkdir -p $night\n\
         echo '{last}' >$night/journal.log\necho '## night' >$night/summary.md\necho '# EOF' >$night/metrics.prom\n\
         echo table\necho $night\nexit {status}\n",
        place.path().display()
    );
    let path = place.file("ppsrig", script);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn job(place: &Place, run: &str) -> Output {
    let paths = std::env::var_os("PATH").expect("there is one");
    let path =
        std::env::join_paths(std::iter::once(place.path().to_owned()).chain(std::env::split_paths(&paths)));
    Command::new("bash")
        .arg(fixtures().join("ci/nightly.sh"))
        .arg("lab/plan.toml")
        .current_dir(place.path())
        .env("PATH", path.expect("no colon in it"))
        .env("PPSRIG_NIGHTS", place.path().join("nights"))
        .env("PPSRIG_TEXTFILE_DIR", place.path())
        .env("GITHUB_STEP_SUMMARY", place.path().join("step.md"))
        .env("GITHUB_RUN_ID", run)
        .output()
        .expect("bash is there")
}

#[test]
fn a_job_that_is_tried_again_goes_on_with_the_night_that_was_cut_and_a_new_one_begins_anew() {
    let place = Place::new();
    stub(&place, false, 2);
    let first = job(&place, "7");
    assert_eq!(first.status.code(), Some(2), "{}", String::from_utf8_lossy(&first.stderr));
    stub(&place, true, 1);
    assert_eq!(job(&place, "7").status.code(), Some(1), "the exit status is ppsrig's");
    assert_eq!(job(&place, "7").status.code(), Some(1));
    assert_eq!(job(&place, "8").status.code(), Some(1));
    let calls = read(&place.path().join("calls"));
    let resumed: Vec<bool> = calls.lines().map(|call| call.contains("--resume")).collect();
    assert_eq!(resumed, [false, true, false, false], "{calls}");
    assert!(calls.lines().all(|call| call.contains("--wait 3600")), "{calls}");
    assert_eq!(read(&place.path().join("night/summary.md")), "## night\n");
    assert_eq!(read(&place.path().join("step.md")), "## night\n".repeat(4));
    assert_eq!(read(&place.path().join("ppsrig-plan.prom")), "# EOF\n");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the job made it")
}
