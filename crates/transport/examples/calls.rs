//! Measures calls without a guest. `bench/sidecar` passes addresses in the form of `tenon.toml`, and reads a line with
//! the median of each in µs. The addresses take turns, so that other load on the machine affects all of them.

use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::{BodyExt, Empty};
use tenon_transport::{Address, Sidecar, Transport, TransportConfig};

const ROUNDS: usize = 200;
const CALLS: u32 = 40;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // On a worker thread, like a module's calls.
    runtime.block_on(async { tokio::spawn(measure()).await? })
}

async fn measure() -> Result<(), Failure> {
    let addresses = std::env::args().skip(1).map(|address| Address::parse(&address)).collect::<Result<Vec<_>, _>>()?;
    let named = addresses.into_iter().enumerate().map(|(i, address)| Sidecar::new(&format!("s{i}"), address));
    let config = TransportConfig {
        connect_timeout: Duration::from_secs(1),
        response_timeout: Duration::from_secs(30),
        max_concurrent: 64,
        breaker_failures: 5,
        breaker_pause: Duration::from_secs(1),
    };
    let transport = Transport::new(named.collect::<Result<Vec<_>, _>>()?, Vec::new(), config);
    let urls: Vec<Uri> =
        transport.environment().into_iter().map(|(_, url)| format!("{url}/x").parse()).collect::<Result<_, _>>()?;
    let mut samples = vec![Vec::new(); urls.len()];
    for _ in 0..ROUNDS {
        for (url, samples) in urls.iter().zip(&mut samples) {
            let began = Instant::now();
            for _ in 0..CALLS {
                call(&transport, url).await?;
            }
            samples.push(began.elapsed() / CALLS);
        }
    }
    for mut samples in samples {
        samples.sort();
        writeln!(std::io::stdout(), "{:.1}", samples[ROUNDS / 2].as_secs_f64() * 1e6)?;
    }
    Ok(())
}

async fn call(transport: &Transport<Empty<Bytes>>, url: &Uri) -> Result<(), Failure> {
    let route = transport.route(url)?;
    let response = transport.send(&route, Request::get(url.clone()).body(Empty::new())?, None).await?;
    response.into_body().collect().await?;
    Ok(())
}
