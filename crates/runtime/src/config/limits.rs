//! The limits of requests. Each is defined here once: code, documentation and tests read its key in `tenon.toml`, its
//! default, its range and its effect from here.

use std::time::Duration;

use crate::config::error::ConfigError;

/// One limit, as data.
#[derive(Clone, Copy, Debug)]
pub struct LimitKey {
    /// Its name in `[server]` of `tenon.toml`, which is that of the field of [`Limits`]. The ending says the unit: `_ms`
    /// is milliseconds, `_bytes` bytes, and others count.
    pub name: &'static str,
    /// Its meaning, and the effect of exceeding it.
    pub meaning: &'static str,
    /// Its value unless another is given.
    pub default: u64,
    /// The smallest value that is accepted.
    pub min: u64,
    /// The largest value that is accepted.
    pub max: u64,
    set: fn(&mut Limits, u64),
    get: fn(&Limits) -> u64,
}

impl LimitKey {
    /// True for a limit that a module may have a value of its own for.
    #[must_use]
    pub fn is_of_module(&self) -> bool {
        OF_MODULE.contains(&self.name)
    }
}

macro_rules! limits {
    ($($(#[doc = $meaning:literal])+ $name:ident: $default:expr, $min:expr, $max:expr;)+) => {
        /// Every bound, in the units of its name (see [`LimitKey`]).
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $meaning])+ pub $name: u64,)+
        }

        impl Limits {
            /// All limits, in the order in which the documentation has them.
            pub const KEYS: &[LimitKey] = &[$(LimitKey {
                name: stringify!($name),
                meaning: concat!($($meaning),+),
                default: $default,
                min: $min,
                max: $max,
                set: |limits, value| limits.$name = value,
                get: |limits| limits.$name,
            },)+];
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }
    };
}

/// The limits that a module may have values of its own for. The others bound the server, or a request before its module is
/// known.
const OF_MODULE: [&str; 21] = [
    "request_timeout_ms",
    "max_body_bytes",
    "max_upload_bytes",
    "max_response_bytes",
    "memory_limit_bytes",
    "max_table_elements",
    "max_outbound_calls",
    "max_outbound_body_bytes",
    "connect_timeout_ms",
    "outbound_timeout_ms",
    "max_concurrent_per_sidecar",
    "breaker_failures",
    "breaker_pause_ms",
    "max_fields_bytes",
    "max_hostcall_bytes",
    "max_held_bytes",
    "max_resources",
    "max_log_bytes",
    "max_reuse",
    "max_reuse_memory_bytes",
    "warm_instances",
];

/// The name by which a module's own `max_concurrent_per_module` is set.
const CONCURRENT_OF_MODULE: &str = "max_concurrent";

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;
const HOUR: u64 = 3_600_000;

/// Bytes that are held for clients where bodies are small.
const SMALLEST_BUDGET: u64 = 16 * MIB;

