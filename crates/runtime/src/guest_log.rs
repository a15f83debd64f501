//! What a module writes to its standard output and error, as log lines of the host.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use crate::module::ModuleInfo;

/// The longest line that is logged as one; a longer one is broken up, so that a module cannot make the host buffer more.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// The log of one instance, which serves one request at a time. Clones share the line that is being written.
#[derive(Clone)]
pub(crate) struct GuestLog {
    module: Arc<ModuleInfo>,
    state: Arc<Mutex<State>>,
}

struct State {
    request_id: Arc<str>,
    line: Vec<u8>,
    /// How many bytes a request may log, and how many are left of that.
    limit: usize,
    left: usize,
}

impl GuestLog {
    pub(crate) fn new(module: Arc<ModuleInfo>, request_id: Arc<str>, limit: usize) -> Self {
        let state = State { request_id, line: Vec::new(), limit, left: limit };
        Self { module, state: Arc::new(Mutex::new(state)) }
    }

    /// From now on lines belong to another request.
    pub(crate) fn begin(&self, request_id: Arc<str>) {
        let mut state = self.state();
        self.end_line(&mut state);
        state.request_id = request_id;
        state.left = state.limit;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, bytes: &[u8]) {
        let mut state = self.state();
        let allowed = bytes.get(..state.left).unwrap_or(bytes);
        for byte in allowed {
            if *byte != b'\n' {
                state.line.push(*byte);
            }
            if *byte == b'\n' || state.line.len() >= MAX_LINE_BYTES {
                self.emit(&state);
                state.line.clear();
            }
        }
        if allowed.len() == state.left && !bytes.is_empty() && state.left > 0 {
            self.end_line(&mut state);
            let (module, request_id) = (&*self.module.name, &*state.request_id);
            tracing::warn!(module, request_id, "the rest of this request's log is left out (max_log_bytes)");
        }
        state.left -= allowed.len();
    }

    fn end_line(&self, state: &mut State) {
        if !state.line.is_empty() {
            self.emit(state);
            state.line.clear();
        }
    }

    /// Logs a line. Control characters could rewrite what a terminal shows of other lines, so they are escaped.
    fn emit(&self, state: &State) {
        let text: String = String::from_utf8_lossy(&state.line)
            .chars()
            .map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        let text = self.module.source_map.apply(&text);
        tracing::info!(target: "module", module = &*self.module.name, request_id = &*state.request_id, "{text}");
    }
}

impl Drop for GuestLog {
    fn drop(&mut self) {
        if Arc::strong_count(&self.state) == 1 {
            let mut state = self.state();
            self.end_line(&mut state);
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
