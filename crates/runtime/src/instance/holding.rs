//! The functions of `wasi:http` by which a guest makes the host hold bytes, each charged to the request's account first.
//!
//! They stand in place of those that wasmtime links, and do the same. All other functions of WASI make at most one resource
//! a call, which `Host` charges wherever it lends its table.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::types::{HostOutgoingRequest, HostOutgoingResponse};
use wasmtime_wasi_http::{FieldMap, WasiHttpView, p2, p3};

use crate::instance::account::{PIECE_BYTES, RESOURCE_BYTES, field_weight, fields_weight};
use crate::instance::host::Host;

const TYPES: &str = "wasi:http/types@0.2.12";
const SERVICE_TYPES: &str = "wasi:http/types@0.3.0";

/// Headers as a list.
type Entries = Vec<(String, Vec<u8>)>;

/// A resource of headers.
type Fields = Resource<FieldMap>;

/// Charges the functions of `fields`, which both versions have alike.
macro_rules! charge_fields {
    ($linker:expr, $interface:expr, $types:path) => {{
        use $types::{Host as _, HostFields as _};
        let mut types = $linker.instance($interface)?;
        types.func_wrap(
            "[static]fields.from-list",
            |mut store: StoreContextMut<'_, Host>, (entries,): (Entries,)| {
                let host = store.data_mut();
                host.hold(
                    RESOURCE_BYTES
                        + entries.iter().map(|(name, value)| field_weight(name.len(), value.len())).sum::<usize>(),
                )?;
                let mut http = host.http();
                Ok((match http.from_list(entries) {
                    Ok(fields) => Ok(fields),
                    Err(error) => Err(http.convert_header_error(error)?),
                },))
            },
        )?;
        types.func_wrap(
            "[method]fields.append",
            |mut store: StoreContextMut<'_, Host>, (fields, name, value): (Fields, String, Vec<u8>)| {
                let host = store.data_mut();
                host.hold(field_weight(name.len(), value.len()))?;
                let mut http = host.http();
                Ok((match http.append(fields, name, value) {
                    Ok(()) => Ok(()),
                    Err(error) => Err(http.convert_header_error(error)?),
                },))
            },
        )?;
        types.func_wrap(
            "[method]fields.set",
            |mut store: StoreContextMut<'_, Host>, (fields, name, values): (Fields, String, Vec<Vec<u8>>)| {
                let host = store.data_mut();
                host.hold(values.iter().map(|value| field_weight(name.len(), value.len())).sum())?;
                let mut http = host.http();
                Ok((match http.set(fields, name, values) {
                    Ok(()) => Ok(()),
                    Err(error) => Err(http.convert_header_error(error)?),
                },))
            },
        )?;
        types.func_wrap("[method]fields.clone", |mut store: StoreContextMut<'_, Host>, (fields,): (Fields,)| {
            let host = store.data_mut();
            let weight = fields_weight(host.table.get(&fields)?);
            host.hold(RESOURCE_BYTES + weight)?;
            Ok((host.http().clone(fields)?,))
        })?;
    }};
}

/// Charges a function that sets a text of a request.
macro_rules! charge_text {
    ($types:ident, $name:expr, $request:ty, $value:ty, $length:expr, $set:path) => {
        $types.func_wrap(
            $name,
            |mut store: StoreContextMut<'_, Host>, (request, value): (Resource<$request>, $value)| {
                let host = store.data_mut();
                let length: fn(&$value) -> usize = $length;
                host.hold(length(&value))?;
                Ok(($set(&mut host.http(), request, value)?,))
            },
        )?;
    };
}

/// Charges the functions that set the texts of a request. The WASI versions have types of the same names.
macro_rules! charge_request {
    ($types:ident, $resource:literal, $request:ty, $requests:ident, $method:ident, $scheme:ident) => {
        charge_text!(
            $types,
            concat!("[method]", $resource, ".set-method"),
            $request,
            $method,
            |method| match method {
                $method::Other(name) => name.len(),
                _ => 0,
            },
            $requests::set_method
        );
        charge_text!(
            $types,
            concat!("[method]", $resource, ".set-scheme"),
            $request,
            Option<$scheme>,
            |scheme| match scheme {
                Some($scheme::Other(name)) => name.len(),
                _ => 0,
            },
            $requests::set_scheme
        );
        charge_text!(
            $types,
            concat!("[method]", $resource, ".set-authority"),
            $request,
            Option<String>,
            |text| text.as_deref().map_or(0, str::len),
            $requests::set_authority
        );
        charge_text!(
            $types,
            concat!("[method]", $resource, ".set-path-with-query"),
            $request,
            Option<String>,
            |text| text.as_deref().map_or(0, str::len),
            $requests::set_path_with_query
        );
    };
}

/// Charges the functions of WASI 0.2.
pub(crate) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    use p2::bindings::http::types::{
        HostOutgoingRequest as Requests, HostOutgoingResponse as Responses, Method, Scheme,
    };

    charge_fields!(linker, TYPES, p2::bindings::http::types);
    let mut types = linker.instance(TYPES)?;
    charge_request!(types, "outgoing-request", HostOutgoingRequest, Requests, Method, Scheme);
    types.func_wrap(
        "[method]outgoing-request.body",
        |mut store: StoreContextMut<'_, Host>, (request,): (Resource<HostOutgoingRequest>,)| {
            let host = store.data_mut();
            host.hold(PIECE_BYTES)?;
            Ok((Requests::body(&mut host.http(), request)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-response.body",
        |mut store: StoreContextMut<'_, Host>, (response,): (Resource<HostOutgoingResponse>,)| {
            let host = store.data_mut();
            host.hold(PIECE_BYTES)?;
            Ok((Responses::body(&mut host.http(), response)?,))
        },
    )
}

/// Charges the functions of WASI 0.3. A body of its guests is no buffer of the host's: the guest waits until the other side
/// takes its next piece.
pub(crate) fn link_services(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    use p3::bindings::http::types::{HostRequest as Requests, Method, Scheme};

    charge_fields!(linker, SERVICE_TYPES, p3::bindings::http::types);
    let mut types = linker.instance(SERVICE_TYPES)?;
    charge_request!(types, "request", p3::Request, Requests, Method, Scheme);
    Ok(())
}