limits! {
    /// Time from the whole request to the head of its response, whether the guest computes or waits; 504 beyond. A
    /// streamed response breaks off when its next piece takes as long. With a body that the module takes piece by piece,
    /// each piece from the client begins it anew, and it does not pass while the module waits for one.
    request_timeout_ms: 30_000, 1, HOUR;
    /// Size of a request body that is read whole; 413 beyond.
    max_body_bytes: 10 * MIB, 0, 4 * GIB;
    /// Size of a request body that the module takes piece by piece; 413 beyond, or the response breaks off if it has
    /// begun.
    max_upload_bytes: GIB, 0, 1024 * GIB;
    /// Size of a response body; 502 beyond. A streamed response breaks off.
    max_response_bytes: 64 * MIB, 0, 4 * GIB;
    /// All linear memories of an instance and its exceptions together. Growing fails beyond: JavaScript throws an error, and most
    /// other guests trap, which is 500.
    memory_limit_bytes: 256 * MIB, MIB, 4 * GIB;
    /// Elements of all tables of an instance together; growing fails beyond.
    max_table_elements: 65_536, 1, 1_000_000;
    /// Running requests; further ones wait in the queue.
    max_concurrent: 128, 1, 10_000;
    /// Running requests of one module; further ones wait in the queue. 0 means the same as `max_concurrent`.
    max_concurrent_per_module: 0, 0, 10_000;
    /// Requests that wait for a permit; 503 with `Retry-After` beyond.
    max_queued: 1_024, 0, 100_000;
    /// Time that a request waits for a permit, or for room in `max_buffered_bytes`; 503 with `Retry-After` beyond.
    queue_timeout_ms: 1_000, 0, HOUR;
    /// Connections; further ones wait to be accepted.
    max_connections: 4_096, 1, 1_000_000;
    /// Connections of one client (an IPv4 address, or the /64 network of an IPv6 address); further ones are closed. 0
    /// is three quarters of `max_connections`.
    max_connections_per_client: 0, 0, 1_000_000;
    /// Concurrent requests on one HTTP/2 connection; the client delays further ones, or they are refused.
    max_streams: 100, 1, 10_000;
    /// Bytes that are held for clients: requests, responses, and connections. A request that finds no room waits for
    /// `queue_timeout_ms`; 503 with `Retry-After` beyond. One connection gets a third at most, one client half. 0 is
    /// four times the larger of `max_body_bytes` and `max_response_bytes`.
    max_buffered_bytes: 0, 0, 64 * GIB;
    /// Headers of a request; 431 beyond.
    max_headers: 64, 1, 1_000;
    /// Names and values of a request's headers together; 431 beyond.
    max_header_bytes: 32 * KIB, 256, MIB;
    /// Path and query of a request; 414 beyond.
    max_url_bytes: 8 * KIB, 16, 64 * KIB;
    /// Time in which a client sends the head of a request, or begins the next one; the connection is closed beyond.
    header_timeout_ms: 30_000, 1, HOUR;
    /// Time in which a client sends the body of a request, or the next piece of it where the module takes pieces; 408
    /// beyond.
    body_timeout_ms: 30_000, 1, HOUR;
    /// Time in which a client reads nothing of its response, or with HTTP/2 less than 32 KiB; the connection is closed
    /// beyond.
    write_timeout_ms: 30_000, 1, HOUR;
    /// Outbound calls of one request; further ones fail in the guest.
    max_outbound_calls: 64, 0, 100_000;
    /// Size of the body of an outbound call; the call fails in the guest beyond.
    max_outbound_body_bytes: 10 * MIB, 0, 4 * GIB;
    /// Time to open an outbound connection; the call fails in the guest beyond.
    connect_timeout_ms: 1_000, 1, HOUR;
    /// Time from an outbound call to the head of its response, and between two pieces of its body; the call fails in the
    /// guest beyond. A guest may ask for less.
    outbound_timeout_ms: 30_000, 1, HOUR;
    /// Concurrent calls of one module to one sidecar or outbound host. Further ones wait for `connect_timeout_ms` at
    /// most, then fail in the guest.
    max_concurrent_per_sidecar: 64, 1, 10_000;
    /// Failures in a row after which calls to a sidecar pause: they fail in the guest at once.
    breaker_failures: 5, 1, 1_000;
    /// Length of that pause, after which one call may try again. Each failed try doubles it, up to 30 s.
    breaker_pause_ms: 1_000, 1, 30_000;
    /// Headers of one request or response of a guest's own; the guest traps beyond, or its response is 502. Also the headers of one call (`sdk:core/calls`) and of its response; the call fails in the
    /// guest beyond.
    max_fields_bytes: 128 * KIB, KIB, 16 * MIB;
    /// Bytes that a guest passes to the host in one call; the guest traps beyond: 500.
    max_hostcall_bytes: 128 * MIB, 64 * KIB, 4 * GIB;
    /// Bytes that the host holds for a guest in one request, as one sum: headers, the bodies and the state of its calls,
    /// pieces of bodies that wait to be sent, and all resources. A call fails in the guest beyond; for anything else
    /// the guest traps: 500.
    max_held_bytes: 128 * MIB, 64 * KIB, 64 * GIB;
    /// Resources that a guest holds on the host, such as streams, requests and timers; the guest traps beyond: 500.
    /// Calls (`sdk:core/calls`) that run or were not taken are counted apart, up to the same number. Tasks, streams and
    /// futures of a WASI 0.3 service are counted together, up to an eighth of it, and to a quarter of `max_held_bytes` at
    /// 4 KiB each.
    max_resources: 65_536, 16, 1_000_000;
    /// Bytes of the log for one request: its module's output, and the host's lines about its calls. A line counts 64 bytes
    /// at least. The rest is dropped; the reason of a failure is logged besides, in 4 KiB.
    max_log_bytes: 256 * KIB, 0, GIB;
    /// Requests that one instance serves: without a restore between them with `isolation = "shared"`, restored before
    /// each otherwise.
    max_reuse: 10_000, 1, 1_000_000_000;
    /// With `isolation = "shared"`: size of an instance's memory beyond which it serves no further request.
    max_reuse_memory_bytes: 128 * MIB, MIB, 4 * GIB;
    /// With `isolation = "shared"`: instances of a module that are kept ready, from before its first request.
    warm_instances: 1, 0, 1_000;
    /// Time after which the code of an unused module is released, and an idle instance is dropped, unless it is kept by
    /// `warm_instances`.
    idle_timeout_ms: 60_000, 1, 24 * HOUR;
    /// Time to load a module, compiling included; the module is `failed` beyond, and answers 503.
    load_timeout_ms: 120_000, 1, HOUR;
    /// Memory of the process that compiles a module; the module is `failed` beyond. Linux only.
    compile_memory_bytes: 2 * GIB, 64 * MIB, 64 * GIB;
    /// Time that a start waits for the other modules once one is ready. Modules that still load then are `loading` and
    /// answer 503 with `Retry-After` until they are ready or `failed`.
    startup_timeout_ms: 30_000, 0, HOUR;
    /// Time that a server goes on accepting after SIGTERM, while `/ready` answers 503, so that clients move to other
    /// servers before it closes.
    drain_ms: 0, 0, HOUR;
    /// Time for running requests to finish at the stop; they are cut off beyond.
    shutdown_timeout_ms: 10_000, 0, HOUR;
}

