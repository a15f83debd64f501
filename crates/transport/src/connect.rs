//! Opens connections: to a TCP address, a Unix socket, or an allowed host, with TLS if the scheme asks for it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::allow::{Outside, Rules, literal};
use crate::error::SendError;
use crate::in_process::InProcess;

/// Target of the connections of one destination.
pub(crate) enum Target {
    /// A sidecar's host and port. The operator configured it, so any resolved address is accepted.
    Tcp { host: String, port: u16 },
    /// A sidecar's socket.
    Unix(PathBuf),
    /// A sidecar in this process, which has no connections.
    InProcess(InProcess),
    /// An allowed host, checked against the rules.
    Outside(Outside, Arc<Rules>),
}

impl Target {
    /// Returns whether it is a sidecar, which belongs to the operator of the server.
    pub(crate) fn is_sidecar(&self) -> bool {
        !matches!(self, Self::Outside(..))
    }

    /// The address in words.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Tcp { host, port } => format!("{host}:{port}"),
            Self::Unix(path) => path.display().to_string(),
            Self::InProcess(_) => "this process".to_string(),
            Self::Outside(to, _) => format!("{}:{}", to.host, to.port),
        }
    }

    /// Opens a connection. `name` is for errors.
    pub(crate) async fn connect(&self, name: &str) -> Result<Stream, SendError> {
        let failed = |source| SendError::Connect { name: name.to_string(), address: self.address(), source };
        match self {
            Self::InProcess(_) => Err(failed(io::ErrorKind::Unsupported.into())),
            #[cfg(unix)]
            Self::Unix(path) => Ok(Stream::Unix(TokioIo::new(UnixStream::connect(path).await.map_err(failed)?))),
            #[cfg(not(unix))]
            Self::Unix(_) => Err(failed(io::ErrorKind::Unsupported.into())),
            Self::Tcp { host, port } => {
                let addresses = resolve(name, host, *port).await?;
                Ok(Stream::Tcp(TokioIo::new(tcp(addresses).await.map_err(failed)?)))
            }
            Self::Outside(to, rules) => {
                let mut addresses = resolve(name, &to.host, to.port).await?;
                // The rules allowed an address in the URL. The addresses of a name are checked here. The connection
                // uses the very addresses that were checked, because resolving again could give others.
                if literal(&to.host).is_none() {
                    let refused = addresses.iter().find(|address| !rules.allow_address(to, address.ip())).copied();
                    addresses.retain(|address| rules.allow_address(to, address.ip()));
                    if let (true, Some(address)) = (addresses.is_empty(), refused) {
                        let host = to.host.clone();
                        return Err(SendError::PrivateAddress { host, address });
                    }
                }
                let stream = tcp(addresses).await.map_err(failed)?;
                if !to.tls {
                    return Ok(Stream::Tcp(TokioIo::new(stream)));
                }
                let server = ServerName::try_from(to.host.trim_matches(['[', ']']).to_string())
                    .map_err(|error| failed(io::Error::other(error)))?;
                let connector = TlsConnector::from(client_config().map_err(failed)?);
                let stream = connector.connect(server, stream).await.map_err(failed)?;
                Ok(Stream::Tls(Box::new(TokioIo::new(stream))))
            }
        }
    }
}

async fn resolve(name: &str, host: &str, port: u16) -> Result<Vec<SocketAddr>, SendError> {
    if let Some(address) = literal(host) {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let resolved = lookup_host((host, port)).await.map(Iterator::collect);
    resolved.map_err(|source| SendError::Resolve { name: name.to_string(), source })
}

/// Connects to the first address that accepts.
async fn tcp(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Latency over throughput: requests are written whole or in large chunks.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the TLS configuration for allowed hosts, which is made on first use.
fn client_config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut config = tls_client()?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}

/// Makes a TLS client that trusts the system's certificate authorities, or those of `SSL_CERT_FILE`. Reads them on each
/// call.
///
/// # Errors
///
/// Fails when the system has no certificate authorities.
pub fn tls_client() -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    if roots.add_parsable_certificates(found.certs).0 == 0 {
        return Err(io::Error::other("this machine has no certificate authorities; install ca-certificates"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// A connection over any of the transports.
pub(crate) enum Stream {
    Tcp(TokioIo<TcpStream>),
    #[cfg(unix)]
    Unix(TokioIo<UnixStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

macro_rules! delegate {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        match $self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).$method($($argument),*),
            Self::Tls(stream) => Pin::new(&mut **stream).$method($($argument),*),
        }
    };
}

impl Read for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        delegate!(self, poll_read(cx, buf))
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        delegate!(self, poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, poll_shutdown(cx))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, poll_write_vectored(cx, bufs))
    }
}
