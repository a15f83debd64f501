//! Events of a console. Windows ends the process five seconds after a window is closed, and sooner at a shutdown.

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

use super::End;
use crate::error::ServerError;

/// The signal that reloads the configuration: Windows has none.
pub(crate) struct HangUp;

impl HangUp {
    #[allow(clippy::unnecessary_wraps, reason = "it may fail on other systems")]
    pub(crate) fn new() -> Result<Self, ServerError> {
        Ok(Self)
    }

    /// Waits for ever.
    pub(crate) async fn next(&mut self) -> Option<End> {
        std::future::pending().await
    }
}

/// Receives Ctrl-C, Ctrl-Break and the end of the window or the session from when it is made.
pub(crate) struct Signals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, ServerError> {
        let failed = ServerError::Signals;
        Ok(Self {
            interrupt: ctrl_c().map_err(failed)?,
            terminate: ctrl_break().map_err(failed)?,
            close: ctrl_close().map_err(failed)?,
            shutdown: ctrl_shutdown().map_err(failed)?,
        })
    }

    /// The next event.
    pub(crate) async fn next(&mut self) -> End {
        tokio::select! {
            _ = self.interrupt.recv() => End::Interrupt,
            _ = self.terminate.recv() => End::Terminate,
            _ = self.close.recv() => End::Interrupt,
            _ = self.shutdown.recv() => End::Interrupt,
        }
    }
}