impl Limits {
    /// Sets a limit by its name.
    ///
    /// # Errors
    ///
    /// [`ConfigError::UnknownLimit`] or [`ConfigError::LimitOutOfRange`].
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), ConfigError> {
        let Some(key) = Self::KEYS.iter().find(|key| key.name == name) else {
            return Err(ConfigError::UnknownLimit(name.to_string()));
        };
        let LimitKey { name, min, max, .. } = *key;
        if !(min..=max).contains(&value) {
            return Err(ConfigError::LimitOutOfRange { name, value, min, max });
        }
        (key.set)(self, value);
        Ok(())
    }

    /// The values that modules have unless they have their own, by name.
    pub(crate) fn for_modules(&self) -> Vec<(String, u64)> {
        let keys = Self::KEYS.iter().filter(|key| key.is_of_module());
        keys.map(|key| (key.name.to_string(), (key.get)(self))).collect()
    }

    /// The limits of a module: these, with the values of its own. `max_concurrent` limits its concurrent requests.
    ///
    /// # Errors
    ///
    /// A limit that a module cannot have, or whose value it cannot have.
    pub(crate) fn of_module(&self, own: &[(String, u64)]) -> Result<Self, ConfigError> {
        let mut limits = self.clone();
        for (name, value) in own {
            let value = *value;
            if name == CONCURRENT_OF_MODULE {
                if value == 0 || value > self.max_concurrent {
                    return Err(ConfigError::ConcurrentOfModule { value, most: self.max_concurrent });
                }
                limits.max_concurrent_per_module = value;
                continue;
            }
            if Self::KEYS.iter().any(|key| key.name == name && !key.is_of_module()) {
                return Err(ConfigError::LimitOfServer(name.clone()));
            }
            limits.set(name, value)?;
        }
        // The server's `max_buffered_bytes` has room for bodies of its own size.
        for (name, own, most) in [
            ("max_body_bytes", limits.max_body_bytes, self.max_body_bytes),
            ("max_response_bytes", limits.max_response_bytes, self.max_response_bytes),
        ] {
            if own > most {
                return Err(ConfigError::LimitAboveServer { name, value: own, most });
            }
        }
        Ok(limits)
    }

    /// Checks that every limit is within its range; the error names the first that is not.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let mut copy = self.clone();
        Self::KEYS.iter().try_for_each(|key| copy.set(key.name, (key.get)(self)))?;
        let least = self.largest_body().saturating_mul(3).saturating_add(MIB);
        match self.max_buffered_bytes {
            value @ 1.. if value < least => Err(ConfigError::BufferTooSmall { value, least }),
            _ => Ok(()),
        }
    }

    fn largest_body(&self) -> u64 {
        self.max_body_bytes.max(self.max_response_bytes)
    }

    /// Bytes that are held for clients.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        match self.max_buffered_bytes {
            0 => self.largest_body().saturating_mul(4).max(SMALLEST_BUDGET),
            some => some,
        }
    }

    /// Connections of one client.
    pub(crate) fn connections_per_client(&self) -> u64 {
        match self.max_connections_per_client {
            0 => (self.max_connections * 3).div_ceil(4),
            some => some,
        }
    }

    /// Requests that run at once in one module.
    pub(crate) fn concurrent_per_module(&self) -> u64 {
        match self.max_concurrent_per_module {
            0 => self.max_concurrent,
            some => some.min(self.max_concurrent),
        }
    }
}

