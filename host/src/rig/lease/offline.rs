//! A bench that is not well is taken offline, with the reason, until a person brings it back. Unattended nights refuse it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folder::{self, Keep, StateError, StateFolder};
use super::holder::{user_and_host, visible};
use super::key::BenchKey;

const ENDING: &str = "offline";

/// Why and since when a bench is offline, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Offline {
    /// What the bench is.
    pub bench: String,
    /// Why.
    pub reason: String,
    /// UTC, ISO 8601.
    pub since_utc: String,
    /// The night that found it sick, if one did: its folder.
    #[serde(default)]
    pub night: String,
    /// Who, and on which host.
    pub by: String,
}

impl Offline {
    /// Offline from now on, by whoever runs this.
    #[must_use]
    pub fn now(key: &BenchKey, reason: &str, night: &str) -> Self {
        let (user, host) = user_and_host();
        Self {
            bench: key.to_string(),
            reason: reason.to_owned(),
            since_utc: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            night: night.to_owned(),
            by: format!("{user} on {host}"),
        }
    }
}

impl fmt::Display for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = visible;
        write!(
            f,
            "offline since {} by {}: {}",
            shown(&self.since_utc),
            shown(&self.by),
            shown(&self.reason)
        )?;
        if self.night.is_empty() { Ok(()) } else { write!(f, " (night {})", shown(&self.night)) }
    }
}

/// Whether a bench is offline.
///
/// # Errors
/// [`StateError`] if that cannot be read; a file that is damaged is one: nobody knows why, but somebody took it offline.
pub fn offline(state: &StateFolder, key: &BenchKey) -> Result<Option<Offline>, StateError> {
    let path = state.file(key, ENDING);
    let Some(content) = folder::read(&path)? else { return Ok(None) };
    let parsed = std::str::from_utf8(&content.bytes).map_err(|error| error.to_string());
    let parsed = parsed.and_then(|text| toml::from_str(text).map_err(|error| error.message().to_owned()));
    parsed.map(Some).map_err(|reason| StateError::Damaged { path, reason })
}

/// Takes a bench offline. One that is offline already stays so for its first reason.
///
/// # Errors
/// [`StateError`] if that cannot be kept.
pub fn set_offline(state: &StateFolder, key: &BenchKey, offline: &Offline) -> Result<(), StateError> {
    let _lock = state.lock(key)?;
    let path = state.file(key, ENDING);
    if folder::read(&path)?.is_some() {
        return Ok(());
    }
    folder::write(&path, &toml::to_string(offline).expect("plain strings"), Keep::ForGood)
}

/// Brings a bench back.
///
/// # Errors
/// [`StateError`] if the file cannot be removed.
pub fn back_online(state: &StateFolder, key: &BenchKey) -> Result<(), StateError> {
    let _lock = state.lock(key)?;
    folder::remove(&state.file(key, ENDING))
}

#[cfg(test)]
mod tests {
    use super::super::key::some_key;
    use super::*;

    #[test]
    fn a_bench_is_offline_until_it_is_brought_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = StateFolder::at(folder.path().join("state")).expect("it can be made");
        let key = some_key();
        assert_eq!(offline(&state, &key).expect("readable"), None);
        let first = Offline::now(&key, "the golden image's mean is 71 ns, not 49.9", "nights/x");
        set_offline(&state, &key, &first).expect("writable");
        set_offline(&state, &key, &Offline::now(&key, "something that followed", "")).expect("writable");
        assert_eq!(offline(&state, &key).expect("readable"), Some(first), "the first reason counts");
        back_online(&state, &key).expect("writable");
        assert_eq!(offline(&state, &key).expect("readable"), None);
        back_online(&state, &key).expect("not being there is no error");
    }

    #[test]
    fn a_file_that_cannot_be_understood_does_not_put_a_bench_online() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = StateFolder::at(folder.path().to_owned()).expect("it is there");
        std::fs::write(state.file(&some_key(), ENDING), b"\xff\x00").expect("it fits");
        let error = offline(&state, &some_key()).expect_err("it is damaged");
        assert!(error.to_string().contains("not what ppsrig writes"), "{error}");
        back_online(&state, &some_key()).expect("a person may clear it");
        assert_eq!(offline(&state, &some_key()).expect("readable"), None);
    }
}
