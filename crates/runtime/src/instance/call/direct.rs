//! Calling `sdk:core/handler` and `sdk:core/streams`: requests and responses as records. A response is whole, or the start of a
//! streamed one, which goes on with further calls (`pieces`).

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use tenon_abi::{BODY, BODY_STREAMED, BODY_WHOLE};
use tenon_tape as tape;
use wasmtime::Store;

use super::direct_entry::DirectExports;
use super::direct_entry::bindings::exports::sdk::core::{handler, streams};
use super::failure::{Failure, lift_status, trap_text};
use super::instance::{Exports, Instance};
use crate::body::arriving::{Given, Wanted};
use crate::config::{Limits, size};
use crate::instance::egress::is_forbidden;
use crate::instance::host::Host;
use crate::request::target::host_of;

/// The failure of a response whose body is too large.
pub(crate) const TOO_LARGE: &str = "the handler answered with more than max_response_bytes";

/// The failure of a call through an interface that the module lacks.
const OTHER_INTERFACE: &str = "the module is called by another interface than it exports";

/// The last header of a response that is streamed, and its value.
const STREAMED: (&str, &[u8]) = (BODY, BODY_STREAMED.as_bytes());

/// A header of an answer that waits for the request's body, and the value that asks for all that is left of it.
const WHOLE: (&str, &[u8]) = (BODY, BODY_WHOLE.as_bytes());

/// The last header of a request whose guest is to note its places (wit/handler.wit).
const PLACES: &str = ":places";

/// The result of a call with a request.
pub(crate) enum Called {
    Whole(Response<Bytes>),
    /// The head of a streamed response, and its first piece if there is one. [`next`] gives the others.
    Streamed(Response<Bytes>),
    /// Nothing before it has more of the request's body.
    Waits(Wanted),
}

/// The result of asking for the next piece of a streamed response.
pub(crate) enum Next {
    Piece(Bytes),
    /// There is no piece yet.
    Later,
    /// The instance needs more of the request's body first.
    Waits(Wanted),
    End,
    /// The response cannot be finished.
    Broken,
}

/// Calls an instance. The request's URI holds path and query as the module is to see them.
pub(crate) async fn call(instance: &mut Instance, request: Request<Bytes>, limits: &Limits) -> Result<Called, Failure> {
    let head = request.method() == Method::HEAD;
    let record = enter(instance, &Entry::Handle(lower(request))).await?;
    let can_stream = exports_of(instance)?.0.streams.is_some();
    lift_answer(record, can_stream, head, limits)
}

/// Asks whether an instance takes the bodies of requests piece by piece.
pub(crate) async fn takes_pieces(instance: &mut Instance) -> Result<bool, Failure> {
    let (streams, store) = streams_of(instance)?;
    let called = streams.call_takes_bodies(store).await;
    called.map_err(|error| instance.failure(error))
}

/// Calls an instance with a request whose body it gets piece by piece.
pub(crate) async fn begin(instance: &mut Instance, request: Request<()>, limits: &Limits) -> Result<Called, Failure> {
    let head = request.method() == Method::HEAD;
    let handler::Request { method, path_with_query, headers, .. } = lower(request.map(|()| Bytes::new()));
    let begin = Entry::Begin(streams::Request { method, path_with_query, headers });
    lift_answer(enter(instance, &begin).await?, true, head, limits)
}

/// Gives an instance more of the request's body, before it has answered.
pub(crate) async fn give(
    instance: &mut Instance,
    given: Given,
    head: bool,
    limits: &Limits,
) -> Result<Called, Failure> {
    lift_answer(enter(instance, &given.into()).await?, true, head, limits)
}

/// The call by which a streamed response goes on.
pub(crate) enum Step {
    /// Asks for the next piece.
    Next,
    /// Gives more of the request's body, for which the piece waits.
    Give(Given),
}

