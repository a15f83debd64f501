//! Failures of files and folders, as errors of storage.

use std::error::Error;
use std::io::{self, ErrorKind};

use super::StorageError;

/// The answer to a write at the path of a folder.
pub(super) const IS_FOLDER: &str = "this path is a folder of other objects";

/// An error without a meaning for clients.
pub(super) fn failed(error: io::Error) -> StorageError {
    StorageError::Internal(format!("storage: {error}"))
}

/// The error of an upload's file, which another request may have deleted.
pub(super) fn gone(error: io::Error) -> StorageError {
    if error.kind() == ErrorKind::NotFound { StorageError::NoUpload } else { failed(error) }
}

/// The error of moving a file to an object's path.
pub(super) fn not_moved(error: io::Error) -> StorageError {
    conflict(&error).unwrap_or_else(|| failed(error))
}

/// The error of an operation on an object's file.
pub(super) fn of_object(error: object_store::Error) -> StorageError {
    let found = match &error {
        object_store::Error::Generic { source, .. } => cause(&**source).and_then(conflict),
        _ => None,
    };
    found.unwrap_or_else(|| error.into())
}

/// The conflict behind an error: a file cannot replace a folder, nor the other way round.
fn conflict(error: &io::Error) -> Option<StorageError> {
    match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            Some(StorageError::Conflict("a part of this path is an object, and so no folder"))
        }
        ErrorKind::IsADirectory => Some(StorageError::Conflict(IS_FOLDER)),
        _ => None,
    }
}

/// The system's error among the causes of another one.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::local::LocalFileSystem;
    use object_store::path::Path;
    use object_store::{ObjectStore, PutPayload};

    #[tokio::test]
    async fn a_conflict_is_known_by_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let files = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
        let put = async |path: &str| {
            files.put_opts(&Path::from(path), PutPayload::new(), object_store::PutOptions::default()).await
        };
        put("a").await.unwrap();
        assert!(matches!(of_object(put("a/c").await.unwrap_err()), StorageError::Conflict(text) if text != IS_FOLDER));
        assert!(matches!(of_object(put("b").await.unwrap_err()), StorageError::Conflict(IS_FOLDER)));
    }

    #[test]
    fn the_name_of_a_path_makes_no_conflict() {
        let source = io::Error::other("no room for \"Is a directory/File exists\"");
        let error = object_store::Error::Generic { store: "test", source: Box::new(source) };
        assert!(matches!(of_object(error), StorageError::Internal(_)));
        let moved = io::Error::new(ErrorKind::StorageFull, "Not a directory");
        assert!(matches!(not_moved(moved), StorageError::Internal(_)));
    }
}
