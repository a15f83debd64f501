//! Requests that a build makes.

use wasmtime::{Instance, Memory, Store};

use crate::resident::HANDLE;
use crate::wasi::World;

/// What frees a response.
const POST_RETURN: &str = "cabi_post_sdk:core/handler@0.1.0#handle";

/// What a line of output that names a request starts with (`cli/src/build/entry.ts`).
const MARK: &str = "\x01request ";

/// How many requests are taken from the output.
const MOST: usize = 24;

/// A request.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Option<String>,
}

/// One for a path that no handler has.
impl Default for Request {
    fn default() -> Self {
        Self { method: "GET".to_owned(), path: "/-/not-found?by=tenon".to_owned(), body: None }
    }
}

impl Request {
    /// The requests that a top level's output names, and the rest of the output.
    pub(crate) fn taken_from(output: &str) -> (Vec<Self>, String) {
        let (named, rest): (Vec<_>, Vec<_>) = output.split_inclusive('\n').partition(|line| line.starts_with(MARK));
        let requests = named.into_iter().take(MOST).filter_map(|line| {
            let mut parts = line.trim_end_matches('\n').strip_prefix(MARK)?.splitn(3, ' ');
            let (method, path, body) = (parts.next()?, parts.next()?, parts.next()?);
            let body = (method != "GET" && method != "DELETE").then(|| body.to_owned());
            Some(Self { method: method.to_owned(), path: path.to_owned(), body })
        });
        (requests.collect(), rest.concat())
    }

    /// Puts the record of the request (Canonical ABI) into the guest's memory, and calls its handler: method, path, headers
    /// and body are each an address and a length.
    pub(crate) fn send(&self, store: &mut Store<World>, instance: &Instance, memory: Memory) -> wasmtime::Result<()> {
        let realloc = instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut *store, "cabi_realloc")?;
        let mut put = |bytes: &[u8]| -> wasmtime::Result<[i32; 2]> {
            let length = i32::try_from(bytes.len())?;
            let at = realloc.call(&mut *store, (0, 0, 4, length))?;
            memory.write(&mut *store, at.cast_unsigned() as usize, bytes)?;
            Ok([at, length])
        };
        let ([method, method_length], [path, path_length]) = (put(self.method.as_bytes())?, put(self.path.as_bytes())?);
        let mut words = vec![put(b"host")?, put(b"localhost")?];
        let (mut given, [mut body, mut body_length]) = (0, [0, 0]);
        if let Some(text) = &self.body {
            words.extend([put(b"content-type")?, put(b"application/json")?]);
            (given, [body, body_length]) = (1, put(text.as_bytes())?);
        }
        let count = i32::try_from(words.len() / 2)?;
        let list = words.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let [headers, _] = put(&list)?;
        type Record = (i32, i32, i32, i32, i32, i32, i32, i32, i32);
        let handle = instance.get_typed_func::<Record, i32>(&mut *store, HANDLE)?;
        let record = (method, method_length, path, path_length, headers, count, given, body, body_length);
        let response = handle.call(&mut *store, record)?;
        instance.get_typed_func::<i32, ()>(&mut *store, POST_RETURN)?.call(&mut *store, response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_name_requests_are_taken_out_of_the_output() {
        let request = |method: &str, path: &str, body: Option<&str>| Request {
            method: method.to_owned(),
            path: path.to_owned(),
            body: body.map(str::to_owned),
        };
        let output = "hello\n\x01request GET /a?b=1 {}\n\x01request POST /a {\"b\":\"c d\"}\n\x01request odd\nworld";
        let requests = vec![request("GET", "/a?b=1", None), request("POST", "/a", Some("{\"b\":\"c d\"}"))];
        assert_eq!(Request::taken_from(output), (requests, "hello\nworld".to_owned()));
        let (many, rest) = Request::taken_from(&"\x01request GET / {}\n".repeat(100));
        assert_eq!((many.len(), &*rest), (MOST, ""));
    }
}
