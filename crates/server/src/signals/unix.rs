//! Signals of Unix.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::End;
use crate::error::ServerError;

/// Receives SIGHUP from when it is made.
pub(crate) struct HangUp {
    signal: Signal,
    had_terminal: bool,
}

impl HangUp {
    pub(crate) fn new() -> Result<Self, ServerError> {
        let signal = signal(SignalKind::hangup()).map_err(ServerError::Signals)?;
        Ok(Self { signal, had_terminal: has_terminal() })
    }

    /// Waits for the next one. Returns an end if the terminal is gone that the process was started on.
    pub(crate) async fn next(&mut self) -> Option<End> {
        self.signal.recv().await;
        (self.had_terminal && !has_terminal()).then_some(End::Interrupt)
    }
}

/// Reports whether the process has a terminal that controls it.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Receives SIGTERM and SIGINT from when it is made.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, ServerError> {
        let terminate = signal(SignalKind::terminate()).map_err(ServerError::Signals)?;
        let interrupt = signal(SignalKind::interrupt()).map_err(ServerError::Signals)?;
        Ok(Self { terminate, interrupt })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> End {
        tokio::select! {
            _ = self.terminate.recv() => End::Terminate,
            _ = self.interrupt.recv() => End::Interrupt,
        }
    }
}
