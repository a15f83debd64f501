//! Objects as files of a folder: each is one file under its path, which other programs can read as well.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use tenon_service::ServicesError;
use tenon_service::http::body::Incoming;
use tenon_service::store_error::StoreFailure;
use tokio::sync::{Mutex, RwLock};

use super::folder_errors::{IS_FOLDER, of_object};
use super::open_uploads::Uploads;
use super::path::{RESERVED, is_staged};
use super::staged::{Staged, UPLOADS};
use super::types::{Opened, Types};
use super::{BlobStore, Conditions, Kept, ListOf, Meta, Object, ObjectPath, Page, Signer, StorageError, Written, read};

/// The age at which a file of an upload counts as abandoned by a killed process.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Limit in bytes of an upload in memory; a larger one goes to a temporary file first.
const HELD_BYTES: usize = 1024 * 1024;

/// Limit of concurrent writes to different paths.
const STRIPES: usize = 64;

/// A folder. One process at a time may write to it through this.
#[derive(Clone)]
pub(crate) struct FolderStore {
    root: Arc<PathBuf>,
    files: Arc<LocalFileSystem>,
    types: Types,
    pub(super) uploads: Uploads,
    /// The key that signs addresses.
    key: Arc<[u8]>,
    locks: Arc<Locks>,
    /// Locks the folder against other sidecars, until it is dropped.
    _lock: Option<Arc<File>>,
}

struct Locks {
    /// Writers share it; a delete has it exclusively, because it removes empty folders into which another request may
    /// just write.
    folders: RwLock<()>,
    /// One writer for each path, so that a checked condition stays true, and a file matches its type.
    paths: [Mutex<()>; STRIPES],
}

impl Locks {
    fn path(&self, path: &ObjectPath) -> &Mutex<()> {
        &self.paths[stripe(path)]
    }
}

fn stripe(path: &ObjectPath) -> usize {
    let hash = path.as_str().bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
    hash % STRIPES
}

impl FolderStore {
    /// Opens or creates a folder that no other sidecar serves.
    pub(crate) fn open_alone(root: &Path, cache: Option<&Path>) -> Result<Self, ServicesError> {
        let fail = |reason: String| ServicesError::Folder { path: root.to_path_buf(), reason };
        fs::create_dir_all(root).map_err(|error| fail(error.to_string()))?;
        let lock = File::create(root.join(format!("{RESERVED}lock"))).map_err(|error| fail(error.to_string()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { _lock: Some(Arc::new(lock)), ..Self::open(root, cache)? }),
            Err(TryLockError::WouldBlock) => Err(fail("another sidecar serves this folder".to_owned())),
            Err(TryLockError::Error(error)) => Err(fail(error.to_string())),
        }
    }

    /// Opens or creates a folder.
    pub(crate) fn open(root: &Path, cache: Option<&Path>) -> Result<Self, ServicesError> {
        let fail = |reason: String| ServicesError::Folder { path: root.to_path_buf(), reason };
        fs::create_dir_all(root).map_err(|error| fail(error.to_string()))?;
        let files = LocalFileSystem::new_with_prefix(root).map_err(|error| fail(error.to_string()))?;
        let (types, Opened { key, since, uploads }) = Types::open(root, cache)?;
        if let Some(before) = SystemTime::now().checked_sub(ABANDONED) {
            sweep(root, since, before);
        }
        Ok(Self {
            root: Arc::new(root.to_path_buf()),
            files: Arc::new(files.with_automatic_cleanup(true).with_fsync(true)),
            types,
            uploads,
            key: key.into(),
            locks: Arc::new(Locks { folders: RwLock::default(), paths: std::array::from_fn(|_| Mutex::default()) }),
            _lock: None,
        })
    }

    async fn head_unlocked(&self, path: &ObjectPath) -> Result<(Meta, bool), StorageError> {
        let got = read::get(&*self.files, path, None, None, true).await.map_err(of_object)?;
        let mut meta = read::meta(&got.meta, Kept::default());
        let known = self.types.get(path.as_str(), &meta.etag).await?;
        let is_known = known.is_some();
        meta.kept = known.unwrap_or_default();
        Ok((meta, is_known))
    }

