//! The requests that a build sends to a handler, so that its snapshot is of an engine that has answered some.
//!
//! The method is one that no client can send (RFC 9110, section 9.1), and no handler or middleware is called for it. A
//! module-level variable that they set would be in the snapshot, and so in all instances.

use tenon_abi::WARM_UP;
use wasmtime::{Instance, Store};

use crate::host::{Host, allocate};

/// The engine's function that answers a request (`wit/handler.wit`).
const HANDLE: &str = "sdk:core/handler@0.1.0#handle";

/// The path, with a query that the SDK parses.
const PATH: &[u8] = b"/-/not-found?by=tenon";

/// JSON texts: one request has no body, one has one.
const BODIES: [Option<&[u8]>; 2] = [None, Some(b"{}")];

/// The parameters of [`HANDLE`] (Canonical ABI): method, path, headers, and an optional body.
type Record = (u32, u32, u32, u32, u32, u32, u32, u32, u32);

/// Sends the requests. The host answers calls meanwhile (`Host::rehearsal`).
pub(crate) fn rehearse(store: &mut Store<Host>, instance: &Instance) -> wasmtime::Result<()> {
    let handle = instance.get_typed_func::<Record, u32>(&mut *store, HANDLE)?;
    for body in BODIES {
        let record = record(store, instance, body)?;
        handle.call(&mut *store, record)?;
    }
    Ok(())
}

/// Writes a request into memory that the engine allocates.
fn record(store: &mut Store<Host>, instance: &Instance, body: Option<&[u8]>) -> wasmtime::Result<Record> {
    let memory = instance.get_memory(&mut *store, "memory").ok_or_else(|| wasmtime::Error::msg("no memory"))?;
    let mut put = |bytes: &[u8], alignment: u32| -> wasmtime::Result<[u32; 2]> {
        let length = u32::try_from(bytes.len())?;
        let at = allocate(&mut *store, instance, alignment, length)?;
        memory.write(&mut *store, at as usize, bytes)?;
        Ok([at, length])
    };
    let mut headers: Vec<(&[u8], &[u8])> = vec![(b"host", b"localhost")];
    if body.is_some() {
        headers.push((b"content-type", b"application/json"));
    }
    let [method, method_length] = put(WARM_UP.as_bytes(), 1)?;
    let [path, path_length] = put(PATH, 1)?;
    let mut words = Vec::new();
    for (name, value) in &headers {
        words.extend(put(name, 1)?);
        words.extend(put(value, 1)?);
    }
    let list: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let [list, _] = put(&list, 4)?;
    let [body_at, body_length] = body.map_or(Ok([0, 0]), |body| put(body, 1))?;
    let count = u32::try_from(headers.len())?;
    Ok((method, method_length, path, path_length, list, count, u32::from(body.is_some()), body_at, body_length))
}
