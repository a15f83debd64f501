//! A sidecar with nothing but HTTP, for `bench/sidecar`: every request gets the same answer.
//! It listens on the given Unix socket, or on a free TCP port, and prints its address in the form of `tenon.toml`.
//! It serves until it is killed.

use std::convert::Infallible;
use std::io::Write;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

fn main() -> std::io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(listen(std::env::args().nth(1)))
}

async fn listen(socket: Option<String>) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    if let Some(path) = socket {
        let listener = UnixListener::bind(&path)?;
        writeln!(out, "unix://{path}")?;
        loop {
            serve(listener.accept().await?.0);
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(out, "http://{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        serve(stream);
    }
}

fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let answer = service_fn(|request: Request<Incoming>| async move {
        let _ = request.into_body().collect().await;
        let mut response = http::Response::new(Full::new(Bytes::from_static(br#"{"rows":[]}"#)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok::<_, Infallible>(response)
    });
    tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
}
