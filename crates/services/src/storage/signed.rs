//! Addresses that carry their own permission: for one method, one path, and until a time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ObjectPath;

/// The longest time that an address may be good for; as S3 has it.
pub(crate) const MAX_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// The time of an address when the request says none.
pub(crate) const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// What the addresses of the service begin with.
pub(crate) const PREFIX: &str = "/storage-url/";

/// The path and query of an address that the service signs.
pub(crate) fn sign(key: &[u8], method: &str, path: &ObjectPath, lifetime: Duration) -> String {
    let expires = now().saturating_add(lifetime.as_secs());
    let mut encoded = String::from(PREFIX);
    for byte in path.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    let signature = mac(key, method, path, expires).finalize().into_bytes();
    let signature: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{encoded}?method={method}&expires={expires}&signature={signature}")
}

/// Whether an address is good for this method and path now.
pub(crate) fn is_good(key: &[u8], method: &str, path: &ObjectPath, expires: &str, signature: &str) -> bool {
    let Some(expires) = expires.parse::<u64>().ok().filter(|expires| *expires > now()) else { return false };
    let bytes = (0..signature.len() / 2).map(|at| u8::from_str_radix(signature.get(at * 2..at * 2 + 2)?, 16).ok());
    let Some(bytes) = bytes.collect::<Option<Vec<u8>>>() else { return false };
    // In constant time.
    mac(key, method, path, expires).verify_slice(&bytes).is_ok()
}

fn mac(key: &[u8], method: &str, path: &ObjectPath, expires: u64) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(format!("{method}\n{expires}\n{}", path.as_str()).as_bytes());
    mac
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_good_for_what_they_were_made_for() {
        let path = |text: &str| ObjectPath::new(text.as_bytes(), 1024).unwrap();
        let address = sign(b"key", "GET", &path("a b/é"), LIFETIME);
        assert!(address.starts_with("/storage-url/a%20b/%C3%A9?method=GET&expires="), "{address}");
        let (head, signature) = address.split_once("&signature=").unwrap();
        let expires = head.rsplit_once('=').unwrap().1;
        assert!(is_good(b"key", "GET", &path("a b/é"), expires, signature));
        for (key, method, object, expires, signature) in [
            (&b"other"[..], "GET", "a b/é", expires, signature),
            (b"key", "PUT", "a b/é", expires, signature),
            (b"key", "GET", "b", expires, signature),
            (b"key", "GET", "a b/é", "99999999999", signature),
            (b"key", "GET", "a b/é", "1", signature),
            (b"key", "GET", "a b/é", expires, ""),
            (b"key", "GET", "a b/é", expires, "zz"),
        ] {
            assert!(!is_good(key, method, &path(object), expires, signature));
        }
    }
}
