//! Presigned addresses: for one method, one path, and until a time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ObjectPath;
use super::uploads::UploadId;

/// The longest lifetime of an address; the same as S3's.
pub(crate) const MAX_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// The default lifetime of an address.
pub(crate) const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The prefix of the service's addresses.
pub(crate) const PREFIX: &str = "/storage-url/";

/// The permission of an address.
#[derive(Clone, Copy)]
pub(crate) struct Permission<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a ObjectPath,
    /// The part of an upload, instead of the object.
    pub(crate) part: Option<&'a (UploadId, u16)>,
}

/// The path and query of an address that the service signs.
pub(crate) fn sign(key: &[u8], permission: &Permission<'_>, lifetime: Duration) -> String {
    let Permission { method, path, part } = permission;
    let expires = now().saturating_add(lifetime.as_secs());
    let mut encoded = String::from(PREFIX);
    for byte in path.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    let signature = hex::encode(mac(key, permission, expires).finalize().into_bytes());
    // The service's ids have digits and letters only.
    let part = part.map(|(id, number)| format!("&upload={}&part={number}", id.as_str())).unwrap_or_default();
    format!("{encoded}?method={method}{part}&expires={expires}&signature={signature}")
}

/// Reports whether an address is valid now.
pub(crate) fn is_good(key: &[u8], permission: &Permission<'_>, expires: &str, signature: &str) -> bool {
    let Some(expires) = expires.parse::<u64>().ok().filter(|expires| *expires > now()) else { return false };
    let Ok(bytes) = hex::decode(signature) else { return false };
    // In constant time.
    mac(key, permission, expires).verify_slice(&bytes).is_ok()
}

fn mac(key: &[u8], Permission { method, path, part }: &Permission<'_>, expires: u64) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    // None of the parts has a line break.
    let part = part.map(|(id, number)| format!("\n{}\n{number}", id.as_str())).unwrap_or_default();
    mac.update(format!("{method}\n{expires}\n{}{part}", path.as_str()).as_bytes());
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
        let (object, other) = (path("a b/é"), path("b"));
        let get = Permission { method: "GET", path: &object, part: None };
        let address = sign(b"key", &get, LIFETIME);
        assert!(address.starts_with("/storage-url/a%20b/%C3%A9?method=GET&expires="), "{address}");
        let (head, signature) = address.split_once("&signature=").unwrap();
        let expires = head.rsplit_once('=').unwrap().1;
        assert!(is_good(b"key", &get, expires, signature));
        let part = (UploadId::new("0af").unwrap(), 7);
        for (key, permission, expires, signature) in [
            (&b"other"[..], get, expires, signature),
            (b"key", Permission { method: "PUT", ..get }, expires, signature),
            (b"key", Permission { path: &other, ..get }, expires, signature),
            (b"key", Permission { part: Some(&part), ..get }, expires, signature),
            (b"key", get, "99999999999", signature),
            (b"key", get, "1", signature),
            (b"key", get, expires, &format!("{signature}0")),
            (b"key", get, expires, ""),
            (b"key", get, expires, "zz"),
        ] {
            assert!(!is_good(key, &permission, expires, signature));
        }
        let address = sign(b"key", &Permission { method: "PUT", path: &other, part: Some(&part) }, LIFETIME);
        assert!(address.starts_with("/storage-url/b?method=PUT&upload=0af&part=7&expires="), "{address}");
    }
}
