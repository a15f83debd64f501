//! Compilation in a separate process: both sides of the protocol.
//!
//! ```text
//!  this process ── stdin:  magic, engine, bounds, length, component ──► child
//!               ◄─ stdout: magic, outcome, length, code or message ──── child
//! ```
//!
//! Numbers have 64 bits, little-endian. Both sides are the same build; the hash of the engine's configuration checks
//! that.
//!
//! The bounds of a child's memory, time and life have one file for each system.

#[cfg(target_os = "linux")]
#[path = "child/linux.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "child/macos.rs"]
mod system;
#[cfg(windows)]
#[path = "child/windows.rs"]
mod system;

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, Result};

use crate::compile::compile;
use crate::compiler::{Compiler, OverBound};
use system::{Tie, bound, end_with_parent, is_out_of_time};

const MAGIC: &[u8; 8] = b"tenonobj";

/// Outcome codes.
const COMPILED: u64 = 0;
const FAILED: u64 = 1;

/// Environment variables that a child gets, because it needs them to find programs and libraries, and to compile as its
/// parent does.
const VARIABLES: [&str; 6] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "SystemRoot", "TENON_PORTABLE"];

/// Variable set in each child, so that a program that is its own compiler does not start processes without end.
const IS_CHILD: &str = "TENON_COMPILER";

/// Bytes of a child's standard error that an error message may quote.
const MAX_SAID: u64 = 4 * 1024;

/// Message of Rust's standard library when it ends a process for lack of memory. Stable Rust has no other sign of it: the hook of
/// such errors (`set_alloc_error_hook`) is unstable.
const NO_MEMORY: &str = "memory allocation of";

/// Compiles a component in a child process.
pub(crate) fn ask(
    program: &OsString,
    arguments: &[OsString],
    engine: &Engine,
    component: &[u8],
    bounds: &Compiler,
) -> Result<Vec<u8>> {
    wasmtime::ensure!(std::env::var_os(IS_CHILD).is_none(), "a compiler process cannot load components");
    let variables = VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .env(IS_CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| wasmtime::format_err!("the compiler process cannot be started: {error}"))?;
    let tie = Tie::to(&child);
    if tie.is_err() {
        kill(&mut child);
    }
    let _tie = tie.map_err(|error| wasmtime::format_err!("the compiler process cannot be bounded: {error}"))?;
    let mut head = MAGIC.to_vec();
    let numbers = [hash(engine), bounds.memory, cpu_seconds(bounds.timeout), component.len() as u64];
    head.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (answer, said) = thread::scope(|scope| {
        let (sender, receiver) = channel();
        scope.spawn(move || {
            // A child that ends early stops reading. Its answer or its exit status gives the reason.
            stdin.map(|mut stdin| stdin.write_all(&head).and_then(|()| stdin.write_all(component)))
        });
        let said = scope.spawn(move || stderr.map(said).unwrap_or_default());
        scope.spawn(move || {
            let mut answer = Vec::new();
            // The child's memory limit also limits its answer.
            let read = stdout.map(|mut stdout| stdout.read_to_end(&mut answer));
            let _ = sender.send(read.transpose().map(|_| answer));
        });
        let answer = receiver.recv_timeout(bounds.timeout);
        if answer.is_err() {
            kill(&mut child);
        }
        (answer, said.join().unwrap_or_default())
    });
    let Ok(answer) = answer else {
        let _ = child.wait();
        return Err(OverBound::Time(bounds.timeout).into());
    };
    let ended = child.wait()?;
    match outcome(&answer?) {
        Some(compiled) => compiled,
        None => Err(death(ended, &said, bounds)),
    }
}

fn kill(child: &mut Child) {
    if let Err(error) = child.kill() {
        tracing::warn!("the compiler process cannot be stopped: {error}");
    }
}

/// Returns the beginning of a child's standard error. The rest is read too, so that the child does not block.
fn said(mut stderr: impl Read) -> String {
    let mut said = Vec::new();
    let _ = stderr.by_ref().take(MAX_SAID).read_to_end(&mut said);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&said).trim().to_string()
}

/// Builds the error for a child that ended without an answer.
fn death(ended: ExitStatus, said: &str, bounds: &Compiler) -> wasmtime::Error {
    if said.contains(NO_MEMORY) {
        return OverBound::Memory(bounds.memory).into();
    }
    if is_out_of_time(ended) {
        return OverBound::Time(bounds.timeout).into();
    }
    let said = said.lines().next().unwrap_or("no message");
    wasmtime::format_err!("the compiler process ended without code ({ended}): {said}")
}

/// Parses the answer of a child. None when it is incomplete.
fn outcome(answer: &[u8]) -> Option<Result<Vec<u8>>> {
    let rest = answer.strip_prefix(MAGIC)?;
    let (outcome, rest) = rest.split_first_chunk()?;
    let (length, content) = rest.split_first_chunk()?;
    if u64::from_le_bytes(*length) != content.len() as u64 {
        return None;
    }
    match u64::from_le_bytes(*outcome) {
        COMPILED => Some(Ok(content.to_vec())),
        FAILED => Some(Err(wasmtime::Error::msg(String::from_utf8_lossy(content).into_owned()))),
        _ => None,
    }
}

/// Runs a child: reads a component from standard input, compiles it within the given bounds, and writes the code to standard
/// output. The process ends with its parent. The engine is the first that is configured as the parent's.
///
/// # Errors
///
/// An engine's error, or an I/O error when the protocol breaks off. A component that cannot be compiled is an answer.
pub fn serve(engines: impl IntoIterator<Item = Result<Engine>>) -> Result<()> {
    end_with_parent();
    let mut stdin = io::stdin().lock();
    let mut head = [0; 40];
    stdin.read_exact(&mut head)?;
    let (words, _) = head.as_chunks::<8>();
    let number = |index: usize| words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let is_wanted = |engine: &Result<Engine>| engine.as_ref().map_or(true, |engine| number(1) == hash(engine));
    let engine = engines.into_iter().find(is_wanted).transpose()?;
    let Some(engine) = engine.filter(|_| words.first() == Some(MAGIC)) else {
        wasmtime::bail!("the parent process is another version of Tenon");
    };
    let length = number(4);
    let mut component = Vec::new();
    stdin.take(length).read_to_end(&mut component)?;
    if component.len() as u64 != length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    bound(number(2), number(3));
    let (outcome, content) = match compile(&engine, &component) {
        Ok(code) => (COMPILED, code),
        Err(error) => (FAILED, format!("{error:#}").into_bytes()),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(MAGIC)?;
    stdout.write_all(&outcome.to_le_bytes())?;
    stdout.write_all(&(content.len() as u64).to_le_bytes())?;
    stdout.write_all(&content)?;
    Ok(stdout.flush()?)
}

/// Returns the limit of processor time for all threads. It is a second line of defense, for a parent that was stopped.
fn cpu_seconds(timeout: Duration) -> u64 {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    timeout.as_secs().saturating_add(1).saturating_mul(threads)
}

fn hash(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}
