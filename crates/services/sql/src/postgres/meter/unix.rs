//! A Unix socket of this process, which has no file on Linux.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::postgres::PgConnectOptions;
use tenon_service::lease::secret_id;
use tokio::net::{UnixListener, UnixStream};

/// The connection of sqlx to a relay.
pub(super) type Client = UnixStream;

/// A Unix socket at which a relay listens.
pub(super) struct Door {
    listener: UnixListener,
    _socket: SocketPath,
}

/// The path of a socket: a name without a file on Linux, and a file in a folder of its own elsewhere.
struct SocketPath {
    path: PathBuf,
    is_file: bool,
}

impl Door {
    /// Listens. Also returns the options with which sqlx comes here.
    #[allow(clippy::unused_async, reason = "other systems listen asynchronously")]
    pub(super) async fn open(options: &PgConnectOptions) -> Result<(Self, PgConnectOptions), sqlx::Error> {
        let socket = SocketPath::new()?;
        let listener = UnixListener::bind(socket.path.join(format!(".s.PGSQL.{}", options.get_port())))?;
        // The host's name stays, for the server's certificate.
        let inner = options.clone().socket(&socket.path);
        Ok((Self { listener, _socket: socket }, inner))
    }

    /// Accepts the connection of this process. Others of the machine could find the socket.
    pub(super) async fn accept(&self) -> io::Result<Client> {
        let own = i32::try_from(std::process::id()).ok();
        loop {
            let (stream, _) = self.listener.accept().await?;
            let peer = stream.peer_cred()?;
            if peer.pid().is_none() || peer.pid() == own {
                return Ok(stream);
            }
        }
    }
}

impl SocketPath {
    fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tenon-{}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed), secret_id()?);
        if cfg!(target_os = "linux") {
            return Ok(Self { path: format!("\0{name}").into(), is_file: false });
        }
        let path = std::env::temp_dir().join(name);
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&path)?;
        Ok(Self { path, is_file: true })
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        if self.is_file {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
