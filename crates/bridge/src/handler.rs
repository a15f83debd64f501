//! The handler: a component that this one imports, or the engine around this library.

#[cfg(feature = "component")]
pub use crate::bindings::sdk::core::handler::handle;
pub use crate::bindings::sdk::core::handler::{Header, Request, Response};

#[cfg(not(feature = "component"))]
pub use self::engine::handle;

#[cfg(not(feature = "component"))]
mod engine {
    //! Calls with the records as the Canonical ABI has them (`crates/engine/src/abi.h`). Nothing is copied on the way in.

    use alloc::string::String;
    use alloc::vec::Vec;
    use core::slice;

    use super::{Request, Response};

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Bytes {
        at: *const u8,
        length: usize,
    }

    #[repr(C)]
    struct Pair {
        name: Bytes,
        value: Bytes,
    }

    #[repr(C)]
    struct Answer {
        status: u16,
        headers: *const Pair,
        header_count: usize,
        has_body: bool,
        body: Bytes,
    }

    unsafe extern "C" {
        /// `sdk:core/handler#handle` of the engine.
        #[link_name = "handle"]
        fn engine_handle(
            method: *const u8,
            method_length: usize,
            path: *const u8,
            path_length: usize,
            headers: *const Pair,
            header_count: usize,
            has_body: u32,
            body: *const u8,
            body_length: usize,
        ) -> *const Answer;
    }

    impl Bytes {
        fn of(bytes: &[u8]) -> Self {
            Self { at: bytes.as_ptr(), length: bytes.len() }
        }

        /// Copies them.
        ///
        /// # Safety
        /// There are so many bytes at the address.
        unsafe fn copied(self) -> Vec<u8> {
            match self.length {
                0 => Vec::new(),
                // SAFETY: as the caller promises.
                length => unsafe { slice::from_raw_parts(self.at, length) }.to_vec(),
            }
        }
    }

    /// Has the engine answer a request.
    pub fn handle(request: &Request) -> Response {
        let Request { method, path_with_query: path, headers, body } = request;
        let pairs: Vec<Pair> = headers
            .iter()
            .map(|(name, value)| Pair { name: Bytes::of(name.as_bytes()), value: Bytes::of(value) })
            .collect();
        let content = body.as_deref().unwrap_or_default();
        // SAFETY: the engine reads as much as there is, and keeps none of it. Its response stays as it is until the next call.
        unsafe {
            let answer = &*engine_handle(
                method.as_ptr(),
                method.len(),
                path.as_ptr(),
                path.len(),
                pairs.as_ptr(),
                pairs.len(),
                u32::from(body.is_some()),
                content.as_ptr(),
                content.len(),
            );
            let headers = match answer.header_count {
                0 => &[],
                count => slice::from_raw_parts(answer.headers, count),
            };
            let text = |bytes: Bytes| String::from_utf8_lossy(&bytes.copied()).into_owned();
            Response {
                status: answer.status,
                headers: headers.iter().map(|pair| (text(pair.name), pair.value.copied())).collect(),
                body: answer.has_body.then(|| answer.body.copied()),
            }
        }
    }
}
