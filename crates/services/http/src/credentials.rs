//! Headers with values from files, such as an API's key.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use axum::http::{HeaderName, HeaderValue};
use tenon_service::ServicesError;

/// Limit of a value in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Headers of the connection, which no file may set.
const RESERVED: [&str; 8] =
    ["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "expect"];

/// A header that each request gets.
pub(super) struct HeaderFile {
    pub(super) name: HeaderName,
    file: PathBuf,
    read: Mutex<Read>,
}

struct Read {
    value: HeaderValue,
    changed: SystemTime,
}

impl HeaderFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// An invalid name or file; the error never contains the file's content.
    pub(super) fn new(name: &str, file: PathBuf) -> Result<Self, ServicesError> {
        let wrong = |text: String| Err(ServicesError::Config(text));
        let Ok(name) = name.parse::<HeaderName>() else { return wrong(format!("{name:?} is not a header's name")) };
        if RESERVED.contains(&name.as_str()) {
            return wrong(format!("the header {name} belongs to the connection"));
        }
        let changed = modified(&file)?;
        let value = read(&name, &file)?;
        Ok(Self { name, file, read: Mutex::new(Read { value, changed }) })
    }

    /// The value. A changed file is read again, so that a credential can be replaced while requests run.
    ///
    /// # Errors
    ///
    /// A file that is gone, or has no value any more.
    pub(super) fn value(&self) -> Result<HeaderValue, ServicesError> {
        let changed = modified(&self.file)?;
        let mut last = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if last.changed != changed {
            *last = Read { value: read(&self.name, &self.file)?, changed };
        }
        Ok(last.value.clone())
    }
}

fn modified(file: &Path) -> Result<SystemTime, ServicesError> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).map_err(|error| unreadable(file, &error))
}

fn read(name: &HeaderName, file: &Path) -> Result<HeaderValue, ServicesError> {
    let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    let text = text.trim();
    let value = HeaderValue::from_str(text).ok().filter(|_| !text.is_empty() && text.len() <= MAX_BYTES);
    let Some(mut value) = value else {
        let place = file.display();
        let text = format!("{place} has no value for the header {name}: one line of text is needed");
        return Err(ServicesError::Config(text));
    };
    value.set_sensitive(true);
    Ok(value)
}

fn unreadable(file: &Path, error: &std::io::Error) -> ServicesError {
    ServicesError::Config(format!("{} cannot be read: {error}", file.display()))
}
