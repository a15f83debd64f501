//! Values that a configuration refers to: `env:NAME` and `file:path`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The largest file of a secret, in bytes. A key with its chain fits many times.
const MAX_BYTES: u64 = 64 * 1024;

/// The reason why there is no value. It names the place and never the value.
#[derive(Debug, Error)]
pub(crate) enum ValueError {
    #[error("it must be env:NAME or file:path")]
    NoPlace,
    #[error("the environment variable {0} is not set")]
    NotSet(String),
    #[error("the environment variable {0} is empty")]
    EmptyVariable(String),
    #[error("the environment variable {0} is not text")]
    NoTextVariable(String),
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("{} is larger than {MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is empty", .0.display())]
    EmptyFile(PathBuf),
    #[error("{} is not text", .0.display())]
    NoTextFile(PathBuf),
}

/// Reads `env:NAME` or `file:path`, whose path is relative to `folder`.
///
/// # Errors
///
/// Without a value.
pub(crate) fn value_at(source: &str, folder: &Path) -> Result<String, ValueError> {
    if let Some(name) = source.strip_prefix("env:") {
        return match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(value),
            Ok(_) => Err(ValueError::EmptyVariable(name.to_string())),
            Err(std::env::VarError::NotPresent) => Err(ValueError::NotSet(name.to_string())),
            Err(std::env::VarError::NotUnicode(_)) => Err(ValueError::NoTextVariable(name.to_string())),
        };
    }
    let Some(path) = source.strip_prefix("file:") else {
        return Err(ValueError::NoPlace);
    };
    text_of(&folder.join(path))
}

/// The text of a file, without the line end that editors leave.
///
/// # Errors
///
/// As [`value_at`].
pub(crate) fn text_of(path: &Path) -> Result<String, ValueError> {
    let unreadable = |error| ValueError::Unreadable(path.to_path_buf(), error);
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.len() > MAX_BYTES {
        return Err(ValueError::TooLarge(path.to_path_buf()));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    // As editors write it, and as Tenon's command leaves it out.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let value = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    if value.contains('\0') {
        return Err(ValueError::NoTextFile(path.to_path_buf()));
    }
    if value.is_empty() { Err(ValueError::EmptyFile(path.to_path_buf())) } else { Ok(value.to_string()) }
}

/// The values of secrets by name. Each problem is added to `problems`, after the name of its section and of the secret.
pub(crate) fn secrets(
    sources: &BTreeMap<String, String>,
    folder: &Path,
    section: &str,
    problems: &mut Vec<String>,
) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (name, source) in sources {
        match value_at(source, folder) {
            Ok(value) => drop(values.insert(name.clone(), value)),
            Err(problem) => problems.push(format!("{section}.{name}: {problem}")),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_variables_and_files_and_problems_have_no_value() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "hidden\r\n").unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        std::fs::write(folder.path().join("large"), vec![b'x'; 65 * 1024]).unwrap();
        assert_eq!(value_at("file:key", folder.path()).unwrap(), "hidden");
        assert_eq!(value_at("env:CARGO_PKG_NAME", folder.path()).unwrap(), "tenon-server");
        for (source, problem) in [
            ("env:TENON_NOT_SET", "the environment variable TENON_NOT_SET is not set"),
            ("file:empty", "empty is empty"),
            ("file:large", "is larger than 65536 bytes"),
            ("file:missing", "cannot read"),
            ("hidden", "it must be env:NAME or file:path"),
        ] {
            let said = value_at(source, folder.path()).unwrap_err().to_string();
            assert!(said.contains(problem), "{source}: {said}");
        }
        let sources = [("A", "file:key"), ("B", "env:TENON_NOT_SET")].map(|(name, at)| (name.into(), at.into()));
        let mut problems = Vec::new();
        let values = secrets(&sources.into(), folder.path(), "secrets", &mut problems);
        assert_eq!(values.into_iter().collect::<Vec<_>>(), [("A".to_string(), "hidden".to_string())]);
        assert_eq!(problems, ["secrets.B: the environment variable TENON_NOT_SET is not set"]);
    }
}
