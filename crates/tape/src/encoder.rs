//! Events as bytes, while a request runs. One buffer grows, and nothing else is allocated.

use crate::event::{Call, Event, Failure, Field, Piece, Reason, Request, Response, Variable};
use crate::wire::{MAX_ENTRIES, Reader, TapeError, Writer};

const ENTER: u8 = 1;
const LEAVE: u8 = 2;
const TRAP: u8 = 3;
const MONOTONIC: u8 = 4;
const WALL: u8 = 5;
const RANDOM_BYTES: u8 = 6;
const RANDOM_NUMBER: u8 = 7;
const ENVIRONMENT: u8 = 8;
const START: u8 = 9;
const START_STREAMED: u8 = 10;
const START_WRITTEN: u8 = 11;
const WAIT_FOR_NOTHING: u8 = 12;
const WAIT: u8 = 13;
const TAKE_NOTHING: u8 = 14;
const TAKE: u8 = 15;
const TAKE_FAILED: u8 = 16;
const READY_NOTHING: u8 = 17;
const READY: u8 = 18;
const READ: u8 = 19;
const READ_LATER: u8 = 20;
const READ_END: u8 = 21;
const READ_FAILED: u8 = 22;
const WRITE: u8 = 23;
const CANCEL: u8 = 24;
const LOG: u8 = 25;
const LOG_ERROR: u8 = 26;
const REFUSED: u8 = 27;

/// Bytes for which a recording has room at first: most requests need no more than that and their bodies.
const ROOM: usize = 1024;

/// Headers that are borrowed.
pub type Fields<'a> = &'a [Field];

/// Encodes events. Times are written as differences to the one before.
#[derive(Debug, Default)]
pub struct Encoder {
    writer: Writer,
    times: Times,
}

/// The last values of both clocks.
#[derive(Debug, Default)]
struct Times {
    monotonic: u64,
    wall: u64,
}

