//! Follows the requests of a connection: the bounds of each head, field, chunk and body.

use super::chunked::ChunkLine;
use super::field::{Field, Kind};
use super::{Refusal, Violation};

/// The position in the requests of one connection.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    state: State,
    field: Field,
    /// The request's `Content-Length`.
    length: Option<u64>,
    /// True when the request has a `Transfer-Encoding`.
    chunked: bool,
    /// True when field lines belong to the trailer section.
    in_trailers: bool,
    /// Size of the current head so far, including the whole read in which it began.
    head_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a request, where empty lines are allowed (RFC 9112, section 2.2).
    Between,
    EmptyLineLf,
    RequestLine,
    RequestLineLf,
    /// At the beginning of a field line, or at the end of a section.
    LineStart,
    Name,
    Value(Kind),
    ValueLf(Kind),
    SectionLf,
    /// In a body with a length, with this number of bytes left.
    Body(u64),
    ChunkLine(ChunkLine),
    /// In a chunk, with this number of bytes left.
    Chunk(u64),
    ChunkCr,
    ChunkLf,
}

impl Requests {
    /// Starts at the beginning of a connection.
    pub(super) fn new() -> Self {
        Self {
            state: State::Between,
            field: Field::new(),
            length: None,
            chunked: false,
            in_trailers: false,
            head_bytes: 0,
        }
    }

