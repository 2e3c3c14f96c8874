//! Brings a bench back online, if the check has found it well: what that says, for people and for machines.

use crate::command::bench::Bench;
use crate::rig::lease::offline::Offline;

/// What became of it.
pub(super) struct Back {
    file: String,
    /// Why the bench was offline, if it was; what is wrong with that where it cannot be read.
    was: Option<Result<Offline, String>>,
    is_online: bool,
}

/// Brings the bench back if the check ended with 0, or by force.
///
/// # Errors
/// If its state cannot be changed.
pub(super) fn bring_back(bench: &Bench, exit_code: u8, force: bool) -> anyhow::Result<Back> {
    let was = bench.offline().map_err(|error| format!("{error:#}")).transpose();
    let is_online = was.is_none() || exit_code == 0 || force;
    if was.is_some() && is_online {
        bench.back_online()?;
    }
    Ok(Back { file: bench.file.display().to_string(), was, is_online })
}

impl Back {
    pub(super) fn text(&self) -> String {
        let was = match &self.was {
            None => return "\nthe bench was not offline\n".to_owned(),
            Some(Ok(offline)) => offline.to_string(),
            Some(Err(problem)) => format!("offline, nobody knows why ({problem})"),
        };
        if self.is_online {
            return format!("\nthe bench is back online; it was {was}\n");
        }
        format!(
            "\nthe bench stays {was}\nwhen all of the above is well, or is known to do no harm: ppsrig check {} --back-online --force\n",
            self.file
        )
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let was = self.was.as_ref().map(|was| match was {
            Ok(offline) => serde_json::json!(offline),
            Err(problem) => serde_json::json!({ "problem": problem }),
        });
        serde_json::json!({ "online": self.is_online, "was_offline": was })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_the_bench_says_who_took_it_offline_why_and_since_when() {
        let offline = Offline {
            bench: "a bench".to_owned(),
            reason: "the golden image gives 71 ns".to_owned(),
            since_utc: "2026-12-01T02:00:00Z".to_owned(),
            night: "nights/2026-12-01T01-00-00Z-plan".to_owned(),
            by: "alice on lab3".to_owned(),
        };
        let back = |is_online| Back { file: "b.toml".to_owned(), was: Some(Ok(offline.clone())), is_online };
        for (is_online, begins) in
            [(true, "\nthe bench is back online; it was offline"), (false, "\nthe bench stays offline")]
        {
            let text = back(is_online).text();
            assert!(text.starts_with(begins), "{text}");
            for part in ["alice on lab3", "71 ns", "2026-12-01T02:00:00Z", "-plan"] {
                assert!(text.contains(part), "{text}");
            }
        }
        assert!(back(false).text().contains("check b.toml --back-online --force"));
        assert_eq!(back(true).json()["was_offline"]["by"], "alice on lab3");
        let never = Back { was: None, ..back(true) };
        assert!(never.text().contains("was not offline") && never.json()["was_offline"].is_null());
    }
}
