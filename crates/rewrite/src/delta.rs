//! Components as deltas to a base that many of them share: the JavaScript engine.
//!
//! A delta is one frame of Zstandard whose prefix is the base, as `zstd --patch-from` writes it. So a base alone is an
//! ordinary frame, with an empty prefix.
//!
//! This module owns the format and its limits. `cli/src/oci` owns the choice of the base, and the digests: a delta says
//! nothing about its base, and another base of the same length gives other bytes without an error.
//!
//! Both directions work in one call on whole buffers. So the decoder has no window of its own, and the output cannot
//! become longer than the buffer that was allocated for it.

#[cfg(test)]
mod tests;

use thiserror::Error;
use zstd_safe::{CCtx, CParameter, DCtx, get_error_name, get_frame_content_size};

use crate::state::{EngineModule, StateError};

/// The level of compression. Level 19 takes fifteen times as long for a component, and saves a tenth.
const LEVEL: i32 = 12;

/// The base-2 logarithm of the longest distance of a match. The base and the bytes have to fit in.
const WINDOW_LOG: u32 = 27;

/// The most bytes of a base and a component together, because of the window.
const MAX_BYTES: usize = 1 << WINDOW_LOG;

/// The reason why there is no delta, or no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// Matches could not reach all of the base.
    #[error("the base and the component have {0} bytes together; the limit is {MAX_BYTES}")]
    TooLarge(usize),

    /// The delta does not begin with a frame that has a size.
    #[error("it is not a delta")]
    NotADelta,

    /// The delta announces more bytes than allowed.
    #[error("it expands to {announced} bytes; the limit is {limit}")]
    TooLong {
        /// The size in the frame.
        announced: u64,
        /// The caller's limit.
        limit: usize,
    },

    /// The delta is damaged, or belongs to another base.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),

    /// The component is damaged.
    #[error(transparent)]
    Component(StateError),

    /// The library refuses parameters or has no memory.
    #[error("it cannot be compressed: {0}")]
    Compressor(&'static str),
}

/// Returns the engine of a component without its state, which is the base for all components of that engine. There is none for
/// core modules, and for components without any.
///
/// # Errors
///
/// [`DeltaError::Component`].
pub fn engine_of(component: &[u8]) -> Result<Option<Vec<u8>>, DeltaError> {
    match EngineModule::find(component) {
        Ok(engine) => engine.without_state().map(Some).map_err(DeltaError::Component),
        Err(StateError::Foreign(_)) => Ok(None),
        Err(error) => Err(DeltaError::Component(error)),
    }
}

/// Compresses bytes, with matches in `base`. The same arguments give the same result.
///
/// # Errors
///
/// - [`DeltaError::TooLarge`] for more than 128 MiB.
/// - [`DeltaError::Compressor`] when memory is missing.
pub fn compress(bytes: &[u8], base: &[u8]) -> Result<Vec<u8>, DeltaError> {
    let together = bytes.len().saturating_add(base.len());
    if together > MAX_BYTES {
        return Err(DeltaError::TooLarge(together));
    }
    let failed = |code| DeltaError::Compressor(get_error_name(code));
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(LEVEL),
        CParameter::WindowLog(window_log(together)),
        CParameter::EnableLongDistanceMatching(true),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
    ] {
        context.set_parameter(parameter).map_err(failed)?;
    }
    if !base.is_empty() {
        context.ref_prefix(base).map_err(failed)?;
    }
    let mut delta = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    context.compress2(&mut delta, bytes).map_err(failed)?;
    delta.shrink_to_fit();
    Ok(delta)
}

/// Returns the bytes that were compressed with the same `base`. Allocates no more than `limit` bytes for them.
///
/// The delta may come from anyone. The checksum in it finds most wrong bases, but the caller has to compare the digest.
///
/// # Errors
///
/// [`DeltaError::NotADelta`], [`DeltaError::TooLong`] and [`DeltaError::Damaged`].
pub fn expand(delta: &[u8], base: &[u8], limit: usize) -> Result<Vec<u8>, DeltaError> {
    let announced = get_frame_content_size(delta).ok().flatten().ok_or(DeltaError::NotADelta)?;
    let size = usize::try_from(announced)
        .ok()
        .filter(|size| *size <= limit)
        .ok_or(DeltaError::TooLong { announced, limit })?;
    let failed = |code| DeltaError::Damaged(get_error_name(code));
    let mut context = DCtx::create();
    if !base.is_empty() {
        context.ref_prefix(base).map_err(failed)?;
    }
    let mut bytes = Vec::with_capacity(size);
    context.decompress(&mut bytes, delta).map_err(failed)?;
    if bytes.len() == size { Ok(bytes) } else { Err(DeltaError::Damaged("it has several frames")) }
}

/// Returns the logarithm of the smallest window that has room for this many bytes.
fn window_log(bytes: usize) -> u32 {
    // Zstandard has no smaller window than 2^10 bytes.
    bytes.next_power_of_two().ilog2().clamp(10, WINDOW_LOG)
}
