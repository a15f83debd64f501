//! A module's output, as log lines of the host: standard output at level `info`, standard error at level `error`.
//!
//! It arrives through the streams of `wasi:cli`, or through `sdk:core/log` (`calls`), which needs no stream.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tenon_visible::shown;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use crate::instance::caller::Caller;
use crate::instance::log_budget::{Fit, LogBudget};
use crate::instance::masks::Masks;
use crate::metering::meter::Meter;
use crate::telemetry::module_info::ModuleInfo;
use crate::telemetry::transcript::{Level, MAX_LINE_BYTES, Transcript};

/// The log of one instance, which serves one request at a time. Clones share the lines that are being written.
#[derive(Clone)]
pub(crate) struct GuestLog {
    module: Arc<ModuleInfo>,
    masks: Arc<Masks>,
    state: Arc<Mutex<State>>,
    stream: Stream,
}

#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Output,
    Error,
}

struct State {
    request_id: Arc<str>,
    /// The line that is being written, for each stream.
    lines: [Vec<u8>; 2],
    budget: LogBudget,
    transcript: Option<Arc<Transcript>>,
    /// Gets the lines in place of the log.
    meter: Option<Meter>,
}

/// All of it, comparable with that of a fresh instance.
#[cfg(test)]
#[derive(Debug, PartialEq)]
pub(crate) struct Observed {
    /// Where it stands, which is the same for all instances of a module.
    module: usize,
    request_id: Arc<str>,
    lines: [Vec<u8>; 2],
    left: usize,
}

impl GuestLog {
    #[cfg(test)]
    pub(crate) fn observed(&self) -> Observed {
        // `stream` distinguishes clones; all instances of a module share `masks`, which never change.
        let Self { module, masks: _, state, stream: _ } = self;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        // The transcript is the request's own, and nothing of it can be read by a guest.
        let State { request_id, lines, budget, transcript: _, meter: _ } = &*state;
        Observed {
            module: Arc::as_ptr(module).addr(),
            request_id: Arc::clone(request_id),
            lines: lines.clone(),
            left: budget.left(),
        }
    }

    pub(crate) fn new(module: Arc<ModuleInfo>, masks: Arc<Masks>, caller: &Caller) -> Self {
        let state = State {
            request_id: Arc::clone(&caller.request_id),
            lines: [Vec::new(), Vec::new()],
            budget: caller.log.clone(),
            transcript: caller.transcript.clone(),
            meter: caller.bounded().cloned(),
        };
        Self { module, masks, state: Arc::new(Mutex::new(state)), stream: Stream::Output }
    }

    /// The same log for standard error.
    pub(crate) fn errors(&self) -> Self {
        let mut errors = self.clone();
        errors.stream = Stream::Error;
        errors
    }

    /// From now on lines belong to another request.
    pub(crate) fn begin(&self, caller: &Caller) {
        let mut state = self.state();
        self.end_lines(&mut state);
        state.request_id = Arc::clone(&caller.request_id);
        state.transcript.clone_from(&caller.transcript);
        state.meter = caller.bounded().cloned();
        state.budget = caller.log.clone();
    }

    /// Completes the lines that are being written: their request has ended.
    pub(crate) fn end(&self) {
        self.end_lines(&mut self.state());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to one of the streams. A text with a stack, written at once, is one record.
    pub(crate) fn write_to(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.state();
        if state.lines[stream as usize].is_empty()
            && bytes.len() <= MAX_REPORT_BYTES
            && bytes.windows(FRAME.len()).any(|part| part == FRAME.as_bytes())
        {
            let text = self.masks.apply(String::from_utf8_lossy(bytes));
            if let Some(report) = Report::of(&text) {
                return self.emit_report(&mut state, stream, &report);
            }
        }
        for byte in bytes {
            if state.budget.is_over() {
                return;
            }
            let line = &mut state.lines[stream as usize];
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' {
                self.emit(&mut state, stream);
            } else if line.len() >= MAX_LINE_BYTES {
                self.emit_part(&mut state, stream);
            }
        }
    }

    fn end_lines(&self, state: &mut State) {
        for stream in [Stream::Output, Stream::Error] {
            if !state.lines[stream as usize].is_empty() {
                self.emit(state, stream);
            }
        }
    }

    /// Logs a part of a long line. The beginning of a secret at its end stays for the next part, unless it is most of the part.
    fn emit_part(&self, state: &mut State, stream: Stream) {
        let line = &mut state.lines[stream as usize];
        let begun = self.masks.begun(line);
        let rest = if begun <= line.len() / 2 { line.split_off(line.len() - begun) } else { Vec::new() };
        self.emit(state, stream);
        state.lines[stream as usize] = rest;
    }

