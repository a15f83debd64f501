//! Compression.
use alloc::boxed::Box;
use miniz_oxide::deflate::core::CompressorOxide;
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

use super::gzip::{HEADER, Trailer};
use super::{Format, Step};

/// zlib's default, which browsers use, too.
const LEVEL: u8 = 6;

pub struct Compressor {
    state: Box<CompressorOxide>,
    /// The trailer of a gzip stream, until all of it is written.
    trailer: Option<Trailer>,
    /// Bytes of the gzip header that are written.
    header: usize,
    ended: bool,
}

impl Compressor {
    pub fn new(format: Format) -> Self {
        let data_format = if format == Format::Zlib { DataFormat::Zlib } else { DataFormat::Raw };
        let mut state = Box::<CompressorOxide>::default();
        state.set_format_and_level(data_format, LEVEL);
        let gzip = format == Format::Gzip;
        Self { state, trailer: gzip.then(Trailer::default), header: if gzip { 0 } else { HEADER.len() }, ended: false }
    }

    /// Writes a part of the output. It is empty when more input is needed, and at the end.
    pub fn step(&mut self, input: &[u8], output: &mut [u8], finished: bool) -> Step {
        if self.header < HEADER.len() {
            let part = &HEADER[self.header..];
            let produced = part.len().min(output.len());
            output[..produced].copy_from_slice(&part[..produced]);
            self.header += produced;
            return Step { consumed: 0, produced };
        }
        if self.ended {
            let produced = self.trailer.as_mut().map_or(0, |trailer| trailer.write(output));
            return Step { consumed: 0, produced };
        }
        let flush = if finished { MZFlush::Finish } else { MZFlush::None };
        let result = deflate(&mut self.state, input, output, flush);
        if let Some(trailer) = &mut self.trailer {
            trailer.update(&input[..result.bytes_consumed]);
        }
        self.ended = result.status == Ok(MZStatus::StreamEnd);
        let step = Step { consumed: result.bytes_consumed, produced: result.bytes_written };
        // The end of the deflate stream may be written without output left for the trailer.
        if self.ended && step.produced == 0 {
            return Step { consumed: step.consumed, ..self.step(&[], output, finished) };
        }
        step
    }
}
