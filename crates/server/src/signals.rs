//! The signals that end a server, and the one that reloads its configuration.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{HangUp, Signals};
#[cfg(windows)]
pub(crate) use windows::{HangUp, Signals};

/// The exit code after SIGINT, as `tenon run` has it.
const INTERRUPTED: u8 = 130;

/// A reason to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// SIGTERM, and Ctrl-Break on Windows: drain first.
    Terminate,
    /// SIGINT, and the end of a window or session on Windows: stop now, after running requests.
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

impl Signals {
    /// Runs the steps that end the server. A second signal ends the process at once.
    pub(crate) async fn ending(mut self, steps: impl Future<Output = ()>) {
        tokio::select! {
            () = steps => {}
            _ = self.next() => std::process::exit(INTERRUPTED.into()),
        }
    }
}
