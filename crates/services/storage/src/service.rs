//! Storage as a kind of service.

use object_store::aws::AmazonS3Builder;
use serde::Deserialize;
use tenon_service::kind::{Dev, DevOpening, Flag, FlagValue, Kind, Opened, Opening, Store, check, path_of, unknown};
use tenon_service::redis_link::install_cryptography;
use tenon_service::{Limits, ServicesError, sqlite_file};

use super::{BlobStore, FolderStore, S3Store, routes};

/// The kind.
pub static KIND: Kind = Kind {
    name: "storage",
    summary: "objects from S3 or a folder",
    variable: "STORAGE_URL",
    flags: &[Flag::new(
        "publicUrl",
        "public-url",
        FlagValue::Text,
        "Where clients reach a folder's sidecar, for the URLs that it signs",
    )],
    check: check::<Options>,
    stores: &[
        Store { schemes: &["s3://"], example: "s3://bucket", open: |opening| Box::pin(s3(opening)) },
        Store { schemes: &["file:"], example: "file:/path/to/folder", open: |opening| Box::pin(folder(opening)) },
    ],
    dev: Some(Dev {
        name: "storage",
        open: |DevOpening { path, cache, limits, .. }| {
            Ok(routes(FolderStore::open(path, cache)?, None, limits.clone()))
        },
    }),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    /// A folder's address for outside clients, such as `https://files.example.com`, for signed URLs.
    public_url: Option<String>,
}

async fn folder(opening: Opening) -> Result<Opened, ServicesError> {
    let Options { public_url } = opening.options()?;
    let public_url = public_url.map(checked).transpose()?;
    let Opening { url, files, limits, .. } = opening;
    let path = path_of(&url)?.to_path_buf();
    let cache = files.cache;
    let store = sqlite_file::opened(move || FolderStore::open_alone(&path, cache.as_deref())).await?;
    Ok(opened(store, public_url, limits))
}

async fn s3(opening: Opening) -> Result<Opened, ServicesError> {
    if opening.options::<Options>()?.public_url.is_some() {
        return Err(ServicesError::Config("--public-url is for a folder: S3 signs URLs of its own".to_string()));
    }
    let Opening { url, limits, .. } = opening;
    let fail = |reason: String| ServicesError::Backend { what: "S3", reason };
    let bucket = url.strip_prefix("s3://").unwrap_or_default();
    if bucket.is_empty() || bucket.contains('/') {
        return Err(unknown("s3://bucket, without a path"));
    }
    install_cryptography();
    let store =
        AmazonS3Builder::from_env().with_bucket_name(bucket).build().map_err(|error| fail(error.to_string()))?;
    let store = S3Store::new(store).map_err(|error| fail(error.to_string()))?;
    store.ping().await.map_err(|error| fail(error.to_string()))?;
    Ok(opened(store, None, limits))
}

fn opened<S: BlobStore>(store: S, public_url: Option<String>, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, public_url, limits), |store| async move { store.ping().await })
}

/// The base of signed URLs, without a slash at the end.
fn checked(public_url: String) -> Result<String, ServicesError> {
    let rest = public_url.strip_prefix("https://").or_else(|| public_url.strip_prefix("http://"));
    let is_base = rest.is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or("");
        !host.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>@".contains(&byte))
    });
    if is_base {
        Ok(public_url.trim_end_matches('/').to_owned())
    } else {
        Err(ServicesError::Config("--public-url takes an address such as https://files.example.com".to_string()))
    }
}
