//! A sidecar in this process, on a folder of its own, for tests of routes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kind::{Kind, SidecarFiles};
use crate::{Backend, InProcessSidecar, Limits};

/// The headers of a request without any.
pub const NONE: [(&str, &str); 0] = [];

/// A sidecar with a store in a temporary folder.
pub struct Tested {
    sidecar: InProcessSidecar,
    /// The folder of its data.
    pub folder: Arc<TempDir>,
}

/// An answer whose body has come.
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: String,
}

impl Answered {
    /// A header's text, or an empty one.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Tested {
    /// Opens a sidecar of this kind: storage on a folder, others on SQLite.
    pub async fn open(kind: &'static Kind) -> Self {
        Self::open_with(kind, json!({})).await
    }

    /// Opens a sidecar with options.
    pub async fn open_with(kind: &'static Kind, options: Value) -> Self {
        Self::open_in(Arc::new(tempfile::tempdir().unwrap()), kind, options, Limits::default()).await
    }

    /// Opens a sidecar with options and limits on the data of this one.
    pub async fn reopen(self, kind: &'static Kind, options: Value, limits: Limits) -> Self {
        Self::open_in(self.folder, kind, options, limits).await
    }

    /// Opens a sidecar of another kind on the same file.
    pub async fn beside(&self, kind: &'static Kind) -> Self {
        Self::open_in(Arc::clone(&self.folder), kind, json!({}), Limits::default()).await
    }

    async fn open_in(folder: Arc<TempDir>, kind: &'static Kind, options: Value, limits: Limits) -> Self {
        let url = match kind.name {
            "storage" => format!("file:{}", folder.path().display()),
            _ => format!("sqlite:{}", folder.path().join("test.db").display()),
        };
        let options = options.as_object().unwrap().clone();
        let backend = Backend::new(kind, url, options, SidecarFiles::default()).unwrap();
        Self { sidecar: InProcessSidecar::open(backend, limits).await.unwrap(), folder }
    }

    /// Sends a request. `target` is its method and path, such as `GET /kv/a`.
    pub async fn ask<V: AsRef<[u8]>>(&self, target: &str, headers: &[(&str, V)], body: &str) -> Answered {
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
