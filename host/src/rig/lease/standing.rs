//! Whether a lease file still holds, from its content and the clocks.

use std::path::Path;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::LEASE;
use super::folder::Content;
use super::holder::Holder;

/// How far clocks of hosts may be apart without a word.
const SLACK_S: i64 = 5;

/// How a bench stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nobody has it.
    Free,
    /// Somebody has it: who, as far as is known.
    Held(String),
}

/// A lease file as somebody who waits has seen it so far. A content that has not changed for as long as its lease holds is
/// not renewed by anybody, whatever the clocks say; that is measured by this process's own steady clock.
#[derive(Debug, Default)]
pub(super) struct Observed {
    last: Option<(Content, Instant)>,
}

impl Observed {
    /// How the bench stands by the file's content at `now`.
    pub(super) fn standing(&mut self, content: Option<Content>, now: Timestamp, path: &Path) -> Standing {
        let Some(content) = content else { return Standing::Free };
        let seen = match &self.last {
            Some((last, since)) if *last == content => *since,
            _ => Instant::now(),
        };
        let unchanged = seen.elapsed();
        let (length_s, standing) = judge(&content, now, path);
        self.last = Some((content, seen));
        if unchanged.as_secs() >= length_s { Standing::Free } else { standing }
    }
}

/// How long such a lease holds, in seconds, and how it stands.
fn judge(content: &Content, now: Timestamp, path: &Path) -> (u64, Standing) {
    let path = path.display();
    let holder = match parse(&content.bytes) {
        Ok(holder) => holder,
        Err(reason) => {
            // Nobody can tell who wrote it; from then on it holds as long as any.
            let left = LEASE.as_secs() as i64 - seconds(content.modified, now);
            let by = format!("{path} is not what ppsrig writes ({reason}); it counts for {left} s more");
            return (LEASE.as_secs(), if left <= 0 { Standing::Free } else { Standing::Held(by) });
        }
    };
    let (length_s, left) = (holder.lease_s, seconds(now, holder.expires));
    let standing = if left <= 0 || holder.has_ended() {
        Standing::Free
    } else if left > i64::try_from(length_s).unwrap_or(i64::MAX).saturating_add(SLACK_S) {
        Standing::Held(format!(
            "{holder} (its lease ends at {}, further away than a lease holds: the clock of that host or of this one is \
             wrong; --wait {length_s} sees whether it is still renewed, or remove {path})",
            holder.expires
        ))
    } else {
        Standing::Held(holder.to_string())
    };
    (length_s, standing)
}

/// Whole seconds from one time to another, rounded up.
fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    let apart: SignedDuration = to.duration_since(from);
    apart.as_secs() + i64::from(apart.subsec_nanos() > 0)
}

/// Reads a lease file.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Holder, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/state/bench.lease";

    fn now() -> Timestamp {
        "2026-12-01T02:00:00Z".parse().expect("a time")
    }

    fn after(seconds: i64) -> Timestamp {
        now() + SignedDuration::from_secs(seconds)
    }

    /// The lease of a process on another host.
    fn lease(expires: Timestamp, lease_s: u64) -> Content {
        let mut holder = Holder::of_self("a bench".to_owned(), "run", now(), lease_s);
        holder.process.boot_id = "another".to_owned();
        holder.expires = expires;
        Content { bytes: toml::to_string(&holder).expect("plain").into_bytes(), modified: now() }
    }

    fn standing(content: Content) -> Standing {
        Observed::default().standing(Some(content), now(), Path::new(PATH))
    }

    #[test]
    fn a_lease_holds_until_it_expires() {
        assert!(matches!(standing(lease(after(1), 60)), Standing::Held(_)));
        assert_eq!(standing(lease(after(0), 60)), Standing::Free);
        assert_eq!(standing(lease(after(-3600), 60)), Standing::Free);
    }

    #[test]
    fn a_lease_from_the_future_is_held_and_the_message_says_what_is_wrong() {
        let Standing::Held(by) = standing(lease(after(3600), 60)) else {
            panic!("nobody knows that it is over")
        };
        assert!(by.contains("clock of that host or of this one is wrong") && by.contains(PATH), "{by}");
        // A host that is a little ahead is no reason for words.
        let Standing::Held(by) = standing(lease(after(63), 60)) else { panic!("it is held") };
        assert!(!by.contains("clock"), "{by}");
    }

    #[test]
    fn whatever_the_clocks_say_a_lease_that_nobody_renews_is_over() {
        let (path, ahead) = (Path::new(PATH), lease(after(3600), 1));
        let mut observed = Observed::default();
        assert!(matches!(observed.standing(Some(ahead.clone()), now(), path), Standing::Held(_)));
        // Renewed meanwhile: its time begins anew.
        let renewed = lease(after(3601), 1);
        assert!(matches!(observed.standing(Some(renewed.clone()), now(), path), Standing::Held(_)));
        observed.last.as_mut().expect("it was seen").1 -= std::time::Duration::from_secs(1);
        assert_eq!(observed.standing(Some(renewed), now(), path), Standing::Free);
    }

    #[test]
    fn a_damaged_file_counts_by_when_it_was_written() {
        for bytes in [&b""[..], b"\xff\xfe", b"pid = 12\n", b"user = \"x"] {
            let content = |written| Content { bytes: bytes.to_vec(), modified: after(written) };
            let Standing::Held(by) = standing(content(-10)) else { panic!("it was written just now") };
            assert!(by.contains(PATH) && by.contains("50 s more"), "{by}");
            assert_eq!(standing(content(-60)), Standing::Free);
        }
    }
}
