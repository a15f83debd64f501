//! Decompression.
use alloc::boxed::Box;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::gzip::{HeaderReader, Trailer};
use super::{Corrupt, Format, Step};

enum State {
    Header(HeaderReader),
    Body,
    /// The deflate stream has ended, and the gzip trailer follows.
    Trailer,
    End,
}

pub struct Decompressor {
    inflate: Box<InflateState>,
    trailer: Option<Trailer>,
    state: State,
}

impl Decompressor {
    pub fn new(format: Format) -> Self {
        let gzip = format == Format::Gzip;
        Self {
            inflate: InflateState::new_boxed(if format == Format::Zlib { DataFormat::Zlib } else { DataFormat::Raw }),
            trailer: gzip.then(Trailer::default),
            state: if gzip { State::Header(HeaderReader::default()) } else { State::Body },
        }
    }

    /// Writes a part of the output. It is empty when more input is needed, and at the end. Input after the end, and an end of
    /// the input before that of the stream, are errors, as the Compression Standard has it.
    pub fn step(&mut self, input: &[u8], output: &mut [u8], finished: bool) -> Result<Step, Corrupt> {
        let mut step = Step { consumed: 0, produced: 0 };
        loop {
            let left = &input[step.consumed..];
            match &mut self.state {
                State::Header(header) => {
                    let (consumed, complete) = header.read(left)?;
                    step.consumed += consumed;
                    if !complete {
                        break;
                    }
                    self.state = State::Body;
                }
                State::Body => {
                    let result = inflate(&mut self.inflate, left, output, MZFlush::None);
                    step.consumed += result.bytes_consumed;
                    step.produced = result.bytes_written;
                    if let Some(trailer) = &mut self.trailer {
                        trailer.update(&output[..result.bytes_written]);
                    }
                    match result.status {
                        Ok(MZStatus::StreamEnd) if self.trailer.is_some() => self.state = State::Trailer,
                        Ok(MZStatus::StreamEnd) => self.state = State::End,
                        // More input is needed, or more space.
                        Ok(_) | Err(MZError::Buf) => break,
                        Err(_) => return Err(Corrupt),
                    }
                    if step.produced > 0 {
                        return Ok(step);
                    }
                }
                State::Trailer => {
                    let Some(trailer) = &mut self.trailer else { return Err(Corrupt) };
                    let (consumed, complete) = trailer.verify(left)?;
                    step.consumed += consumed;
                    if !complete {
                        break;
                    }
                    self.state = State::End;
                }
                State::End => return if left.is_empty() { Ok(step) } else { Err(Corrupt) },
            }
        }
        // Everything that can be read is read.
        if finished && step.produced == 0 { Err(Corrupt) } else { Ok(step) }
    }
}