/// Asks for the next piece of a streamed response. The instance waits about a second for it at most.
pub(crate) async fn next(instance: &mut Instance, step: Step) -> Result<Next, Failure> {
    let entry = match step {
        Step::Next => Entry::Next,
        Step::Give(given) => given.into(),
    };
    let record = enter(instance, &entry).await?;
    if record.status == WAITS {
        return Ok(Next::Waits(wanted(&record)));
    }
    Ok(match (record.status, record.body) {
        (200, Some(piece)) if !piece.is_empty() => Next::Piece(Bytes::from(piece)),
        (200 | 202, _) => Next::Later,
        (204, _) => Next::End,
        _ => Next::Broken,
    })
}

/// Ends a streamed response before its end.
pub(crate) async fn cancel(instance: &mut Instance) -> Result<(), Failure> {
    enter(instance, &Entry::Cancel).await.map(drop)
}

/// The status of an answer that waits for more of the request's body.
pub(crate) const WAITS: u16 = 100;

/// Returns whether an answer that waits for the request's body asks for all that is left of it.
pub(crate) fn wants_whole(headers: &[handler::Header]) -> bool {
    headers.iter().any(|(name, value)| (name.as_str(), value.as_slice()) == WHOLE)
}

/// Returns whether the last header of a response says that it is streamed.
pub(crate) fn is_streamed(headers: &[handler::Header]) -> bool {
    headers.last().is_some_and(|(name, value)| (name.as_str(), value.as_slice()) == STREAMED)
}

fn wanted(record: &handler::Response) -> Wanted {
    if wants_whole(&record.headers) { Wanted::Whole } else { Wanted::Piece }
}

/// Tells apart what a record can be. Only a component that exports `sdk:core/streams` can wait or stream.
fn lift_answer(
    mut record: handler::Response,
    can_stream: bool,
    head: bool,
    limits: &Limits,
) -> Result<Called, Failure> {
    if can_stream && record.status == WAITS {
        return Ok(Called::Waits(wanted(&record)));
    }
    if can_stream && is_streamed(&record.headers) {
        record.headers.pop();
        return lift_start(record, limits).map(Called::Streamed);
    }
    lift(record, head, limits).map(Called::Whole)
}

/// The interfaces of an instance, and its store.
fn exports_of(instance: &mut Instance) -> Result<(&mut DirectExports, &mut Store<Host>), Failure> {
    match instance {
        Instance { store, exports: Exports::Direct(exports), .. } => Ok((exports, store)),
        _ => Err(Failure::InvalidResponse(OTHER_INTERFACE)),
    }
}

/// The interface for streams of an instance, and its store.
fn streams_of(instance: &mut Instance) -> Result<(&streams::Guest, &mut Store<Host>), Failure> {
    let (exports, store) = exports_of(instance)?;
    let Some(streams) = &mut exports.streams else {
        return Err(Failure::InvalidResponse(OTHER_INTERFACE));
    };
    Ok((streams.load(store)?, store))
}

/// A call into a guest: by `handle`, or by a function of `sdk:core/streams`.
enum Entry {
    Handle(handler::Request),
    Begin(streams::Request),
    Piece(Option<Bytes>),
    End,
    Broken,
    Next,
    Cancel,
}

impl From<Given> for Entry {
    fn from(given: Given) -> Self {
        match given {
            Given::Piece(piece) => Self::Piece(Some(piece)),
            Given::Nothing => Self::Piece(None),
            Given::End => Self::End,
            Given::Broken => Self::Broken,
        }
    }
}

impl Entry {
    /// The call that a recording has.
    fn of_tape(tape::Request { method, path, headers, body }: tape::Request) -> Self {
        match method.as_str() {
            tape::PIECE => Self::Piece(body.map(Bytes::from)),
            tape::END => Self::End,
            tape::BROKEN => Self::Broken,
            tape::NEXT => Self::Next,
            tape::CANCEL => Self::Cancel,
            _ => match method.strip_prefix(tape::BEGIN) {
                Some(method) => {
                    Self::Begin(streams::Request { method: method.to_string(), path_with_query: path, headers })
                }
                None => Self::Handle(handler::Request { method, path_with_query: path, headers, body }),
            },
        }
    }

