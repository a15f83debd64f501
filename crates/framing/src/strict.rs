//! A connection whose requests are checked while they are read.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Framing;

/// Bytes that hyper refuses anywhere in a head, a chunk line or a trailer section, because no grammar allows a NUL
/// after a CR. The empty line makes hyper parse an incomplete head.
const REFUSED: &[u8] = b"\r\0\r\n\r\n";

/// A stream that delivers a client's requests while their framing has one reading.
///
/// A violating request reaches hyper broken. So hyper answers 400 in the order of pipelined requests, and closes.
/// Nothing after the violation is read.
pub struct Strict<S> {
    stream: S,
    framing: Framing,
    /// Delivered bytes of [`REFUSED`], after a request was refused.
    refused: Option<usize>,
}

impl<S> Strict<S> {
    /// Checks the requests of a connection from its beginning.
    pub fn new(stream: S) -> Self {
        Self { stream, framing: Framing::new(), refused: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Strict<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(delivered) = &mut this.refused {
            let left = &REFUSED[*delivered..];
            if left.is_empty() {
                // hyper has the bytes that make it close. The end of the stream would make it drop its answer.
                return Poll::Pending;
            }
            let some = &left[..left.len().min(buf.remaining())];
            buf.put_slice(some);
            *delivered += some.len();
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        if !matches!(read, Poll::Ready(Ok(()))) {
            return read;
        }
        if let Err(refusal) = this.framing.advance(&buf.filled()[before..]) {
            tracing::debug!("a request is refused: {}", refusal.violation);
            let at = before + refusal.at;
            buf.filled_mut()[at] = REFUSED[0];
            buf.set_filled(at + 1);
            this.refused = Some(1);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Strict<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
