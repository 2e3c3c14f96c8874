use std::sync::atomic::{AtomicUsize, Ordering};

use super::key::some_key;
use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

struct Lab {
    folder: tempfile::TempDir,
    watch: Watch,
}

impl Lab {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), watch: Watch::new() }
    }

    fn state(&self) -> StateFolder {
        StateFolder::at(self.folder.path().to_owned()).expect("it is there")
    }

    fn lease_file(&self) -> PathBuf {
        self.state().file(&some_key(), "lease")
    }

    fn take(&self, length_s: u64, wait: Duration) -> Result<Lease, LeaseError> {
        let length = Duration::from_secs(length_s);
        Lease::acquire_in(self.state(), &some_key(), ("run", length), wait, &self.watch, &mut |_| {})
    }

    /// The lease that a process of another host has just taken, and will not renew.
    fn left_by_another_host(&self, lease_s: u64) {
        let now = Timestamp::now();
        let mut holder = Holder::of_self(some_key().to_string(), "run", now, lease_s);
        holder.process.boot_id = "another".to_owned();
        holder.host = "lab7".to_owned();
        holder.expires = now.saturating_add(SignedDuration::from_secs(lease_s as i64)).expect("near");
        std::fs::write(self.lease_file(), toml::to_string(&holder).expect("plain")).expect("it fits");
    }
}

#[test]
fn a_second_run_is_refused_with_the_name_of_the_holder_until_the_first_ends() {
    let lab = Lab::new();
    let first = lab.take(60, Duration::ZERO).expect("it is free");
    let error = lab.take(60, Duration::ZERO).expect_err("it is held").to_string();
    let pid = std::process::id();
    for part in
        [&format!("(pid {pid})"), &holder::host_name(), "for run", "--wait", "probe 1366:1015:000770000001"]
    {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    drop(first);
    assert!(!lab.lease_file().exists());
    let _again = lab.take(60, Duration::ZERO).expect("it is free again");
}

#[test]
fn whoever_waits_is_told_for_whom_and_gets_the_bench_when_it_is_free() {
    let lab = Lab::new();
    let mut first = Some(lab.take(60, Duration::ZERO).expect("it is free"));
    let told = AtomicUsize::new(0);
    let mut waiting = |by: &str| {
        assert!(by.contains("waiting up to") && by.contains("(pid "), "{by}");
        told.fetch_add(1, Ordering::Relaxed);
        first.take();
    };
    let length = Duration::from_secs(60);
    let second =
        Lease::acquire_in(lab.state(), &some_key(), ("run", length), PATIENCE, &lab.watch, &mut waiting);
    second.expect("the first has ended");
    assert_eq!(told.load(Ordering::Relaxed), 1);
}

#[test]
fn a_lease_that_another_host_left_is_free_after_its_time_and_not_before() {
    let lab = Lab::new();
    lab.left_by_another_host(2);
    let left = Instant::now();
    let error = lab.take(60, Duration::ZERO).expect_err("it is held").to_string();
    assert!(error.contains("on lab7"), "{error}");
    let _taken = lab.take(60, PATIENCE).expect("its time is over");
    assert!(left.elapsed() >= Duration::from_millis(1_900), "{:?}", left.elapsed());
}

#[test]
fn a_lease_is_renewed_beyond_its_first_time() {
    let lab = Lab::new();
    let expires = || {
        let text = std::fs::read_to_string(lab.lease_file()).expect("it is held");
        toml::from_str::<Holder>(&text).expect("ppsrig wrote it").expires
    };
    let _held = lab.take(1, Duration::ZERO).expect("it is free");
    let first = expires();
    let deadline = Deadline::after(PATIENCE);
    while expires() < first.saturating_add(SignedDuration::from_secs(1)).expect("near") && !deadline.passed()
    {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!deadline.passed(), "nobody renews it");
    assert_eq!(lab.watch.check(), Ok(()));
}

#[test]
fn a_holder_that_lost_its_lease_is_told_to_end_and_leaves_the_others_alone() {
    for removed in [true, false] {
        let lab = Lab::new();
        let lease = lab.take(1, Duration::ZERO).expect("it is free");
        match removed {
            true => std::fs::remove_file(lab.lease_file()).expect("it is there"),
            false => lab.left_by_another_host(60),
        }
        let deadline = Deadline::after(PATIENCE);
        while lab.watch.check().is_ok() && !deadline.passed() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let told = lab.watch.check().expect_err("it is lost").to_string();
        assert!(told.contains(if removed { "is gone" } else { "taken by" }), "{told}");
        drop(lease);
        assert_eq!(lab.lease_file().exists(), !removed, "what is another's stays");
    }
}

#[test]
fn waiting_ends_when_it_is_interrupted() {
    let lab = Lab::new();
    let _held = lab.take(60, Duration::ZERO).expect("it is free");
    let over = lab.watch.until(Deadline::after(Duration::ZERO));
    let length = Duration::from_secs(60);
    let error = Lease::acquire_in(lab.state(), &some_key(), ("run", length), PATIENCE, &over, &mut |_| {})
        .expect_err("it is held");
    assert!(matches!(error, LeaseError::Halt(Halt::OutOfTime)), "{error}");
}

#[test]
fn lengths_that_make_no_sense_are_refused() {
    assert_eq!(length("2").expect("it is one"), Duration::from_secs(2));
    for text in ["0", "3601", "-1", "1.5", "a minute"] {
        assert!(length(text).is_err(), "{text}");
    }
}
