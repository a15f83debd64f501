//! The handler: a component that this one imports, or the engine around this library.

pub use crate::bindings::sdk::core::handler::{Header, Request, Response};

#[cfg(feature = "component")]
pub use self::component::{begin, broken, cancel, end, handle, next, piece, takes_bodies};
#[cfg(not(feature = "component"))]
pub use self::engine::{begin, broken, cancel, end, handle, next, piece, takes_bodies};

#[cfg(feature = "component")]
mod component {
    //! Calls of the component's imports. A streamed exchange has the same records here as a whole one.

    use alloc::vec::Vec;

    pub use crate::bindings::sdk::core::handler::handle;
    use crate::bindings::sdk::core::streams;
    pub use crate::bindings::sdk::core::streams::{cancel, takes_bodies};

    use super::{Request, Response};

    fn response(of: streams::Response) -> Response {
        Response { status: of.status, headers: of.headers, body: of.body }
    }

    /// Begins a request whose body follows.
    pub fn begin(request: Request) -> Response {
        let Request { method, path_with_query, headers, .. } = request;
        response(streams::begin(&streams::Request { method, path_with_query, headers }))
    }

    /// Gives the next piece of the body.
    pub fn piece(bytes: Option<Vec<u8>>) -> Response {
        response(streams::piece(bytes.as_deref()))
    }

    /// Ends the body.
    pub fn end() -> Response {
        response(streams::end())
    }

    /// Breaks the body off.
    pub fn broken() -> Response {
        response(streams::broken())
    }

    /// Asks for the next piece of a response.
    pub fn next() -> Response {
        response(streams::next())
    }
}

#[cfg(not(feature = "component"))]
mod engine {
    //! Calls with the records as the Canonical ABI has them (`crates/engine/src/abi.h`). Nothing is copied on the way in.

    use alloc::string::String;
    use alloc::vec::Vec;
    use core::slice;

    use super::{Header, Request, Response};

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

        /// `begin` of `sdk:core/streams`; the following are others of its functions.
        fn streams_begin(
            method: *const u8,
            method_length: usize,
            path: *const u8,
            path_length: usize,
            headers: *const Pair,
            header_count: usize,
        ) -> *const Answer;
        fn streams_piece(has_bytes: u32, bytes: *const u8, length: usize) -> *const Answer;
        safe fn streams_takes_bodies() -> u32;
        safe fn streams_end() -> *const Answer;
        safe fn streams_broken() -> *const Answer;
        safe fn streams_next() -> *const Answer;
        safe fn streams_cancel();
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
                // SAFETY: by the caller's promise there are so many bytes at the address.
                length => unsafe { slice::from_raw_parts(self.at, length) }.to_vec(),
            }
        }
    }

    fn pairs(headers: &[Header]) -> Vec<Pair> {
        let pair = |(name, value): &Header| Pair { name: Bytes::of(name.as_bytes()), value: Bytes::of(value) };
        headers.iter().map(pair).collect()
    }

    /// Copies a response of the engine's.
    ///
    /// # Safety
    /// It is the engine's last one, which stays as it is until the next call.
    unsafe fn response(answer: *const Answer) -> Response {
        // SAFETY: by the caller's promise the response is the engine's last one, which is valid until the next call.
        unsafe {
            let answer = &*answer;
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

    /// Has the engine answer a request.
    pub fn handle(request: &Request) -> Response {
        let Request { method, path_with_query: path, headers, body } = request;
        let pairs = pairs(headers);
        let content = body.as_deref().unwrap_or_default();
        // SAFETY: the engine reads as much as there is, and keeps none of it.
        unsafe {
            response(engine_handle(
                method.as_ptr(),
                method.len(),
                path.as_ptr(),
                path.len(),
                pairs.as_ptr(),
                pairs.len(),
                u32::from(body.is_some()),
                content.as_ptr(),
                content.len(),
            ))
        }
    }

    /// Asks whether the engine's handler takes bodies piece by piece.
    pub fn takes_bodies() -> bool {
        streams_takes_bodies() != 0
    }

    /// Begins a request whose body follows.
    pub fn begin(request: Request) -> Response {
        let Request { method, path_with_query: path, headers, .. } = request;
        let pairs = pairs(&headers);
        // SAFETY: the engine reads as much as there is, and keeps none of it.
        unsafe {
            response(streams_begin(
                method.as_ptr(),
                method.len(),
                path.as_ptr(),
                path.len(),
                pairs.as_ptr(),
                pairs.len(),
            ))
        }
    }

    /// Gives the next piece of the body.
    pub fn piece(bytes: Option<Vec<u8>>) -> Response {
        let content = bytes.as_deref().unwrap_or_default();
        // SAFETY: the engine reads as much as there is, and keeps none of it.
        unsafe { response(streams_piece(u32::from(bytes.is_some()), content.as_ptr(), content.len())) }
    }

    /// Ends the body.
    pub fn end() -> Response {
        // SAFETY: it is the engine's last response.
        unsafe { response(streams_end()) }
    }

    /// Breaks the body off.
    pub fn broken() -> Response {
        // SAFETY: it is the engine's last response.
        unsafe { response(streams_broken()) }
    }

    /// Asks for the next piece of a response.
    pub fn next() -> Response {
        // SAFETY: it is the engine's last response.
        unsafe { response(streams_next()) }
    }

    /// Ends a streamed response early.
    pub fn cancel() {
        streams_cancel();
    }
}
