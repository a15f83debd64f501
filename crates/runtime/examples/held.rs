//! Measures the memory that one request makes the server hold, with guests that hoard on the host and stay inside the limit
//! of each single thing. Prints the growth of the resident memory for each of them, and fails beyond the bound in
//! `docs/runtime.md` ("Memory of a request").
//!
//! ```sh
//! cargo run -p tenon-runtime --example held
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints its results")]

use std::error::Error;
use std::fs;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tenon_fixtures::random::Numbers;
use tenon_fixtures::{service, wasi_http};
use tenon_runtime::{Limits, ModuleSource, Runtime, RuntimeConfig};

const MIB: u64 = 1024 * 1024;

/// Memory that a request takes besides: its instance, code that is touched for the first time, and the allocator's waste.
const BESIDES: u64 = 48 * MIB;

/// Guests at random, and the seed of their numbers.
const ROUNDS: usize = 20;
const SEED: u64 = 39;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let limits = Limits { max_concurrent: 4, ..Limits::default() };
    let bound = limits.max_held_bytes + limits.max_hostcall_bytes + limits.max_fields_bytes + 64 * 1024 + BESIDES;
    println!("{:<28} {:>6} {:>10} {:>10}", "guest", "status", "MiB", "bound");
    let mut guests: Vec<_> =
        wasi_http::hoards().into_iter().map(|(what, guest)| (what.to_string(), guest, "")).collect();
    let mut numbers = Numbers::new(SEED);
    guests.extend((0..ROUNDS).map(|round| (format!("at random {round}"), wasi_http::at_random(&mut numbers), "")));
    for what in ["fields", "headers", "copies", "paths", "streams", "futures", "timers"] {
        guests.push((format!("0.3: {what}"), service(), what));
    }
    let mut is_within = true;
    for (what, guest, hoard) in guests {
        let (status, grown) = measure(guest, hoard, limits.clone()).await?;
        println!("{what:<28} {status:>6} {:>10} {:>10}", grown / MIB, bound / MIB);
        is_within &= grown <= bound;
    }
    if is_within { Ok(()) } else { Err("a request took more than its bound".into()) }
}

/// The status of a guest's answer, and the bytes by which the resident memory grew meanwhile.
async fn measure(guest: Vec<u8>, hoard: &str, limits: Limits) -> Result<(u16, u64), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("guest.wasm");
    fs::write(&path, guest)?;
    let modules = vec![ModuleSource::new("guest", path)];
    let runtime = Runtime::new(RuntimeConfig { modules, limits, ..RuntimeConfig::default() }).await?;
    let before = resident("VmRSS:")?;
    // Sets the peak to the present size.
    fs::write("/proc/self/clear_refs", "5")?;
    let request = Request::get(format!("/run/guest/hoard/{hoard}")).header("host", "x");
    let response = runtime.handle(request.body(Full::new(Bytes::new()))?).await;
    let status = response.status().as_u16();
    let _ = response.into_body().collect().await;
    Ok((status, resident("VmHWM:")?.saturating_sub(before)))
}

/// A size of this process in bytes.
fn resident(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such size")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