    /// Returns whether the bytes so far end with a whole request.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Between
    }

    /// Returns the size of the head that has begun and not ended, including the whole read in which it began; 0 elsewhere.
    pub(super) fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    fn is_in_head(&self) -> bool {
        let is_line = matches!(
            self.state,
            State::RequestLine
                | State::RequestLineLf
                | State::LineStart
                | State::Name
                | State::Value(_)
                | State::ValueLf(_)
                | State::SectionLf
        );
        is_line && !self.in_trailers
    }

    /// Follows the next bytes of the connection, however they are divided.
    ///
    /// # Errors
    ///
    /// The first byte that violates the framing. The connection cannot be followed any further.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let taken = match self.state {
                State::Body(left) => Ok(self.skip(rest, left, State::Body, State::Between)),
                State::Chunk(left) => Ok(self.skip(rest, left, State::Chunk, State::ChunkCr)),
                State::RequestLine => self.request_line(rest),
                State::Name => self.name(rest),
                State::Value(Kind::Other) => self.other_value(rest),
                _ => self.byte(rest[0]).map(|()| 1).map_err(|violation| Refusal { at: 0, violation }),
            };
            at += taken.map_err(|refusal| Refusal { at: at + refusal.at, ..refusal })?;
        }
        if self.is_in_head() {
            self.head_bytes = self.head_bytes.saturating_add(bytes.len());
        }
        Ok(())
    }

    fn skip(&mut self, rest: &[u8], left: u64, on: fn(u64) -> State, then: State) -> usize {
        let taken = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
        let left = left - taken as u64;
        self.state = if left == 0 { then } else { on(left) };
        taken
    }

    /// Checks the request line for bytes that hyper accepts and no URI has. hyper parses the rest.
    fn request_line(&mut self, rest: &[u8]) -> Result<usize, Refusal> {
        let end = memchr::memchr2(b'\r', b'\n', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        if memchr::memchr(b'#', line).is_some() || !line.is_ascii() {
            let at = line.iter().position(|byte| *byte == b'#' || !byte.is_ascii()).unwrap_or(0);
            return Err(Refusal { at, violation: Violation::Target });
        }
        self.end_of_line(rest, end, State::RequestLineLf)
    }

    fn name(&mut self, rest: &[u8]) -> Result<usize, Refusal> {
        let at = self.field.push_name(rest);
        match rest.get(at) {
            None => Ok(at),
            Some(b':') => {
                self.state = State::Value(self.kind().map_err(|violation| Refusal { at, violation })?);
                Ok(at + 1)
            }
            Some(_) => Err(Refusal { at, violation: Violation::FieldName }),
        }
    }

    fn other_value(&mut self, rest: &[u8]) -> Result<usize, Refusal> {
        self.end_of_line(rest, memchr::memchr2(b'\r', b'\n', rest), State::ValueLf(Kind::Other))
    }

    fn end_of_line(&mut self, rest: &[u8], end: Option<usize>, then: State) -> Result<usize, Refusal> {
        match end {
            None => Ok(rest.len()),
            Some(at) if rest[at] == b'\n' => Err(Refusal { at, violation: Violation::BareLf }),
            Some(at) => {
                self.state = then;
                Ok(at + 1)
            }
        }
    }

    fn byte(&mut self, byte: u8) -> Result<(), Violation> {
        self.state = match (self.state, byte) {
            (State::Between, b'\r') => State::EmptyLineLf,
            (State::Between | State::LineStart, b'\n') => return Err(Violation::BareLf),
            (State::Between, _) => State::RequestLine,
            (State::EmptyLineLf, b'\n') => State::Between,
            (State::RequestLineLf, b'\n') => State::LineStart,
            (State::LineStart, b'\r') => State::SectionLf,
            (State::LineStart, byte) => {
                self.field.clear();
                if self.field.push_name(&[byte]) == 0 {
                    return Err(Violation::FieldName);
                }
                State::Name
            }
            (State::Value(_), b'\n') => return Err(Violation::BareLf),
            (State::Value(kind), b'\r') => State::ValueLf(kind),
            (State::Value(kind), byte) => {
                let too_long = match kind {
                    Kind::ContentLength => Violation::ContentLength,
                    Kind::TransferEncoding | Kind::Other => Violation::TransferEncoding,
                };
                self.field.push_value(byte, too_long)?;
                State::Value(kind)
            }
            (State::ValueLf(kind), b'\n') => {
                self.end_field(kind)?;
                State::LineStart
            }
            (State::SectionLf, b'\n') => self.end_section(),
            (State::ChunkLine(mut line), byte) => match line.push(byte)? {
                false => State::ChunkLine(line),
                true if line.size > 0 => State::Chunk(line.size),
                true => {
                    self.in_trailers = true;
                    State::LineStart
                }
            },
            (State::ChunkCr, b'\r') => State::ChunkLf,
            (State::ChunkLf, b'\n') => State::ChunkLine(ChunkLine::new()),
            (State::ChunkCr, _) => return Err(Violation::ChunkEnd),
            _ => return Err(Violation::BareCr),
        };
        Ok(())
    }

    fn kind(&self) -> Result<Kind, Violation> {
        let kind = self.field.kind()?;
        if self.in_trailers && kind != Kind::Other { Err(Violation::Trailer) } else { Ok(kind) }
    }

    fn end_field(&mut self, kind: Kind) -> Result<(), Violation> {
        match kind {
            Kind::Other => return Ok(()),
            Kind::ContentLength => {
                let length = self.field.length()?;
                if self.length.replace(length).is_some() {
                    return Err(Violation::RepeatedContentLength);
                }
            }
            Kind::TransferEncoding => {
                if self.chunked {
                    return Err(Violation::TransferEncoding);
                }
                self.field.ends_with_chunked()?;
                self.chunked = true;
            }
        }
        if self.chunked && self.length.is_some() { Err(Violation::BothLengths) } else { Ok(()) }
    }

    /// Returns the state after a head or the trailers.
    fn end_section(&mut self) -> State {
        self.head_bytes = 0;
        let (length, chunked) = (self.length.take(), std::mem::take(&mut self.chunked));
        match (std::mem::take(&mut self.in_trailers), chunked, length) {
            (false, true, _) => State::ChunkLine(ChunkLine::new()),
            (false, false, Some(length)) if length > 0 => State::Body(length),
            _ => State::Between,
        }
    }
}

#[cfg(test)]
mod tests;
