//! Signatures that a guest verifies with one of its secrets.
//!
//! A recording has a placeholder in the place of a secret, so what was signed with the secret would not verify in a replay. Where a
//! signature of the request is an HMAC with a secret of the module, the placeholder signs it again.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha384, Sha512};
use tenon_tape::Field;

use super::placeholders::{Placeholders, WEBHOOK_PREFIX};

/// A placeholder of a secret in base 64 may have any last bits.
const ANY_END: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// Base 64 as secrets and credentials are read.
pub(super) const LENIENT: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&alphabet::STANDARD, ANY_END), GeneralPurpose::new(&alphabet::URL_SAFE, ANY_END)];

/// The encodings of signatures, the usual ones first, because a text may fit several.
const ENCODINGS: [GeneralPurpose; 4] = [
    general_purpose::URL_SAFE_NO_PAD,
    general_purpose::STANDARD,
    general_purpose::URL_SAFE,
    general_purpose::STANDARD_NO_PAD,
];

/// Signatures of one header that are tried, at most.
const MOST_SIGNATURES: usize = 16;

/// Values before a body that are tried, at most.
const MOST: usize = 4;

/// Bytes that are hashed to find who signed a request, at most.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Keys that a guest may have made of its secrets, each with the one that it makes of the placeholder.
pub(super) struct Keys(Vec<(Vec<u8>, Vec<u8>)>);

impl Keys {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a str>, placeholders: &Placeholders) -> Self {
        let mut keys = Vec::new();
        for secret in secrets.map(str::as_bytes) {
            let made = placeholders.of(secret);
            let (inner, inner_made) = match secret.strip_prefix(WEBHOOK_PREFIX) {
                Some(inner) => (inner, &made[WEBHOOK_PREFIX.len()..]),
                None => (secret, &*made),
            };
            let decoded = |text: &[u8]| {
                LENIENT.map(|engine| engine.decode(text).ok()).into_iter().chain([hex::decode(text).ok()])
            };
            let pairs = decoded(inner).zip(decoded(inner_made)).filter_map(|(key, other)| key.zip(other));
            let pairs: Vec<_> = pairs.filter(|(key, _)| !key.is_empty()).collect();
            keys.extend(pairs);
            keys.push((secret.to_vec(), made));
        }
        keys.dedup();
        Self(keys)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds the key with which a message was signed. The message is in parts, and the signature a text.
    pub(super) fn signer(&self, signature: &[u8], message: &[&[u8]]) -> Option<Signer<'_>> {
        let mut tried = Vec::new();
        for (bytes, form) in read(signature) {
            // Several encodings read the same bytes.
            if tried.contains(&bytes) {
                continue;
            }
            let of_key = |key: &[u8]| mac(key, bytes.len(), message).is_some_and(|own| own == bytes);
            if let Some((_, key)) = self.0.iter().find(|(key, _)| of_key(key)) {
                return Some(Signer { key, length: bytes.len(), form });
            }
            tried.push(bytes);
        }
        None
    }
}

/// Signs with the placeholder of a secret.
pub(super) struct Signer<'a> {
    key: &'a [u8],
    length: usize,
    form: Form,
}

impl Signer<'_> {
    /// A signature of the same length and form.
    pub(super) fn sign(&self, message: &[&[u8]]) -> Vec<u8> {
        let bytes = mac(self.key, self.length, message).unwrap_or_default();
        let text = match self.form {
            Form::Hex(false) => hex::encode(bytes),
            Form::Hex(true) => hex::encode_upper(bytes),
            Form::Base64(at) => ENCODINGS[at].encode(bytes),
        };
        text.into_bytes()
    }
}

/// The form of a signature's text.
#[derive(Clone, Copy)]
enum Form {
    /// Hexadecimal digits; true for capital letters.
    Hex(bool),
    /// Base 64, by its number in [`ENCODINGS`].
    Base64(usize),
}