    /// The object that a write replaces, if it meets the conditions.
    async fn allowed(&self, path: &ObjectPath, conditions: &Conditions) -> Result<Option<Meta>, StorageError> {
        let current = match self.head_unlocked(path).await {
            Ok((meta, _)) => Some(meta),
            Err(StorageError::NotFound) => None,
            Err(error) => return Err(error),
        };
        if conditions.allow_write(current.as_ref()) { Ok(current) } else { Err(StorageError::Precondition) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes an object from a complete file.
    pub(super) async fn publish(
        &self,
        path: &ObjectPath,
        staged: Staged,
        kept: &Kept,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let _folders = self.locks.folders.read().await;
        let _path = self.locks.path(path).lock().await;
        let current = self.allowed(path, conditions).await?;
        let etag = self.put_in_place(path, staged, kept).await?;
        Ok(Written { created: current.is_none(), etag })
    }

    /// Moves a complete file to an object's path, and returns its ETag. The caller has the locks.
    async fn put_in_place(&self, path: &ObjectPath, staged: Staged, kept: &Kept) -> Result<String, StorageError> {
        staged.publish(self.file_of(path)?).await?;
        let etag = read::get(&*self.files, path, None, None, true).await?.meta.e_tag.unwrap_or_default();
        self.types.set(path.as_str(), &etag, kept).await?;
        Ok(etag)
    }

    /// The file of an object.
    fn file_of(&self, path: &ObjectPath) -> Result<PathBuf, StorageError> {
        self.files.path_to_filesystem(path.as_path()).map_err(of_object)
    }
}

impl BlobStore for FolderStore {
    async fn head(&self, path: &ObjectPath) -> Result<Meta, StorageError> {
        let (meta, known) = self.head_unlocked(path).await?;
        if known {
            return Ok(meta);
        }
        // Waits for a writer that has stored the file and not yet its type.
        let _writer = self.locks.path(path).lock().await;
        self.head_unlocked(path).await.map(|(meta, _)| meta)
    }

    async fn read(
        &self,
        path: &ObjectPath,
        range: Option<std::ops::Range<u64>>,
        etag: Option<String>,
    ) -> Result<Object, StorageError> {
        let got = read::get(&*self.files, path, range, etag, false).await.map_err(of_object)?;
        let etag = got.meta.e_tag.clone().unwrap_or_default();
        let known = match self.types.get(path.as_str(), &etag).await? {
            Some(known) => Some(known),
            None => {
                let _writer = self.locks.path(path).lock().await;
                self.types.get(path.as_str(), &etag).await?
            }
        };
        let meta = read::meta(&got.meta, known.unwrap_or_default());
        Ok(Object { meta, body: got.into_stream().boxed() })
    }

    async fn write(
        &self,
        path: &ObjectPath,
        mut upload: Incoming,
        kept: &Kept,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let first = upload.at_least(HELD_BYTES).await?;
        if !upload.is_over() {
            let staged = Staged::of(&self.root.join(UPLOADS), &first, upload, |_| {}).await?;
            return self.publish(path, staged, kept, conditions).await;
        }
        let _folders = self.locks.folders.read().await;
        let _path = self.locks.path(path).lock().await;
        let current = self.allowed(path, conditions).await?;
        let mode = if current.is_some() { PutMode::Overwrite } else { PutMode::Create };
        let options = PutOptions { mode, ..PutOptions::default() };
        let put = self.files.put_opts(path.as_path(), first.into(), options).await.map_err(|error| match error {
            // There is no such object, but a folder of that name.
            object_store::Error::AlreadyExists { .. } => StorageError::Conflict(IS_FOLDER),
            other => of_object(other),
        })?;
        let etag = put.e_tag.unwrap_or_default();
        self.types.set(path.as_str(), &etag, kept).await?;
        Ok(Written { created: current.is_none(), etag })
    }

    async fn delete(&self, path: &ObjectPath, conditions: &Conditions) -> Result<(), StorageError> {
        let _folders = self.locks.folders.write().await;
        let (meta, _) = self.head_unlocked(path).await?;
        if !conditions.allow_write(Some(&meta)) {
            return Err(StorageError::Precondition);
        }
        self.files.delete(path.as_path()).await?;
        self.types.remove(path.as_str()).await
    }

    async fn copy(&self, from: &ObjectPath, to: &ObjectPath, conditions: &Conditions) -> Result<Written, StorageError> {
        let _folders = self.locks.folders.read().await;
        // In one order for all, so that two copies never deadlock.
        let (first, second) = (stripe(from).min(stripe(to)), stripe(from).max(stripe(to)));
        let _first = self.locks.paths[first].lock().await;
        let _second = if first == second { None } else { Some(self.locks.paths[second].lock().await) };
        let (source, _) = self.head_unlocked(from).await?;
        let current = self.allowed(to, conditions).await?;
        // A file of its own: with a hard link, both objects would have one time, and a second copy would change nothing.
        let copied = Staged::joined(&self.root, vec![self.file_of(from)?]).await;
        let staged = copied.map_err(|error| match error {
            StorageError::NoUpload => StorageError::NotFound,
            other => other,
        })?;
        let etag = self.put_in_place(to, staged, &source.kept).await?;
        Ok(Written { created: current.is_none(), etag })
    }

    async fn list(&self, page: ListOf<'_>) -> Result<Page, StorageError> {
        let mut entries = read::list(&*self.files, &page, |path| path.as_ref().starts_with(RESERVED)).await?;
        let next = read::cut(&mut entries, page.limit);
        let objects: Vec<_> = entries.values().flatten().collect();
        let types = self.types.all(objects.iter().map(|meta| meta.location.to_string()).collect()).await?;
        let with_type = |meta: &&object_store::ObjectMeta| {
            let known = types.get(meta.location.as_ref()).filter(|(etag, _)| Some(etag) == meta.e_tag.as_ref());
            read::meta(meta, known.map(|(_, kept)| kept.clone()).unwrap_or_default())
        };
        let objects = objects.iter().map(with_type).collect();
        Ok(Page { objects, prefixes: read::prefixes(entries), next })
    }

    fn signer(&self) -> Signer<'_> {
        Signer::Service(&self.key)
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        tokio::fs::metadata(&*self.root).await.map(drop).map_err(StoreFailure::new)
    }
}

/// Deletes abandoned files of uploads: those named `object#1`, or in the folder of large uploads, written between the
/// two times. Older files were in the folder before it was a store, and newer ones may be uploads of another process.
fn sweep(folder: &Path, since: SystemTime, before: SystemTime) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            sweep(&entry.path(), since, before);
        } else if (folder.ends_with(UPLOADS) || is_staged(&entry.file_name().to_string_lossy()))
            && meta.modified().is_ok_and(|modified| (since..before).contains(&modified))
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!("storage: a file of a killed upload could not be deleted: {error}");
        }
    }
}
