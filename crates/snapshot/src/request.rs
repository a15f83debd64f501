//! Requests that a build sends to a handler.

use wasmtime::{Instance, Memory, Store};

use crate::starlingmonkey::arguments::{BEFORE, HANDLE, POST, REALLOC};
use crate::wasi::World;

/// Method of a build's requests. No client can send it (RFC 9110, section 9.1), and no handler or middleware is called
/// for it. A module-level variable that they set would be in the snapshot, and so in all instances.
const WARM_UP: &str = ":warm-up";

/// Path of these requests, with a query that the SDK parses.
const PATH: &str = "/-/not-found?by=tenon";

/// A request of a build.
#[derive(Default)]
pub(crate) struct Request {
    /// JSON text.
    pub(crate) body: Option<&'static str>,
}

impl Request {
    /// Writes the request's record (Canonical ABI) into the guest's memory and calls the handler. Method, path, headers
    /// and body are each an address and a length.
    pub(crate) fn send(&self, store: &mut Store<World>, instance: &Instance, memory: Memory) -> wasmtime::Result<()> {
        let realloc = instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut *store, REALLOC)?;
        let mut put = |bytes: &[u8]| -> wasmtime::Result<[i32; 2]> {
            let length = i32::try_from(bytes.len())?;
            let at = realloc.call(&mut *store, (0, 0, 4, length))?;
            memory.write(&mut *store, at.cast_unsigned() as usize, bytes)?;
            Ok([at, length])
        };
        // Looks like the first piece of a block with room for all, so that JavaScript frees none of them.
        let [block, length] = put(&[&[0; BEFORE], WARM_UP.as_bytes()].concat())?;
        let before = i32::try_from(BEFORE)?;
        let (method, method_length) = (block + before, length - before);
        let [path, path_length] = put(PATH.as_bytes())?;
        let mut words = vec![put(b"host")?, put(b"localhost")?];
        let (mut given, [mut body, mut body_length]) = (0, [0, 0]);
        if let Some(text) = self.body {
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
        instance.get_typed_func::<i32, ()>(&mut *store, POST)?.call(&mut *store, response)
    }
}
