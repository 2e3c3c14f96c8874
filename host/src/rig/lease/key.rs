//! What makes two bench files one bench. Not where the file lies: a copy of it, or another one with other limits, is still
//! the same board behind the same probe, and two runs on it would disturb each other.

use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::bench_file::{BenchFile, Selector};
use crate::rig::image::hex;

/// A bench, by what it is:
/// * its probe, where the selector has a serial number, for there is one such probe in the world;
/// * else its probe and its link on this host, since several probes can have the same vendor and product;
/// * the bench file itself, its path canonical, where probe or link lie in `@run`: each run then makes its own, and nothing
///   else tells such benches apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BenchKey(String);

impl BenchKey {
    /// The key of a bench on the host of that name.
    #[must_use]
    pub fn of(file: &Path, bench: &BenchFile, host: &str) -> Self {
        let board = &bench.board;
        let in_run = |text: &str| text.starts_with("@run") || text.contains(":@run");
        if in_run(&board.probe) || in_run(&board.link) {
            let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
            return Self(format!("bench file {} on {host}", file.display()));
        }
        // In one spelling, so that `20B7:9db1:X` and `20b7:9DB1:X` are one probe.
        let selector: Option<Selector> = board.probe.parse().ok();
        let probe = selector.as_ref().map_or_else(|| board.probe.clone(), ToString::to_string);
        match selector.and_then(|selector| selector.serial) {
            // A socket is on this host alone.
            Some(serial) if !serial.starts_with("unix:") => Self(format!("probe {probe}")),
            _ => {
                let place =
                    bench.labgrid.as_ref().map(|labgrid| format!(" of labgrid place {}", labgrid.place));
                let link = board.link.clone() + &place.unwrap_or_default();
                Self(format!("probe {probe} with link {link} on {host}"))
            }
        }
    }

    /// The part of a file's name that belongs to this bench.
    pub(super) fn file_name(&self) -> String {
        format!("bench-{}", &hex(&Sha256::digest(&self.0))[..16])
    }
}

impl fmt::Display for BenchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
pub(super) fn some_key() -> BenchKey {
    BenchKey("probe 1366:1015:000770000001".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(probe: &str, link: &str) -> BenchFile {
        let text = include_str!("../../../../fixtures/benches/virtual.toml");
        let text = text.replace("20b7:9db1:unix:@run/swd.sock", probe).replace("@run/board.tty", link);
        crate::bench_file::parse(&text, Path::new("/repo/fixtures/benches")).expect("it is valid")
    }

    fn key(file: &str, probe: &str, link: &str, host: &str) -> BenchKey {
        BenchKey::of(Path::new(file), &bench(probe, link), host)
    }

    #[test]
    fn a_probe_with_a_serial_number_is_the_bench_wherever_its_file_lies() {
        let one = key("/a/bench.toml", "0D28:0204:97", "/dev/ttyACM0", "lab3");
        assert_eq!(one, key("/b/other.toml", "0d28:0204:97", "/dev/serial/by-id/x", "lab4"));
        assert_ne!(one, key("/a/bench.toml", "0d28:0204:98", "/dev/ttyACM0", "lab3"));
        assert_eq!(one.to_string(), "probe 0d28:0204:97");
    }

    #[test]
    fn a_probe_without_one_is_told_apart_by_its_link_and_host() {
        let one = key("/a/bench.toml", "0d28:0204", "/dev/ttyACM0", "lab3");
        assert_eq!(one, key("/b/bench.toml", "0d28:0204", "/dev/ttyACM0", "lab3"));
        assert_ne!(one, key("/a/bench.toml", "0d28:0204", "/dev/ttyACM1", "lab3"));
        assert_ne!(one, key("/a/bench.toml", "0d28:0204", "/dev/ttyACM0", "lab4"));
    }

    #[test]
    fn a_bench_that_each_run_makes_for_itself_is_its_file() {
        let (probe, link) = ("20b7:9db1:unix:@run/swd.sock", "@run/board.tty");
        let one = key("/a/virtual.toml", probe, link, "lab3");
        assert_eq!(one.to_string(), "bench file /a/virtual.toml on lab3");
        assert_ne!(one, key("/b/virtual.toml", probe, link, "lab3"));
    }
}