impl Encoder {
    /// Bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.writer.bytes.len()
    }

    /// Returns whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writer.bytes.is_empty()
    }

    /// Returns whether a reader would refuse more than this, because of the number of events and headers.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.writer.entries > MAX_ENTRIES
    }

    /// The events.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.writer.bytes
    }

    /// Notes a call into the guest.
    pub fn enter(&mut self, method: &str, path: &str, headers: Fields<'_>, body: Option<&[u8]>) {
        let writer = &mut self.writer;
        if writer.bytes.is_empty() {
            writer.bytes.reserve(ROOM + body.map_or(0, <[u8]>::len));
        }
        writer.kind(ENTER);
        writer.text(method.as_bytes());
        writer.text(path.as_bytes());
        fields(writer, headers);
        writer.optional_data(body);
    }

    /// Notes the end of such a call.
    pub fn leave(&mut self, status: u16, headers: Fields<'_>, body: Option<&[u8]>) {
        self.writer.kind(LEAVE);
        response(&mut self.writer, status, headers, body);
    }

    /// Notes the end of such a call by a trap.
    pub fn trap(&mut self, text: &str) {
        self.writer.kind(TRAP);
        self.writer.text(text.as_bytes());
    }

    /// Notes a value of the monotonic clock.
    pub fn monotonic(&mut self, now: u64) {
        self.writer.kind(MONOTONIC);
        self.writer.difference(self.times.monotonic, now);
        self.times.monotonic = now;
    }

    /// Notes a value of the wall clock.
    pub fn wall(&mut self, now: u64) {
        self.writer.kind(WALL);
        self.writer.difference(self.times.wall, now);
        self.times.wall = now;
    }

    /// Notes random bytes.
    pub fn random_bytes(&mut self, bytes: &[u8]) {
        self.writer.kind(RANDOM_BYTES);
        self.writer.data(bytes);
    }

    /// Notes a random number.
    pub fn random_number(&mut self, number: u64) {
        self.writer.kind(RANDOM_NUMBER);
        self.writer.fixed(&number.to_le_bytes());
    }

    /// Notes the environment.
    pub fn environment<'a>(&mut self, count: usize, variables: impl Iterator<Item = (&'a str, &'a str, bool)>) {
        self.writer.kind(ENVIRONMENT);
        self.writer.number(count as u64);
        self.writer.entries += count;
        for (name, value, is_secret) in variables {
            self.writer.text(name.as_bytes());
            self.writer.text(value.as_bytes());
            self.writer.byte(u8::from(is_secret));
        }
    }

    /// Notes the start of a call.
    pub fn start(&mut self, number: u32, call: &Call) {
        let Call { method, url, headers, body, timeout_ms, max_bytes, streamed } = call;
        self.start_with(number, (method, url), headers, body.as_deref(), [*timeout_ms, *max_bytes], *streamed);
    }

    /// The same with borrowed parts: method and URL, headers, body, time-out and the most bytes of the answer.
    pub fn start_with(
        &mut self,
        number: u32,
        (method, url): (&str, &str),
        headers: Fields<'_>,
        body: Option<&[u8]>,
        [timeout_ms, max_bytes]: [u32; 2],
        streamed: Option<bool>,
    ) {
        let writer = &mut self.writer;
        writer.kind(match streamed {
            None => START,
            Some(false) => START_STREAMED,
            Some(true) => START_WRITTEN,
        });
        writer.number(number.into());
        writer.text(method.as_bytes());
        writer.text(url.as_bytes());
        fields(writer, headers);
        writer.optional_data(body);
        writer.number(timeout_ms.into());
        writer.number(max_bytes.into());
    }

    /// The place after the last event, to which [`Encoder::truncate`] returns.
    #[must_use]
    pub fn place(&self) -> (usize, usize) {
        (self.writer.bytes.len(), self.writer.entries)
    }

    /// Removes the events after a place, which must not be times.
    pub fn truncate(&mut self, (length, entries): (usize, usize)) {
        self.writer.bytes.truncate(length);
        self.writer.entries = entries;
    }

    /// Notes a wait.
    pub fn wait(&mut self, timeout: u32, has_any: bool) {
        self.writer.kind(if has_any { WAIT } else { WAIT_FOR_NOTHING });
        self.writer.number(timeout.into());
    }

    /// Notes a look for a call that has ended, of which there is none.
    pub fn take_nothing(&mut self) {
        self.writer.kind(TAKE_NOTHING);
    }

    /// Notes a call that has ended with a response.
    pub fn take(&mut self, number: u32, status: u16, headers: Fields<'_>, body: Option<&[u8]>) {
        self.writer.kind(TAKE);
        self.writer.number(number.into());
        response(&mut self.writer, status, headers, body);
    }

    /// Notes a call that has failed.
    pub fn take_failed(&mut self, number: u32, reason: Reason, detail: &str) {
        self.writer.kind(TAKE_FAILED);
        self.writer.number(number.into());
        failure(&mut self.writer, reason, detail);
    }

    /// Records which call's stream the guest can use now, if any.
    pub fn ready(&mut self, number: Option<u32>) {
        match number {
            Some(number) => {
                self.writer.kind(READY);
                self.writer.number(number.into());
            }
            None => self.writer.kind(READY_NOTHING),
        }
    }

    /// Notes a piece of a streamed response.
    pub fn read(&mut self, number: u32, bytes: &[u8]) {
        self.writer.kind(READ);
        self.writer.number(number.into());
        self.writer.data(bytes);
    }

    /// Notes a read without a piece: false when there may be one later, true at the end.
    pub fn read_nothing(&mut self, number: u32, is_end: bool) {
        self.writer.kind(if is_end { READ_END } else { READ_LATER });
        self.writer.number(number.into());
    }

    /// Notes a read of a response that broke off.
    pub fn read_failed(&mut self, number: u32, reason: Reason, detail: &str) {
        self.writer.kind(READ_FAILED);
        self.writer.number(number.into());
        failure(&mut self.writer, reason, detail);
    }

    /// Notes a piece of a streamed request, and how much of it the host took.
    pub fn write(&mut self, number: u32, piece: Option<&[u8]>, taken: Option<u32>) {
        self.writer.kind(WRITE);
        self.writer.number(number.into());
        self.writer.optional_data(piece);
        self.writer.number(taken.map_or(0, |taken| u64::from(taken) + 1));
    }

    /// Notes the end of a call that nobody wants.
    pub fn cancel(&mut self, number: u32) {
        self.writer.kind(CANCEL);
        self.writer.number(number.into());
    }

    /// Notes a text for the log.
    pub fn log(&mut self, is_error: bool, text: &[u8]) {
        self.writer.kind(if is_error { LOG_ERROR } else { LOG });
        self.writer.data(text);
    }

    /// Notes the end of the guest in the function that it has called.
    pub fn refused(&mut self, text: &str) {
        self.writer.kind(REFUSED);
        self.writer.text(text.as_bytes());
    }

    /// Notes any event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Enter(Request { method, path, headers, body }) => {
                self.enter(method, path, headers, body.as_deref());
            }
            Event::Leave(Response { status, headers, body }) => self.leave(*status, headers, body.as_deref()),
            Event::Trap(text) => self.trap(text),
            Event::Monotonic(now) => self.monotonic(*now),
            Event::Wall(now) => self.wall(*now),
            Event::RandomBytes(bytes) => self.random_bytes(bytes),
            Event::RandomNumber(number) => self.random_number(*number),
            Event::Environment(variables) => {
                let each = variables.iter();
                let each = each.map(|Variable { name, value, is_secret }| (&**name, &**value, *is_secret));
                self.environment(variables.len(), each);
            }
            Event::Start(number, call) => self.start(*number, call),
            Event::Wait(timeout, has_any) => self.wait(*timeout, *has_any),
            Event::Take(None) => self.take_nothing(),
            Event::Take(Some((number, Ok(Response { status, headers, body })))) => {
                self.take(*number, *status, headers, body.as_deref());
            }
            Event::Take(Some((number, Err(Failure { reason, detail })))) => {
                self.take_failed(*number, *reason, detail);
            }
            Event::Ready(number) => self.ready(*number),
            Event::Read(number, Piece::Bytes(bytes)) => self.read(*number, bytes),
            Event::Read(number, Piece::Later) => self.read_nothing(*number, false),
            Event::Read(number, Piece::End) => self.read_nothing(*number, true),
            Event::Read(number, Piece::Failed(Failure { reason, detail })) => {
                self.read_failed(*number, *reason, detail);
            }
            Event::Write(number, piece, taken) => self.write(*number, piece.as_deref(), *taken),
            Event::Cancel(number) => self.cancel(*number),
            Event::Log(is_error, text) => self.log(*is_error, text),
            Event::Refused(text) => self.refused(text),
        }
    }
}