/// The bytes that a text may be a signature of, and its form.
fn read(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, Form)> + '_ {
    let is_upper = text.iter().any(u8::is_ascii_uppercase);
    let digits = hex::decode(text).ok().map(|bytes| (bytes, Form::Hex(is_upper)));
    let encoded = ENCODINGS.iter().enumerate();
    let encoded = encoded.filter_map(move |(at, engine)| Some((engine.decode(text).ok()?, Form::Base64(at))));
    digits.into_iter().chain(encoded).filter(|(bytes, _)| matches!(bytes.len(), 32 | 48 | 64))
}

/// The bytes that a text may be a signature of.
pub(super) fn signature_bytes(text: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    read(text).map(|(bytes, _)| bytes)
}

/// The HMAC whose result has so many bytes.
fn mac(key: &[u8], length: usize, message: &[&[u8]]) -> Option<Vec<u8>> {
    fn of<M: Mac + KeyInit>(key: &[u8], message: &[&[u8]]) -> Option<Vec<u8>> {
        let mut mac = <M as KeyInit>::new_from_slice(key).ok()?;
        message.iter().for_each(|part| mac.update(part));
        Some(mac.finalize().into_bytes().to_vec())
    }
    match length {
        32 => of::<Hmac<Sha256>>(key, message),
        48 => of::<Hmac<Sha384>>(key, message),
        64 => of::<Hmac<Sha512>>(key, message),
        _ => None,
    }
}

/// The three parts of a JSON Web Token (RFC 7519).
pub(super) fn token_parts(token: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = token.split(|byte| *byte == b'.');
    let all = [parts.next()?, parts.next()?, parts.next()?];
    let head = general_purpose::URL_SAFE_NO_PAD.decode(all[0]).ok()?;
    let is_head = serde_json::from_slice::<serde_json::Value>(&head).is_ok_and(|head| head.get("alg").is_some());
    (is_head && parts.next().is_none()).then_some(all)
}

/// A part of a header that may be a signature. The number is that of the text before the body that was signed.
type Candidate<'a> = (Range<usize>, Option<(usize, Signer<'a>)>);

/// A request whose body may be signed, before it was masked.
pub(super) struct Signed<'a> {
    headers: Vec<Field>,
    /// The candidates of each header.
    found: Vec<Vec<Candidate<'a>>>,
}

impl<'a> Signed<'a> {
    /// None when no header has a text that may be a signature. Fails when there is too much to verify.
    pub(super) fn new(
        keys: &'a Keys,
        headers: &[Field],
        body: impl FnOnce() -> Vec<u8>,
    ) -> Result<Option<Self>, &'static str> {
        const TOO_MUCH: &str = "it may have more signatures than can be verified";
        let ranges: Vec<_> = headers.iter().map(|(_, value)| candidates(value)).collect();
        if ranges.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let body = body();
        let prefixes = prefixes(headers);
        let mut left = MOST_BYTES;
        let mut found = Vec::new();
        for ((_, value), ranges) in headers.iter().zip(ranges) {
            if ranges.len() > MOST_SIGNATURES {
                return Err(TOO_MUCH);
            }
            let mut of_header = Vec::new();
            for range in ranges {
                let mut signer = None;
                for (n, prefix) in prefixes.iter().enumerate() {
                    left = left.checked_sub(keys.0.len() * (body.len() + 256)).ok_or(TOO_MUCH)?;
                    signer = keys.signer(&value[range.clone()], &[prefix, &body]).map(|signer| (n, signer));
                    if signer.is_some() {
                        break;
                    }
                }
                of_header.push((range, signer));
            }
            found.push(of_header);
        }
        Ok(Some(Self { headers: headers.to_vec(), found }))
    }

    /// The signatures that verify.
    pub(super) fn verified(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.headers.iter().zip(&self.found);
        all.flat_map(|((_, value), found)| {
            found.iter().filter(|(_, signer)| signer.is_some()).map(|(range, _)| &value[range.clone()])
        })
    }

    /// Signs again, after headers and body were masked.
    pub(super) fn again(&self, placeholders: &Placeholders, headers: &mut [Field], body: &[u8]) {
        for (at, found) in self.found.iter().enumerate() {
            let before = &self.headers[at].1;
            // An escaped cookie may have another length, and then no signature that a guest could verify.
            if found.iter().all(|(_, signer)| signer.is_none()) || headers[at].1.len() != before.len() {
                continue;
            }
            // The rest of a masked header may be another credential, so it stays masked.
            let signatures: Vec<_> = found.iter().map(|(range, _)| range.clone()).collect();
            for range in open_parts(before, &signatures) {
                headers[at].1[range.clone()].copy_from_slice(&before[range]);
            }
            let others = prefixes(headers);
            for (range, signer) in found {
                let made = match signer {
                    Some((n, signer)) => signer.sign(&[others.get(*n).map_or(&[][..], |prefix| prefix), body]),
                    None => placeholders.of(&before[range.clone()]),
                };
                headers[at].1[range.clone()].copy_from_slice(&made);
            }
        }
    }
}

