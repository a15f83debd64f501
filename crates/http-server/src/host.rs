//! Names of this machine. A page of another site can point its own name at 127.0.0.1. It can then call a local server
//! as its own origin (DNS rebinding). The name in the request reveals that.

use std::net::IpAddr;

/// Returns whether the authority of a request, such as its `Host`, is a loopback address or a name that always resolves
/// to one.
#[must_use]
pub fn names_this_machine(authority: &str) -> bool {
    let Ok(parsed) = authority.parse::<http::uri::Authority>() else { return false };
    // Anything besides a name and a port means another host to some readers.
    let is_plain = parsed.host().len() == authority.len() || parsed.port_u16().is_some();
    if !is_plain || authority.contains('@') {
        return false;
    }
    let name = parsed.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
