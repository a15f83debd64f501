//! What a module writes to its standard output and error, as log lines of the host.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

/// The longest line that is logged as one; a longer one is broken up, so that a module cannot make the host buffer more.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// One request's log. Clones share the line that is being written.
#[derive(Clone)]
pub(crate) struct GuestLog {
    module: Arc<str>,
    request_id: Arc<str>,
    line: Arc<Mutex<Vec<u8>>>,
}

impl GuestLog {
    pub(crate) fn new(module: Arc<str>, request_id: Arc<str>) -> Self {
        Self { module, request_id, line: Arc::default() }
    }

    fn write_all(&self, bytes: &[u8]) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for byte in bytes {
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= MAX_LINE_BYTES {
                self.emit(&line);
                line.clear();
            }
        }
    }

    /// Logs a line. Control characters could rewrite what a terminal shows of other lines, so they are escaped.
    fn emit(&self, line: &[u8]) {
        let text: String = String::from_utf8_lossy(line)
            .chars()
            .map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        tracing::info!(target: "module", module = &*self.module, request_id = &*self.request_id, "{text}");
    }
}

impl Drop for GuestLog {
    fn drop(&mut self) {
        if Arc::strong_count(&self.line) == 1 {
            let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            if !line.is_empty() {
                self.emit(&line);
            }
        }
    }
}

impl IsTerminal for GuestLog {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestLog {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for GuestLog {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.write_all(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(64 * 1024)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for GuestLog {
    async fn ready(&mut self) {}
}

impl AsyncWrite for GuestLog {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write_all(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
