//! Responses that `tenon dev` shows in place of a module: pages of its own, and build errors.
//!
//! Hooks for development. A server that sets none pays one atomic load a request for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, StatusCode};

/// A page that is served from memory at one exact path.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its `Content-Type`.
    pub content_type: HeaderValue,
    /// The body.
    pub body: Bytes,
    /// Leaves requests for it out of the recent ones, because a page repeats them by itself.
    pub unlisted: bool,
}

/// Pages by path, and build errors by module.
#[derive(Default)]
pub(crate) struct Pages {
    any: AtomicBool,
    pages: RwLock<HashMap<String, Page>>,
    build_errors: RwLock<HashMap<String, Bytes>>,
}

impl Pages {
    /// Serves `page` at `path`, before everything else; none takes it away.
    pub(crate) fn set_page(&self, path: String, page: Option<Page>) {
        set(&self.pages, path, page);
        self.update();
    }

    /// Notes that the newest source of a module cannot be built; none takes the note away.
    pub(crate) fn set_build_error(&self, module: String, html: Option<Bytes>) {
        set(&self.build_errors, module, html);
        self.update();
    }

    fn update(&self) {
        let any = !is_empty(&self.pages) || !is_empty(&self.build_errors);
        self.any.store(any, Ordering::Release);
    }

    /// The page at a path, and whether requests for it are listed.
    pub(crate) fn page(&self, path: &str) -> Option<(Response<Bytes>, bool)> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let page = self.pages.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()?;
        let listed = !page.unlisted;
        Some((response(page), listed))
    }

    /// Why a module cannot be built, for a client that can show it.
    pub(crate) fn build_error(&self, module: &str, headers: &HeaderMap) -> Option<Response<Bytes>> {
        if !self.any.load(Ordering::Acquire) || !accepts_html(headers) {
            return None;
        }
        let body = self.build_errors.read().unwrap_or_else(PoisonError::into_inner).get(module).cloned()?;
        let content_type = HeaderValue::from_static("text/html; charset=utf-8");
        Some(response(Page { status: StatusCode::INTERNAL_SERVER_ERROR, content_type, body, unlisted: false }))
    }

    /// Reports whether the newest source of a module cannot be built.
    pub(crate) fn is_broken(&self, module: &str) -> bool {
        self.any.load(Ordering::Acquire)
            && self.build_errors.read().unwrap_or_else(PoisonError::into_inner).contains_key(module)
    }
}

fn set<T>(map: &RwLock<HashMap<String, T>>, key: String, value: Option<T>) {
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}

fn is_empty<T>(map: &RwLock<HashMap<String, T>>) -> bool {
    map.read().unwrap_or_else(PoisonError::into_inner).is_empty()
}

fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| value.to_str().is_ok_and(|value| value.contains("text/html")))
}

fn response(page: Page) -> Response<Bytes> {
    let mut response = Response::new(page.body);
    *response.status_mut() = page.status;
    response.headers_mut().insert(CONTENT_TYPE, page.content_type);
    // The next build changes it.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