fn fields(writer: &mut Writer, fields: Fields<'_>) {
    writer.fields(fields.len(), fields.iter().map(|(name, value)| (&**name, &**value)));
}

fn response(writer: &mut Writer, status: u16, headers: Fields<'_>, body: Option<&[u8]>) {
    writer.number(status.into());
    fields(writer, headers);
    writer.optional_data(body);
}

fn failure(writer: &mut Writer, reason: Reason, detail: &str) {
    writer.byte(reason as u8);
    writer.text(detail.as_bytes());
}

/// Reads events until the end of the bytes.
pub(crate) fn events(bytes: &[u8]) -> Result<Vec<Event>, TapeError> {
    let (mut reader, mut times, mut events) = (Reader::new(bytes), Times::default(), Vec::new());
    while !reader.is_empty() {
        reader.take_entries(1)?;
        events.push(event(&mut reader, &mut times)?);
    }
    Ok(events)
}

fn event(reader: &mut Reader<'_>, times: &mut Times) -> Result<Event, TapeError> {
    let kind = reader.byte("event")?;
    Ok(match kind {
        ENTER => Event::Enter(Request {
            method: reader.string("method")?,
            path: reader.string("path")?,
            headers: reader.fields()?,
            body: reader.optional_data("body")?,
        }),
        LEAVE => Event::Leave(read_response(reader)?),
        TRAP => Event::Trap(reader.string("trap")?),
        MONOTONIC => {
            times.monotonic = reader.difference(times.monotonic, "time")?;
            Event::Monotonic(times.monotonic)
        }
        WALL => {
            times.wall = reader.difference(times.wall, "time")?;
            Event::Wall(times.wall)
        }
        RANDOM_BYTES => Event::RandomBytes(reader.data("random bytes")?),
        RANDOM_NUMBER => Event::RandomNumber(u64::from_le_bytes(reader.array("random number")?)),
        ENVIRONMENT => {
            let count = reader.count(3, "environment")?;
            let variable = |_| {
                Ok(Variable {
                    name: reader.string("environment")?,
                    value: reader.string("environment")?,
                    is_secret: reader.flag("environment")?,
                })
            };
            Event::Environment((0..count).map(variable).collect::<Result<_, _>>()?)
        }
        START | START_STREAMED | START_WRITTEN => {
            let number = reader.small("call")?;
            let call = Call {
                method: reader.string("method")?,
                url: reader.string("URL")?,
                headers: reader.fields()?,
                body: reader.optional_data("body")?,
                timeout_ms: reader.small("call")?,
                max_bytes: reader.small("call")?,
                streamed: (kind != START).then_some(kind == START_WRITTEN),
            };
            Event::Start(number, call)
        }
        WAIT | WAIT_FOR_NOTHING => Event::Wait(reader.small("wait")?, kind == WAIT),
        TAKE_NOTHING => Event::Take(None),
        TAKE => Event::Take(Some((reader.small("call")?, Ok(read_response(reader)?)))),
        TAKE_FAILED => Event::Take(Some((reader.small("call")?, Err(read_failure(reader)?)))),
        READY_NOTHING => Event::Ready(None),
        READY => Event::Ready(Some(reader.small("call")?)),
        READ => Event::Read(reader.small("call")?, Piece::Bytes(reader.data("piece")?)),
        READ_LATER => Event::Read(reader.small("call")?, Piece::Later),
        READ_END => Event::Read(reader.small("call")?, Piece::End),
        READ_FAILED => Event::Read(reader.small("call")?, Piece::Failed(read_failure(reader)?)),
        WRITE => {
            let (number, piece) = (reader.small("call")?, reader.optional_data("piece")?);
            let taken = match reader.number("write")? {
                0 => None,
                more => Some(u32::try_from(more - 1).map_err(|_| TapeError::Wrong("write"))?),
            };
            Event::Write(number, piece, taken)
        }
        CANCEL => Event::Cancel(reader.small("call")?),
        REFUSED => Event::Refused(reader.string("trap")?),
        LOG | LOG_ERROR => Event::Log(kind == LOG_ERROR, reader.data("log")?),
        _ => return Err(TapeError::Wrong("event")),
    })
}

fn read_response(reader: &mut Reader<'_>) -> Result<Response, TapeError> {
    Ok(Response { status: reader.small("status")?, headers: reader.fields()?, body: reader.optional_data("body")? })
}

fn read_failure(reader: &mut Reader<'_>) -> Result<Failure, TapeError> {
    let reason = *Reason::ALL.get(usize::from(reader.byte("reason")?)).ok_or(TapeError::Wrong("reason"))?;
    Ok(Failure { reason, detail: reader.string("detail")? })
}
