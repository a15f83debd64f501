//! Paths of objects: text of segments, none of which leads out of the store.

use object_store::path::Path;
use tenon_service::http::problem::Problem;

/// The longest segment: file systems allow 255 bytes, some of which are needed while a file is written.
const MAX_SEGMENT_BYTES: usize = 240;

/// The prefix of the store's own files in a folder.
pub(crate) const RESERVED: &str = ".tenon-";

/// Reports whether a file has the name of an unfinished upload, such as `a.png#1`.
pub(crate) fn is_staged(name: &str) -> bool {
    name.rsplit_once('#')
        .is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The path of an object, such as `images/a.png`. It means the same in a folder and in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectPath(Path);

impl ObjectPath {
    /// Checks decoded bytes.
    pub(crate) fn new(bytes: &[u8], max_bytes: usize) -> Result<Self, Problem> {
        let wrong = |detail: &str| Err(Problem::bad_request(detail));
        let Ok(text) = std::str::from_utf8(bytes) else { return wrong("a path must be text in UTF-8") };
        if text.is_empty() {
            return wrong("a path must not be empty");
        }
        if text.len() > max_bytes {
            return Err(Problem::bad_request(format!("a path must not be longer than {max_bytes} bytes")));
        }
        if text.chars().any(|c| c.is_control()) {
            return wrong("a path must not have control characters");
        }
        for segment in text.split('/') {
            if segment.is_empty() || segment == "." || segment == ".." {
                return wrong("no segment of a path may be empty, `.` or `..`");
            }
            if segment.len() > MAX_SEGMENT_BYTES {
                return Err(Problem::bad_request(format!(
                    "a segment of a path must not be longer than {MAX_SEGMENT_BYTES} bytes"
                )));
            }
        }
        if text.starts_with(RESERVED) || is_staged(text) {
            return wrong("paths that begin with `.tenon-`, or end in `#` and a number, are kept for the store itself");
        }
        Path::parse(text).map(Self).or_else(|_| wrong("this is not a path of an object"))
    }

    pub(crate) fn as_path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_nowhere_else() {
        for path in ["a", "a/b.txt", "a b/é🎉", "a%2Fb", "..a/b..", "a\\..\\b", "a#b", "C:/x", "~/x"] {
            assert_eq!(ObjectPath::new(path.as_bytes(), 1024).unwrap().as_str(), path);
        }
        for path in
            ["", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/.", "a\0b", "a\nb", ".tenon-types.db", "a#1"]
        {
            assert!(ObjectPath::new(path.as_bytes(), 1024).is_err(), "{path}");
        }
        assert!(ObjectPath::new(b"\xff", 1024).is_err());
        assert!(ObjectPath::new("a".repeat(241).as_bytes(), 1024).is_err());
        assert!(ObjectPath::new("a/".repeat(512).as_bytes(), 1023).is_err());
    }
}
