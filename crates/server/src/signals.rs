//! The signals that end a server, and the one that reloads its configuration.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::ServerError;

/// The exit code after SIGINT, as `tenon run` has it.
const INTERRUPTED: u8 = 130;

/// A reason to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// SIGTERM: drain first.
    Terminate,
    /// SIGINT: stop now, after running requests.
    Interrupt,
}

impl End {
    /// The exit code that goes with it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Terminate => 0,
            Self::Interrupt => INTERRUPTED,
        }
    }
}

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

    /// Runs the steps that end the server. A second signal ends the process at once.
    pub(crate) async fn ending(mut self, steps: impl Future<Output = ()>) {
        tokio::select! {
            () = steps => {}
            _ = self.next() => std::process::exit(INTERRUPTED.into()),
        }
    }
}