    fn note(&self, tape: &mut tape::Encoder) {
        match self {
            Self::Handle(handler::Request { method, path_with_query, headers, body }) => {
                tape.enter(method, path_with_query, headers, body.as_deref());
            }
            Self::Begin(streams::Request { method, path_with_query, headers }) => {
                tape.enter(&format!("{}{method}", tape::BEGIN), path_with_query, headers, None);
            }
            Self::Piece(piece) => tape.enter(tape::PIECE, "", &[], piece.as_deref()),
            Self::End => tape.enter(tape::END, "", &[], None),
            Self::Broken => tape.enter(tape::BROKEN, "", &[], None),
            Self::Next => tape.enter(tape::NEXT, "", &[], None),
            Self::Cancel => tape.enter(tape::CANCEL, "", &[], None),
        }
    }
}

/// Calls a guest. Every value that it gets of the host for an exchange enters here, or by a function that it imports.
async fn enter(instance: &mut Instance, entry: &Entry) -> Result<handler::Response, Failure> {
    let seam = exports_of(instance)?.1.data().seam.clone();
    if let Some(recorder) = seam.recorder() {
        recorder.enter(|tape| entry.note(tape));
    }
    let called = if let Entry::Handle(request) = entry {
        let (exports, store) = exports_of(instance)?;
        exports.handler.call_handle(store, request).await
    } else {
        call_streams(instance, entry).await?
    };
    if let Some(recorder) = seam.recorder() {
        match &called {
            Ok(handler::Response { status, headers, body }) => {
                recorder.leave(false, |tape| tape.leave(*status, headers, body.as_deref()));
            }
            Err(error) => recorder.leave(true, |tape| tape.trap(&trap_text(error))),
        }
    }
    called.map_err(|error| instance.failure(error))
}

/// Calls a function of `sdk:core/streams`. A response is as one of `handle`; the end of a cancelled one has status 204.
async fn call_streams(instance: &mut Instance, entry: &Entry) -> Result<wasmtime::Result<handler::Response>, Failure> {
    let (streams, store) = streams_of(instance)?;
    let record = |streams::Response { status, headers, body }| handler::Response { status, headers, body };
    Ok(match entry {
        Entry::Handle(_) => return Err(Failure::InvalidResponse(OTHER_INTERFACE)),
        Entry::Begin(request) => streams.call_begin(store, request).await.map(record),
        Entry::Piece(piece) => streams.call_piece(store, piece.as_deref()).await.map(record),
        Entry::End => streams.call_end(store).await.map(record),
        Entry::Broken => streams.call_broken(store).await.map(record),
        Entry::Next => streams.call_next(store).await.map(record),
        Entry::Cancel => {
            let ended = handler::Response { status: 204, headers: Vec::new(), body: None };
            streams.call_cancel(store).await.map(|()| ended)
        }
    })
}

/// Calls an instance as it was called when its request was recorded. The guest may be asked for the places of what it does.
pub(crate) async fn replay(
    instance: &mut Instance,
    mut request: tape::Request,
    notes_places: bool,
) -> Result<tape::Response, Failure> {
    if notes_places {
        request.headers.push((PLACES.to_string(), Vec::new()));
    }
    let handler::Response { status, headers, body } = enter(instance, &Entry::of_tape(request)).await?;
    Ok(tape::Response { status, headers, body })
}

