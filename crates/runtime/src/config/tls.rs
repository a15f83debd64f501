//! TLS with a certificate and key from files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::error::RuntimeError;

/// A certificate that is served with; TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
#[derive(Clone)]
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads PEM files: the certificate with its chain, and its private key.
    pub(crate) fn load(certificate: &Path, key: &Path) -> Result<Self, RuntimeError> {
        let wrong = |file: &Path, what: String| RuntimeError::Config(format!("{}: {what}", file.display()));
        let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(certificate, format!("no certificate in PEM: {error}")))?;
        let private =
            PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, format!("no private key in PEM: {error}")))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| wrong(certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }
}
