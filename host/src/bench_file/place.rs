//! Where things are: chips and paths as a bench file writes them, and `@run` in them.

use std::path::{Component, Path, PathBuf};

use super::Selector;

/// What stands for the scratch folder of the run.
pub(super) const RUN: &str = "@run";
/// A Unix socket's path must fit into `sockaddr_un`: 108 bytes with the closing zero.
pub(super) const SOCKET_PATH_MAX: usize = 107;

/// Where the description of the chip comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chip {
    /// probe-rs knows it by this name.
    Registry(String),
    /// A description of one's own.
    Description {
        /// probe-rs target description, YAML.
        file: PathBuf,
        /// The chip's name in it.
        name: String,
    },
}

impl Chip {
    /// Reads a registry name or `FILE:NAME`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.rsplit_once(':') {
            None if text.is_empty() || text.contains('/') => {
                Err(format!("`{text}` is neither a probe-rs chip name nor FILE:NAME"))
            }
            None => Ok(Self::Registry(text.to_owned())),
            Some((file, name)) if file.is_empty() || name.is_empty() || name.contains('/') => {
                Err(format!("`{text}` is not of the form FILE:NAME"))
            }
            Some((file, name)) => Ok(Self::Description { file: file.into(), name: name.to_owned() }),
        }
    }
}

/// Whether a text begins with `@run` as its first path component.
pub(super) fn is_run(text: &str) -> bool {
    text.strip_prefix(RUN).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path of the bench file: absolute ones and those in `@run` stay, others are relative to the bench file's folder.
///
/// # Errors
/// A sentence that says what is wrong with the text.
pub(super) fn located(text: &str, folder: &Path) -> Result<String, String> {
    if text.is_empty() {
        return Err("a path is empty".to_owned());
    }
    if text.starts_with('@') {
        let known = is_run(text).then(|| text.to_owned());
        return known
            .ok_or_else(|| format!("`{text}`: the only placeholder is `{RUN}`, as in `{RUN}/board.tty`"));
    }
    // Only leading `..` are taken off: the folder is free of links, what follows need not be.
    let mut located = folder.to_path_buf();
    let mut leading = true;
    for component in Path::new(text).components() {
        match component {
            Component::ParentDir if leading => {
                located.pop();
            }
            Component::CurDir => {}
            other => {
                leading = false;
                located.push(other);
            }
        }
    }
    // Both parts were text, so this loses nothing.
    Ok(located.to_string_lossy().into_owned())
}

/// A selector with the path of a Unix socket in it, if there is one, located.
pub(super) fn located_selector(text: &str, folder: &Path) -> Result<String, String> {
    let mut selector: Selector = text.parse().map_err(|error: super::SelectorError| error.to_string())?;
    if let Some(path) = selector.serial.as_deref().and_then(|serial| serial.strip_prefix("unix:")) {
        let path = located(path, folder)?;
        check_socket_path(&path)?;
        selector.serial = Some(format!("unix:{path}"));
    }
    Ok(selector.to_string())
}

/// Refuses a Unix socket's path that is too long for the kernel.
pub(super) fn check_socket_path(path: &str) -> Result<(), String> {
    if path.len() > SOCKET_PATH_MAX {
        let length = path.len();
        return Err(format!(
            "the Unix socket's path `{path}` has {length} bytes, the system allows {SOCKET_PATH_MAX}; use a shorter folder"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_have_two_forms() {
        assert_eq!(Chip::parse("nRF52840_xxAA"), Ok(Chip::Registry("nRF52840_xxAA".to_owned())));
        let own = Chip::Description { file: "/a:b/c.yaml".into(), name: "A53".to_owned() };
        assert_eq!(Chip::parse("/a:b/c.yaml:A53"), Ok(own));
        for text in ["", ":A53", "c.yaml:", "../boards/virt.yaml", "c:/boards"] {
            assert!(Chip::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_bench_files_folder() {
        let folder = Path::new("/repo/fixtures/benches");
        for (text, expected) in [
            ("../boards/a.yaml", "/repo/fixtures/boards/a.yaml"),
            ("./a", "/repo/fixtures/benches/a"),
            ("x/../y", "/repo/fixtures/benches/x/../y"),
            ("/dev/ttyACM0", "/dev/ttyACM0"),
            ("@run/board.tty", "@run/board.tty"),
            ("../../../../../a", "/a"),
        ] {
            assert_eq!(located(text, folder).unwrap(), expected);
        }
        assert!(located("@runner/a", folder).is_err());
        assert!(located("", folder).is_err());
    }

    #[test]
    fn a_socket_path_that_the_kernel_cannot_hold_is_refused() {
        let folder = Path::new("/bench");
        assert_eq!(
            located_selector("20B7:9db1:unix:s.sock", folder).unwrap(),
            "20b7:9db1:unix:/bench/s.sock"
        );
        let fits = format!("1:2:unix:/{}", "a".repeat(106));
        assert!(located_selector(&fits, folder).is_ok());
        let too_long = format!("1:2:unix:/{}", "a".repeat(107));
        assert!(located_selector(&too_long, folder).unwrap_err().contains("108 bytes"));
    }
}