    /// Logs a line, without secrets, as far as the request may log. Control characters are escaped, because they could change other lines on a
    /// terminal.
    fn emit(&self, state: &mut State, stream: Stream) {
        let line = std::mem::take(&mut state.lines[stream as usize]);
        let line = self.masks.apply(String::from_utf8_lossy(&line));
        let text = self.module.source_map.apply(&escaped(&line)).into_owned();
        if let Some(meter) = &state.meter {
            return meter.line(matches!(stream, Stream::Error), &text);
        }
        let Some(Fit { text, ends_here }) = state.budget.take(&text) else { return };
        self.record(state, stream, text);
        // The page of `tenon dev` has each request's own.
        if state.transcript.is_some() && self.module.warnings.is_repeated(text) {
            return;
        }
        let (module, request_id) = (&*self.module.name, &*state.request_id);
        match stream {
            Stream::Output => tracing::info!(target: "module", module, request_id, "{text}"),
            Stream::Error if text.ends_with(tenon_abi::NOT_SENT) => {
                tracing::warn!(target: "module", module, request_id, "{text}");
            }
            Stream::Error => tracing::error!(target: "module", module, request_id, "{text}"),
        }
        if ends_here {
            log_ends(module, request_id, state.transcript.as_deref());
        }
    }

    /// Logs a text with a stack, with the places in the sources. Tenon's own frames are left out, unless everything is logged.
    fn emit_report(&self, state: &mut State, stream: Stream, report: &Report<'_>) {
        let map = &self.module.source_map;
        let is_verbose = tracing::enabled!(target: "module", tracing::Level::DEBUG);
        let frames: Vec<_> = report.stack.iter().map(|line| (escaped(line), map.is_of_tenon(line))).collect();
        let has_others = frames.iter().any(|(line, is_of_tenon)| !is_of_tenon && is_frame(line));
        let shown = frames.iter().filter(|(_, is_of_tenon)| is_verbose || !is_of_tenon || !has_others);
        let stack: Vec<_> = shown.map(|(line, _)| map.apply(line)).collect();
        let whole = format!("{}\n{}", escaped(&report.message), stack.join("\n"));
        if let Some(meter) = &state.meter {
            let is_error = matches!(stream, Stream::Error);
            return whole.lines().for_each(|line| meter.line(is_error, line));
        }
        let Some(Fit { text, ends_here }) = state.budget.take(&whole) else { return };
        for line in text.lines() {
            self.record(state, stream, line);
        }
        let (message, stack) = text.split_once('\n').unwrap_or((text, ""));
        let (module, request_id) = (&*self.module.name, &*state.request_id);
        match stream {
            Stream::Output => tracing::info!(target: "module", module, request_id, stack = %stack, "{message}"),
            Stream::Error => tracing::error!(target: "module", module, request_id, stack = %stack, "{message}"),
        }
        if ends_here {
            log_ends(module, request_id, state.transcript.as_deref());
        }
    }

    fn record(&self, state: &State, stream: Stream, line: &str) {
        if let Some(transcript) = &state.transcript {
            let level = match stream {
                Stream::Output => Level::Info,
                Stream::Error => Level::Error,
            };
            transcript.line(level, &shown(line));
        }
    }
}

/// The largest text that is looked at for a stack.
const MAX_REPORT_BYTES: usize = 64 * 1024;

/// A text with the stack of an exception.
struct Report<'a> {
    message: String,
    /// The lines after the message: frames, and the messages of causes.
    stack: Vec<&'a str>,
}

impl<'a> Report<'a> {
    /// Reads the lines of a text. None without a stack.
    fn of(text: &'a str) -> Option<Self> {
        let mut lines = text.trim_end().lines();
        let first = lines.next().filter(|line| !is_frame(line))?;
        let mut stack: Vec<_> = lines.collect();
        if !stack.iter().any(|line| is_frame(line)) {
            return None;
        }
        // The SDK names the handler first, and then the exception.
        let mut message = first.to_string();
        if first.starts_with("Uncaught exception") && !is_frame(stack[0]) {
            message = format!("{first}: {}", stack.remove(0));
        }
        Some(Self { message, stack })
    }
}

/// The beginning of a frame as QuickJS writes it.
pub(crate) const FRAME: &str = "    at ";

fn is_frame(line: &str) -> bool {
    line.strip_prefix(FRAME).is_some_and(|frame| frame.trim_end().ends_with(')'))
}

/// A text as a module may log it: control characters are written as `\u{1b}`.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\t' { escaped.extend(c.escape_unicode()) } else { escaped.push(c) }
    }
    escaped
}

/// Notes that no further line of a request is logged.
pub(crate) fn log_ends(module: &str, request_id: &str, transcript: Option<&Transcript>) {
    tracing::warn!(module, request_id, "the rest of this request's log is left out (max_log_bytes)");
    if let Some(transcript) = transcript {
        transcript.line_left_out();
    }
}

impl Drop for GuestLog {
    fn drop(&mut self) {
        if Arc::strong_count(&self.state) == 1 {
            let mut state = self.state();
            self.end_lines(&mut state);
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
        self.write_to(self.stream, &bytes);
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
        self.write_to(self.stream, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