/// The record of a request. `host` comes first, then all headers in their order but those that HTTP keeps to a hop.
pub(crate) fn lower(request: Request<Bytes>) -> handler::Request {
    let (parts, body) = request.into_parts();
    let mut headers = Vec::with_capacity(parts.headers.len() + 1);
    if let Some(host) = host_of(&parts) {
        headers.push((HOST.to_string(), host.to_vec()));
    }
    for (name, value) in &parts.headers {
        if !is_forbidden(name) {
            headers.push((name.to_string(), value.as_bytes().to_vec()));
        }
    }
    handler::Request {
        method: parts.method.to_string(),
        path_with_query: parts.uri.path_and_query().map_or_else(|| "/".to_string(), ToString::to_string),
        headers,
        body: if body.is_empty() { None } else { Some(body.into()) },
    }
}

/// The response of a record, held to the rules that the bridge holds it to on other servers (`crates/bridge`).
pub(crate) fn lift(record: handler::Response, head: bool, limits: &Limits) -> Result<Response<Bytes>, Failure> {
    let body = lift_body(record.body, limits)?;
    let response = lift_head(record.status, record.headers, limits)?;
    let mut response = response.map(|()| if head { Bytes::new() } else { body.clone() });
    let status = response.status();
    let headers = response.headers_mut();
    let length = body.len() as u64;
    let wrong_length =
        || Failure::InvalidResponse("the handler announced a content-length that its body does not have");
    let announced = headers.remove(CONTENT_LENGTH);
    // The length of a body that is not there can be any.
    let fits = |value: &HeaderValue| *value == HeaderValue::from(length) || (head && is_number(value));
    if announced.as_ref().is_some_and(|value| !fits(value)) {
        return Err(wrong_length());
    }
    // Where the answer to a HEAD has no length, a GET may have any, as one that is streamed has (RFC 9110, section 8.6).
    let is_unknown = head && length == 0 && announced.is_none();
    if status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED && !is_unknown {
        let announced = announced.map_or(Some(length), |value| value.to_str().ok()?.parse().ok());
        headers.insert(CONTENT_LENGTH, HeaderValue::from(announced.ok_or_else(wrong_length)?));
    }
    Ok(response)
}

/// The start of a streamed response. Its length is not known, so it has no `content-length`.
fn lift_start(record: handler::Response, limits: &Limits) -> Result<Response<Bytes>, Failure> {
    let first = lift_body(record.body, limits)?;
    let mut response = lift_head(record.status, record.headers, limits)?.map(|()| first);
    response.headers_mut().remove(CONTENT_LENGTH);
    Ok(response)
}

fn lift_body(body: Option<Vec<u8>>, limits: &Limits) -> Result<Bytes, Failure> {
    let body = Bytes::from(body.unwrap_or_default());
    if body.len() > size(limits.max_response_bytes) {
        return Err(Failure::InvalidResponse(TOO_LARGE));
    }
    Ok(body)
}

fn lift_head(status: u16, fields: Vec<handler::Header>, limits: &Limits) -> Result<Response<()>, Failure> {
    let status = lift_status(status)?;
    let mut response = Response::new(());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let too_many = || Failure::InvalidResponse("the handler answered with headers beyond max_fields_bytes");
    let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > size(limits.max_fields_bytes) {
        return Err(too_many());
    }
    headers.try_reserve(fields.len() + 1).map_err(|_| too_many())?;
    let not_allowed = || Failure::InvalidResponse("the handler answered with a header that is not allowed");
    for (name, value) in fields {
        let name = HeaderName::try_from(name).map_err(|_| not_allowed())?;
        if is_forbidden(&name) {
            return Err(not_allowed());
        }
        let value = HeaderValue::try_from(value).map_err(|_| not_allowed())?;
        if name == CONTENT_LENGTH && headers.get(CONTENT_LENGTH).is_some_and(|announced| *announced != value) {
            return Err(Failure::InvalidResponse("the handler announced more than one content-length"));
        }
        headers.try_append(name, value).map_err(|_| too_many())?;
    }
    Ok(response)
}

/// Reports whether a content-length is a number (RFC 9110, section 8.6).
fn is_number(value: &HeaderValue) -> bool {
    !value.is_empty() && value.as_bytes().iter().all(u8::is_ascii_digit)
}
