//! A whole file: a mark and the version, the head, the events, and a checksum of all of it.

use xxhash_rust::xxh3::xxh3_64;

use crate::encoder::{Encoder, events};
use crate::event::Event;
use crate::wire::{Reader, TapeError, Writer};

/// The version of the format. Bump it when a value is written in another way.
pub const VERSION: u8 = 2;

/// The largest file that is read or written, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The first bytes, before the version.
const MARK: &[u8] = b"\x89tenon\r\n";

/// Why a request was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kept {
    /// It is one of the share.
    #[default]
    Share,
    /// It failed.
    Failed,
    /// It took long.
    Slow,
    /// A trusted proxy asked for it.
    Asked,
}

impl Kept {
    const ALL: [Self; 4] = [Self::Share, Self::Failed, Self::Slow, Self::Asked];

    /// In one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Share => "share",
            Self::Failed => "failed",
            Self::Slow => "slow",
            Self::Asked => "asked",
        }
    }
}

/// All that is known of a recorded request besides its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The SHA-256 of the component.
    pub component: [u8; 32],
    /// The module's name.
    pub module: String,
    /// The request's id, as in the log.
    pub request_id: String,
    /// When it came, in nanoseconds since 1970.
    pub time: u64,
    /// How long it took, in nanoseconds.
    pub duration: u64,
    /// The status that its client got.
    pub status: u16,
    /// Why it was recorded.
    pub kept: Kept,
    /// The limits that a guest can notice: bytes of memory, and elements of tables.
    pub limits: [u64; 2],
    /// The digest of the guest's memory and globals after the last event, when it ended by itself.
    pub memory: Option<u128>,
    /// The names of the headers and values that were masked.
    pub masked: Vec<String>,
    /// True when the guest was stopped: by its time limit, or because its client had gone.
    pub is_cut: bool,
}

/// A recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    /// Everything but the events.
    pub meta: Meta,
    /// The events.
    pub events: Vec<Event>,
}

impl Meta {
    /// The file with these events, which an [`Encoder`] has written.
    #[must_use]
    pub fn file(&self, events: &[u8]) -> Vec<u8> {
        let mut writer = Writer { bytes: Vec::with_capacity(events.len() + 256), ..Writer::default() };
        writer.fixed(MARK);
        writer.byte(VERSION);
        writer.fixed(&self.component);
        writer.text(self.module.as_bytes());
        writer.text(self.request_id.as_bytes());
        writer.number(self.time);
        writer.number(self.duration);
        writer.number(self.status.into());
        writer.byte(self.kept as u8);
        writer.number(self.limits[0]);
        writer.number(self.limits[1]);
        match self.memory {
            Some(digest) => {
                writer.byte(1);
                writer.fixed(&digest.to_le_bytes());
            }
            None => writer.byte(0),
        }
        writer.number(self.masked.len() as u64);
        for name in &self.masked {
            writer.text(name.as_bytes());
        }
        writer.byte(u8::from(self.is_cut));
        writer.data(events);
        let checksum = xxh3_64(&writer.bytes);
        writer.fixed(&checksum.to_le_bytes());
        writer.bytes
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, TapeError> {
        Ok(Self {
            component: reader.array("digest")?,
            module: reader.string("module")?,
            request_id: reader.string("request id")?,
            time: reader.number("time")?,
            duration: reader.number("duration")?,
            status: reader.small("status")?,
            kept: *Kept::ALL.get(usize::from(reader.byte("reason")?)).ok_or(TapeError::Wrong("reason"))?,
            limits: [reader.number("limit")?, reader.number("limit")?],
            memory: match reader.flag("digest")? {
                true => Some(u128::from_le_bytes(reader.array("digest")?)),
                false => None,
            },
            masked: {
                let count = reader.count(1, "mask")?;
                (0..count).map(|_| reader.string("mask")).collect::<Result<_, _>>()?
            },
            is_cut: reader.flag("end")?,
        })
    }
}

impl Tape {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, TapeError> {
        let (meta, mut reader) = head(bytes)?;
        let length = reader.small("events")?;
        let events = events(reader.fixed(length, "events")?)?;
        match reader.left() {
            0 => Ok(Self { meta, events }),
            left => Err(TapeError::Rest(left)),
        }
    }

    /// Reads everything of a file but its events.
    ///
    /// # Errors
    ///
    /// As [`Tape::read`].
    pub fn read_meta(bytes: &[u8]) -> Result<Meta, TapeError> {
        head(bytes).map(|(meta, _)| meta)
    }

    /// Reads the module's name from the first bytes of a file. Nothing else is read, so the file may be damaged. None when the name is
    /// not there.
    #[must_use]
    pub fn read_module(start: &[u8]) -> Option<String> {
        let rest = start.strip_prefix(MARK)?.strip_prefix(&[VERSION])?;
        let mut reader = Reader::new(rest);
        reader.fixed(32, "digest").ok()?;
        reader.string("module").ok()
    }

    /// The bytes of its file.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        self.events.iter().for_each(|event| encoder.event(event));
        self.meta.file(&encoder.into_bytes())
    }
}

/// Checks mark, version and checksum, and reads the head.
fn head(bytes: &[u8]) -> Result<(Meta, Reader<'_>), TapeError> {
    if bytes.len() > MAX_BYTES {
        return Err(TapeError::TooLarge(MAX_BYTES));
    }
    let rest = bytes.strip_prefix(MARK).ok_or(TapeError::NotATape)?;
    match rest.first() {
        Some(&VERSION) => {}
        Some(other) => return Err(TapeError::Version(*other)),
        None => return Err(TapeError::Cut("version")),
    }
    let (whole, checksum) = bytes.split_last_chunk::<8>().ok_or(TapeError::Cut("checksum"))?;
    if xxh3_64(whole) != u64::from_le_bytes(*checksum) {
        return Err(TapeError::Damaged);
    }
    let mut reader = Reader::new(whole.get(MARK.len() + 1..).ok_or(TapeError::Cut("head"))?);
    Ok((Meta::read(&mut reader)?, reader))
}

impl Encoder {
    /// Reads events that an encoder has written.
    ///
    /// # Errors
    ///
    /// As [`Tape::read`].
    pub fn decode(bytes: &[u8]) -> Result<Vec<Event>, TapeError> {
        events(bytes)
    }
}
