//! Counts what the server sends, and charges it, before sqlx buffers it.
//!
//! PostgreSQL sends a row as one message of up to 1 GiB, and sqlx collects the whole message before it returns. So the
//! connection leads through a socket of this process (`Door`), on whose other side a task passes on the bytes. It stops
//! at the limit. The task does not read the bytes, so they may be TLS.
//!
//! ```text
//!  sqlx ─► socket of this process ─► relay, with a meter ─► PostgreSQL
//! ```

#[cfg(unix)]
#[path = "meter/unix.rs"]
mod door;
#[cfg(windows)]
#[path = "meter/windows.rs"]
mod door;

use std::io;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use tenon_http_server::Reservation;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use crate::SqlError;
use door::{Client, Door};

/// Bytes that the server may send between the statements of requests: its catalog, and stored answers.
const BETWEEN: usize = 64 << 20;

/// Bytes of a relay's buffer.
const BUFFER: usize = 32 << 10;

/// Bytes that are charged at a time.
const STEP: usize = 64 << 10;

/// Limits what the server sends on one connection. Clones share it.
#[derive(Clone)]
pub(super) struct Meter(Arc<Mutex<State>>);

struct State {
    /// Bytes that the server may still send.
    left: usize,
    /// The limit that `left` began with.
    limit: usize,
    /// Bytes that are charged and did not come yet.
    ahead: usize,
    /// None between the statements of requests.
    charged: Option<Reservation>,
    refused: Option<Refused>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    TooLarge,
    NoRoom,
}

impl Meter {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(State { left: BETWEEN, limit: BETWEEN, ahead: 0, charged: None, refused: None })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the server send `bytes` for a statement, charged to the request as they come.
    pub(super) fn allow(&self, bytes: usize, charge: Reservation) {
        let mut state = self.state();
        (state.left, state.limit, state.ahead, state.charged) = (bytes, bytes, 0, Some(charge));
    }

    /// Ends a statement of a request, whose bytes are not buffered any more.
    pub(super) fn end(&self) {
        let mut state = self.state();
        (state.left, state.limit, state.ahead, state.charged) = (BETWEEN, BETWEEN, 0, None);
    }

    /// Returns the reason why the connection was closed, if it was for its bytes.
    pub(super) fn error(&self) -> Option<SqlError> {
        let state = self.state();
        state.refused.map(|refused| match refused {
            Refused::TooLarge => SqlError::TooMuch(format!(
                "the result is larger than {} bytes as PostgreSQL sends it; use LIMIT, or select less",
                state.limit
            )),
            Refused::NoRoom => SqlError::Busy,
        })
    }

    /// Counts bytes that have come, and reports whether they may be passed on.
    fn count(&self, bytes: usize) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        if state.refused.is_some() {
            return false;
        }
        let Some(left) = state.left.checked_sub(bytes) else {
            state.refused = Some(Refused::TooLarge);
            return false;
        };
        state.left = left;
        if let Some(charged) = &mut state.charged
            && bytes > state.ahead
        {
            if !charged.try_grow(STEP) {
                state.refused = Some(Refused::NoRoom);
                return false;
            }
            state.ahead += STEP;
        }
        state.ahead = state.ahead.saturating_sub(bytes);
        true
    }
}

const _: () = assert!(STEP >= BUFFER);

/// Connects through a relay.
///
/// # Errors
///
/// The system's error when the server cannot be reached, and those of sqlx.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<(PgConnection, Meter), sqlx::Error> {
    let server = Server::connect(options).await?;
    let (door, inner) = Door::open(options).await?;
    let meter = Meter::new();
    let relay = async {
        let client = door.accept().await?;
        tokio::spawn(relay(client, server, meter.clone()));
        Ok::<_, sqlx::Error>(())
    };
    let (connection, ()) = tokio::try_join!(PgConnection::connect_with(&inner), relay)?;
    drop(door);
    Ok((connection, meter))
}

/// The connection to the server.
enum Server {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Server {
    async fn connect(options: &PgConnectOptions) -> io::Result<Self> {
        let (host, port) = (options.get_host(), options.get_port());
        #[cfg(unix)]
        let folder = options.get_socket().cloned().or_else(|| host.starts_with('/').then(|| PathBuf::from(host)));
        #[cfg(unix)]
        if let Some(folder) = folder {
            return UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.map(Self::Unix);
        }
        // sqlx accepts an IPv6 address in its brackets, as URLs have it.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }
}

/// Passes on bytes until either side closes its connection, or the meter refuses.
async fn relay(client: Client, server: Server, meter: Meter) {
    match server {
        Server::Tcp(server) => pass(client, server, &meter).await,
        #[cfg(unix)]
        Server::Unix(server) => pass(client, server, &meter).await,
    }
}

async fn pass(client: Client, server: impl AsyncRead + AsyncWrite, meter: &Meter) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = tokio::io::split(server);
    tokio::select! {
        () = copy(from_client, to_server, |_| true) => {}
        () = copy(from_server, to_client, |bytes| meter.count(bytes)) => {}
    }
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, pass: impl Fn(usize) -> bool) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(bytes @ 1..) = from.read(&mut buffer).await {
        if !pass(bytes) || to.write_all(&buffer[..bytes]).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

#[cfg(test)]
mod tests {
    use tenon_http_server::Budget;

    use super::*;

    #[test]
    fn bytes_are_limited_and_charged_before_they_are_passed_on() {
        let (meter, budget) = (Meter::new(), Budget::new(3 * STEP));
        meter.allow(2 * STEP, budget.unshared().nothing());
        assert!(meter.count(10) && meter.error().is_none());
        assert_eq!(budget.used(), STEP);
        assert!(meter.count(STEP) && budget.used() == 2 * STEP);
        meter.end();
        assert_eq!(budget.used(), 0);
        meter.allow(STEP, budget.unshared().nothing());
        assert!(meter.count(STEP) && !meter.count(1));
        assert!(matches!(meter.error(), Some(SqlError::TooMuch(text)) if text.contains("65536 bytes")));
    }

    #[test]
    fn bytes_without_room_are_not_passed_on() {
        let (meter, budget) = (Meter::new(), Budget::new(STEP));
        meter.allow(usize::MAX, budget.unshared().nothing());
        assert!(meter.count(STEP) && !meter.count(1) && !meter.count(1));
        assert!(matches!(meter.error(), Some(SqlError::Busy)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_relay_passes_both_ways_and_closes_at_the_limit() {
        let ((mut client, inner), (outer, mut server)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let meter = Meter::new();
        tokio::spawn(relay(inner, Server::Unix(outer), meter.clone()));
        client.write_all(b"ask").await.unwrap();
        let mut asked = [0; 3];
        server.read_exact(&mut asked).await.unwrap();
        meter.allow(5, Budget::new(usize::MAX).unshared().nothing());
        server.write_all(b"12345").await.unwrap();
        let mut answered = [0; 5];
        client.read_exact(&mut answered).await.unwrap();
        assert_eq!((&asked, &answered), (b"ask", b"12345"));
        server.write_all(b"6").await.unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        assert!(meter.error().is_some());
    }
}