/// A limit of time as a duration.
pub(crate) fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// A limit of bytes or a count as `usize`; a larger value means no limit on this machine.
pub(crate) fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A limit that counts, in the size that wasmtime and others count with.
pub(crate) fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_within_their_own_ranges() {
        assert_eq!(Limits::default().check(), Ok(()));
    }

    #[test]
    fn a_module_has_limits_of_its_own_within_the_servers() {
        let own = |name: &str, value: u64| Limits::default().of_module(&[(name.to_string(), value)]);
        assert_eq!(own("max_concurrent", 8).unwrap().concurrent_per_module(), 8);
        assert_eq!(own("memory_limit_bytes", MIB).unwrap().memory_limit_bytes, MIB);
        assert!(own("max_concurrent", 129).unwrap_err().to_string().contains("from 1 to 128"));
        assert!(own("max_concurrent", 0).unwrap_err().to_string().contains("from 1 to 128"));
        assert!(own("max_queued", 1).unwrap_err().to_string().contains("a limit of the server"));
        assert!(own("max_concurrent_per_module", 1).unwrap_err().to_string().contains("a limit of the server"));
        assert!(own("max_body_bytes", 11 * MIB).unwrap_err().to_string().contains("at most 10485760"));
        assert!(own("request_timeout_ms", 0).unwrap_err().to_string().contains("from 1 to"));
        assert!(own("no_such_limit", 1).unwrap_err().to_string().contains("no_such_limit"));
        let known = |name: &&str| Limits::KEYS.iter().any(|key| key.name == *name);
        assert!(OF_MODULE.iter().all(known));
    }

    #[test]
    fn a_limit_is_set_by_its_name_within_its_range() {
        let mut limits = Limits::default();
        limits.set("max_body_bytes", 5).unwrap();
        assert_eq!(limits.max_body_bytes, 5);
        assert!(limits.set("max_concurrent", 0).unwrap_err().to_string().contains("from 1 to 10000"));
        assert!(limits.set("no_such_limit", 1).unwrap_err().to_string().contains("no_such_limit"));
        limits.set("max_buffered_bytes", 64 * MIB).unwrap();
        assert!(limits.check().unwrap_err().to_string().contains("at least 202375168"));
        limits.max_response_bytes = 10 * MIB;
        assert_eq!((limits.check(), limits.buffered_bytes()), (Ok(()), 64 * MIB));
        limits.max_queued = u64::MAX;
        assert!(limits.check().unwrap_err().to_string().starts_with("max_queued is"));
    }
}
