//! A sidecar in this process, on a folder of its own, for tests of routes.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{InProcessSidecar, Limits, SidecarSettings};

/// The headers of a request without any.
pub(crate) const NONE: [(&str, &str); 0] = [];

/// A sidecar with a store in a temporary folder.
pub(crate) struct Tested {
    sidecar: InProcessSidecar,
    pub(crate) folder: Arc<TempDir>,
}

/// An answer whose body has come.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answered {
    /// A header's text, or an empty one.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Tested {
    /// Opens a sidecar of this kind: storage on a folder, others on SQLite.
    pub(crate) async fn open(kind: &str) -> Self {
        Self::open_with(kind, json!({})).await
    }

    /// Opens a sidecar with options.
    pub(crate) async fn open_with(kind: &str, options: Value) -> Self {
        Self::open_in(Arc::new(tempfile::tempdir().unwrap()), kind, options, Limits::default()).await
    }

    /// Opens a sidecar with options and limits on the data of this one.
    pub(crate) async fn reopen(self, kind: &str, options: Value, limits: Limits) -> Self {
        Self::open_in(self.folder, kind, options, limits).await
    }

    /// Opens a sidecar of another kind on the same file.
    pub(crate) async fn beside(&self, kind: &str) -> Self {
        Self::open_in(Arc::clone(&self.folder), kind, json!({}), Limits::default()).await
    }

    async fn open_in(folder: Arc<TempDir>, kind: &str, options: Value, limits: Limits) -> Self {
        let url = match kind {
            "storage" => format!("file:{}", folder.path().display()),
            _ => format!("sqlite:{}", folder.path().join("test.db").display()),
        };
        let mut settings = SidecarSettings::new(kind, &url);
        settings.options = options.as_object().unwrap().clone();
        Self { sidecar: InProcessSidecar::open(settings.backend().unwrap(), limits).await.unwrap(), folder }
    }

    /// Sends a request. `target` is its method and path, such as `GET /kv/a`.
    pub(crate) async fn ask<V: AsRef<[u8]>>(&self, target: &str, headers: &[(&str, V)], body: &str) -> Answered {
        let (method, path) = target.split_once(' ').unwrap();
        let mut request = Request::builder().method(method.parse::<Method>().unwrap()).uri(path);
        for (name, value) in headers {
            request = request.header(*name, HeaderValue::from_bytes(value.as_ref()).unwrap());
        }
        let request = request.body(Body::from(Bytes::from(body.to_owned()))).unwrap();
        let (head, body) = self.sidecar.clone().answer(request).await.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answered { status: head.status.as_u16(), headers: head.headers, body }
    }
}
