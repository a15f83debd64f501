//! `tenon_runtime::Server` for Node.

use std::io;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use tenon_runtime::Socket;

use crate::closable::Closable;

/// An address that a runtime listens on.
#[napi]
pub struct Server {
    host: String,
    port: u16,
    server: Closable<tenon_runtime::Server>,
}

impl Server {
    pub(crate) fn new(server: tenon_runtime::Server) -> Self {
        let (host, port) = server.address().map_or_else(Default::default, |at| (at.ip().to_string(), at.port()));
        Self { host, port, server: Closable::new(server) }
    }

    /// Returns the socket for another runtime.
    pub(crate) fn socket(&self) -> io::Result<Socket> {
        self.server
            .get()
            .as_ref()
            .map_or_else(|| Err(io::ErrorKind::NotConnected.into()), tenon_runtime::Server::socket)
    }
}

#[napi]
impl Server {
    /// The IP address that is listened on.
    #[napi(getter)]
    pub fn host(&self) -> String {
        self.host.clone()
    }

    /// The port; the real one when 0 was asked for.
    #[napi(getter)]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops accepting and resolves when running requests have finished, or the shutdown time is over. A second call
    /// resolves at once.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        self.server.close(env, tenon_runtime::Server::close)
    }
}