/// The parts of a header's value that may be signatures, such as `sha256=…`, `t=…,v1=…` and `v1,…`.
fn candidates(value: &[u8]) -> Vec<Range<usize>> {
    let of_part = |part: Range<usize>| {
        let after = value[part.clone()].iter().position(|byte| *byte == b'=').map(|at| part.start + at + 1..part.end);
        let ranges = [Some(part), after];
        ranges.into_iter().flatten().find(|range| read(&value[range.clone()]).next().is_some())
    };
    parts(value).filter_map(of_part).collect()
}

/// The parts of a header's value.
fn parts(value: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    value.split(|byte| matches!(byte, b',' | b' ' | b';')).map(move |part| {
        let range = start..start + part.len();
        start = range.end + 1;
        range
    })
}

/// The parts of a header's value that are no secrets: times, versions such as `v1`, and the names of times and signatures.
fn open_parts(value: &[u8], signatures: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let mut found = Vec::new();
    for Range { start, end } in parts(value) {
        let part = &value[start..end];
        let content = part.iter().position(|byte| *byte == b'=').map_or(start, |at| start + at + 1);
        let is_version = part.len() <= 3 && part.strip_prefix(b"v").is_some_and(is_number);
        // Another number may be a secret.
        if is_version || is_time(&value[content..end]) {
            found.push(start..end);
        } else if signatures.iter().any(|signature| signature.start == content) {
            found.push(start..content);
        }
    }
    found
}

/// Returns whether a text may be a time in seconds or milliseconds since 1970.
pub(super) fn is_time(text: &[u8]) -> bool {
    matches!(text.len(), 10 | 13) && text.iter().all(u8::is_ascii_digit)
}

/// The texts that a sender may have signed before the body: nothing, a time, or an id and a time.
fn prefixes(headers: &[Field]) -> Vec<Vec<u8>> {
    let may_be_time = |text: &&[u8]| (1..=13).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let contents = |value: &[u8]| {
        let content = |part: Range<usize>| value[part].rsplit(|byte| *byte == b'=').next().unwrap_or_default().to_vec();
        parts(value).map(content).collect::<Vec<_>>()
    };
    let of_headers = headers.iter().filter(|(name, _)| name != "content-length");
    let mut times: Vec<Vec<u8>> =
        of_headers.flat_map(|(_, value)| contents(value)).filter(|part| may_be_time(&&**part)).collect();
    // Numbers with the length of a time first. Masking keeps the lengths, and so this order.
    times.sort_by_key(|time| !matches!(time.len(), 10 | 13));
    times.truncate(MOST);
    let ids = headers.iter().filter(|(name, value)| name.ends_with("-id") && value.len() <= 128).take(MOST);
    let mut all = vec![Vec::new()];
    for time in &times {
        all.extend([[time, &b"."[..]].concat(), [time, &b":"[..]].concat(), time.clone()]);
        all.push([b"v0:", &**time, b":"].concat());
    }
    for (_, id) in ids {
        all.extend(times.iter().map(|time| [id, &b"."[..], time, b"."].concat()));
    }
    all
}
