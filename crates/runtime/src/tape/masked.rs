//! Masking: nothing secret reaches the disk.
//!
//! The values that a guest got are replaced by placeholders where they are masked, and wherever such a value comes back. The guest's
//! outputs (its answer, its log and its calls) may contain them in any form, so they are not written: the request is replayed with the
//! placeholders, and the outputs of the replay are written. When the replay takes another way, nothing is written at all. Last, the
//! file is searched for every masked value.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use tenon_tape::{Event, Field, Variable};

use super::bodies::{Body, bodies, has_encoding, incoming, inputs, is_packed};
use super::json::{Match, Pointer, matches_of};
use super::mask_list::MaskList;
use super::masked_values::{MaskedValues, of_form, percent, unpercented};
use super::placeholders::Placeholders;
use super::repeats::replace_known;
use super::signed::{Keys, LENIENT, Signed, is_time, signature_bytes, token_parts};
use crate::config::environment::is_secret;

/// Masked values times the bytes in which they are looked for, at most: they are looked for one after the other.
pub(super) const MOST_SEARCHED: u64 = 1 << 32;

/// Events whose inputs are masked.
#[derive(Debug)]
pub(crate) struct Masked {
    pub(crate) events: Vec<Event>,
    /// The masked values, wherever they were.
    pub(crate) known: MaskedValues,
    /// True when something was masked, so that the guest's own values are to be made again.
    pub(crate) is_tainted: bool,
    /// True when a value of the guest's own is masked: it may be made of random values.
    pub(crate) has_outputs: bool,
    /// The names of the masked headers, pointers and secrets.
    pub(crate) names: Vec<String>,
}

/// Masks the inputs of a request, whose events have `size` bytes. The error is the reason why that cannot be done.
pub(crate) fn mask(
    events: Vec<Event>,
    size: usize,
    list: &MaskList,
    secrets: &[(String, String)],
    placeholders: &Placeholders,
) -> Result<Masked, &'static str> {
    let of_guest = secrets.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value.as_str());
    let keys = Keys::new(of_guest.clone(), placeholders);
    let mut masking = Masking {
        list,
        placeholders,
        keys: &keys,
        known: MaskedValues::default(),
        names: BTreeSet::new(),
        has_outputs: false,
        hits: 0,
        closed: BTreeSet::new(),
    };
    let mut events = events;
    for value in of_guest {
        masking.known.add(value.as_bytes());
    }
    for value in placeholders.remade() {
        masking.known.add(value);
    }
    let signed = masking.signed(&mut events)?;
    let bodies = bodies(&events);
    masking.places(&mut events, &bodies)?;
    if (masking.known.0.len() as u64).saturating_mul(size as u64) > MOST_SEARCHED {
        return Err("it has too many masked values for its size");
    }
    let hits = masking.hits;
    if (hits > 0 || !list.pointers.is_empty()) && events.iter().any(is_packed) {
        return Err("an answer of a service is compressed, so it cannot be searched for masked values");
    }
    let is_found = replace_known(&masking.known, placeholders, &mut events, &bodies);
    if let Some(signed) = signed {
        let body = incoming(&mut events);
        if let Some(Event::Enter(request)) = events.first_mut() {
            signed.again(placeholders, &mut request.headers, &body);
        }
    }
    let Masking { known, names, has_outputs, .. } = masking;
    let is_tainted = hits > 0 || is_found;
    // In an encoding. The file is searched as well, but two pieces may share the digits of a value.
    let mut in_pieces = bodies.iter().filter(|body| body.is_in_pieces());
    let is_left = match is_tainted {
        true => known.is_in(&inputs(&mut events)),
        false => in_pieces.any(|body| known.is_in(&body.whole(&mut events))),
    };
    if is_left {
        return Err("a masked value is in what the module got, in an encoding that is not masked");
    }
    Ok(Masked { events, known, is_tainted, has_outputs, names: names.into_iter().collect() })
}

/// The treatment of the claims of a token that a secret of the guest has signed.
#[derive(Clone, Copy)]
enum Claims {
    /// Those stay that no pointer masks: the token is in a header that is masked in any case.
    Kept,
    /// None stays: the list names the token itself.
    Masked,
}

struct Masking<'a> {
    list: &'a MaskList,
    placeholders: &'a Placeholders,
    keys: &'a Keys,
    known: MaskedValues,
    names: BTreeSet<String>,
    has_outputs: bool,
    /// Places that were masked.
    hits: usize,
    /// Signed tokens of which no claim stays.
    closed: BTreeSet<Vec<u8>>,
}

impl<'a> Masking<'a> {
    /// The request as its sender may have signed it.
    fn signed(&mut self, events: &mut [Event]) -> Result<Option<Signed<'a>>, &'static str> {
        let Some(Event::Enter(request)) = events.first() else { return Ok(None) };
        if self.keys.is_empty() {
            return Ok(None);
        }
        let headers = request.headers.clone();
        let signed = Signed::new(self.keys, &headers, || incoming(events))?;
        for signature in signed.iter().flat_map(Signed::verified) {
            self.signature(signature);
        }
        Ok(signed)
    }

    /// Learns a signature that verifies with a real secret, so it is a credential wherever it is repeated.
    fn signature(&mut self, text: &[u8]) {
        self.known.add(text);
        signature_bytes(text).for_each(|bytes| self.known.add(&bytes));
    }

    /// Masks headers, members and secrets in their places, and learns their values.
    fn places(&mut self, events: &mut [Event], bodies: &[Body]) -> Result<(), &'static str> {
        if !self.list.pointers.is_empty() {
            self.bodies(events, bodies)?;
        }
        // Those that the list names come first: a token of theirs keeps no claim in any other place.
        for claims in [Claims::Masked, Claims::Kept] {
            events.iter_mut().for_each(|event| self.place(event, claims));
        }
        Ok(())
    }

    /// Masks the places of an event: with kept claims only the headers that are masked in any case, otherwise all others.
    fn place(&mut self, event: &mut Event, claims: Claims) {
        let is_named = matches!(claims, Claims::Masked);
        let before = self.hits;
        match event {
            Event::Enter(request) => {
                if is_named {
                    self.path(&mut request.path);
                }
                self.fields(&mut request.headers, claims);
            }
            Event::Environment(variables) if is_named => {
                variables.iter_mut().for_each(|variable| self.variable(variable));
            }
            Event::Take(Some((_, Ok(response)))) => self.fields(&mut response.headers, claims),
            Event::Leave(response) => {
                // It is made again; only the values are learned.
                self.fields(&mut response.headers, claims);
                if let Some(body) = response.body.as_mut().filter(|_| is_named) {
                    // A guest may answer with anything.
                    let _ = self.members(body, false);
                }
                self.has_outputs |= self.hits > before;
            }
            Event::Start(_, call) => {
                self.fields(&mut call.headers, claims);
                if is_named {
                    self.path(&mut call.url);
                    if let Some(body) = &mut call.body {
                        let _ = self.members(body, false);
                    }
                }
                self.has_outputs |= self.hits > before;
            }
            _ => {}
        }
    }

    /// Masks members of the bodies that the guest got.
    fn bodies(&mut self, events: &mut [Event], bodies: &[Body]) -> Result<(), &'static str> {
        let is_packed = |event: &Event| matches!(event, Event::Enter(request) if has_encoding(&request.headers));
        if events.iter().any(is_packed) {
            return Err("the body of the request is compressed, so that it cannot be masked");
        }
        for body in bodies {
            let mut whole = body.whole(events);
            self.members(&mut whole, body.is_json)?;
            body.put(&whole, events);
        }
        Ok(())
    }

    fn variable(&mut self, variable: &mut Variable) {
        variable.is_secret = is_secret(&variable.name);
        if variable.is_secret {
            self.known.add(variable.value.as_bytes());
            self.names.insert(variable.name.clone());
            self.hits += 1;
            let made = self.placeholders.of(variable.value.as_bytes());
            variable.value = String::from_utf8_lossy(&made).into_owned();
        }
    }

    fn fields(&mut self, fields: &mut [Field], claims: Claims) {
        for (name, value) in fields {
            let lower = name.to_ascii_lowercase();
            let is_kept = self.list.has_header(&lower) && !self.list.names_header(&lower);
            if value.is_empty() || is_kept != matches!(claims, Claims::Kept) {
                continue;
            }
            if !self.list.has_header(&lower) {
                // A URL, as in `referer` and `location`.
                if let Some(made) = self.query(value, b"&#> \"") {
                    *value = made;
                }
                continue;
            }
            self.known.add(value);
            if !lower.ends_with("cookie") {
                quoted_values(value).for_each(|part| self.known.add(part));
            }
            *value = match lower.as_str() {
                "authorization" | "proxy-authorization" => self.credentials(value, claims),
                "cookie" => {
                    let pairs: Vec<_> = value.split(|byte| *byte == b';').map(|pair| self.pair(pair, claims)).collect();
                    pairs.join(&b';')
                }
                "set-cookie" => {
                    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
                    let mut made = self.pair(&value[..end], claims);
                    made.extend_from_slice(&value[end..]);
                    made
                }
                _ => self.token(value, claims).unwrap_or_else(|| self.placeholders.of(value)),
            };
            self.names.insert(lower);
            self.hits += 1;
        }
    }

    /// Masks parameters of the query of a path or a URL.
    fn path(&mut self, path: &mut String) {
        if let Some(made) = self.query(path.as_bytes(), b"&") {
            *path = String::from_utf8_lossy(&made).into_owned();
        }
    }

    /// Masks parameters of a query, each of which ends before one of `ends`. None when the text has no query.
    fn query(&mut self, text: &[u8], ends: &[u8]) -> Option<Vec<u8>> {
        if !self.list.has_parameters() {
            return None;
        }
        let start = text.iter().position(|byte| *byte == b'?')? + 1;
        let mut made = text[..start].to_vec();
        for part in text[start..].split_inclusive(|byte| ends.contains(byte)) {
            let end = part.iter().position(|byte| ends.contains(byte)).unwrap_or(part.len());
            let pair = &part[..end];
            made.extend(self.parameter(pair).unwrap_or_else(|| pair.to_vec()));
            made.extend_from_slice(&part[end..]);
        }
        Some(made)
    }

    /// Masks the value of a parameter. None when its name is not in the list.
    fn parameter(&mut self, pair: &[u8]) -> Option<Vec<u8>> {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&pair[..at], &pair[at + 1..]);
        let plain = String::from_utf8_lossy(&of_form(name)).into_owned();
        if value.is_empty() || !self.list.has_parameter(&plain) {
            return None;
        }
        self.known.add(value);
        self.known.add(&unpercented(value));
        self.known.add(&of_form(value));
        self.names.insert(format!("?{plain}"));
        self.hits += 1;
        let made = self.token(value, Claims::Masked).unwrap_or_else(|| self.placeholders.of(value));
        Some([name, b"=", &made].concat())
    }

    /// `scheme token`; that of `Basic` is a name and a password in base 64.
    fn credentials(&mut self, value: &[u8], kept: Claims) -> Vec<u8> {
        let Some(space) = value.iter().position(u8::is_ascii_whitespace) else {
            return self.token(value, kept).unwrap_or_else(|| self.placeholders.of(value));
        };
        let spaces = value[space..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (scheme, token) = value.split_at(space + spaces);
        self.known.add(token);
        self.known.add(token.trim_ascii_end());
        let mut made = scheme.to_vec();
        if scheme.trim_ascii_end().eq_ignore_ascii_case(b"basic") {
            let text: Vec<u8> = token.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let digits = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
            for (lenient, alphabet) in LENIENT.iter().zip([STANDARD_NO_PAD, URL_SAFE_NO_PAD]) {
                let Ok(plain) = lenient.decode(&text[..digits]) else { continue };
                self.known.add(&plain);
                plain.split(|byte| *byte == b':').for_each(|part| self.known.add(part));
                // A password may have colons.
                if let Some(at) = plain.iter().position(|byte| *byte == b':') {
                    self.known.add(&plain[at + 1..]);
                }
                made.extend(alphabet.encode(self.placeholders.of(&plain)).into_bytes());
                made.extend_from_slice(&text[digits..]);
                return made;
            }
        }
        made.extend(self.token(token, kept).unwrap_or_else(|| self.placeholders.of(token)));
        made
    }

    /// A JSON Web Token that a secret of the guest has signed, signed with the placeholder. Without its signature it is no credential,
    /// so its claims may stay, as the members of a body do: a pointer masks them.
    fn token(&mut self, token: &[u8], kept: Claims) -> Option<Vec<u8>> {
        let [head, claims, signature] = token_parts(token)?;
        let mut plain = URL_SAFE_NO_PAD.decode(claims).ok()?;
        let Some(signer) = self.keys.signer(signature, &[head, b".", claims]) else {
            // Claims are an object (RFC 7519, section 7.2). Other content has no members to mask.
            if !plain.starts_with(b"{") {
                return None;
            }
            // Somebody else's, or a forged one: it keeps its form, so that the guest comes as far.
            self.all_members(&mut plain).ok()?;
            let claims = URL_SAFE_NO_PAD.encode(plain).into_bytes();
            let mut made = self.placeholders.of(signature);
            if let (Some(made), Some(last)) = (made.last_mut(), signature.last()) {
                // Its unused bits must be zeros.
                *made = *last;
            }
            return Some([head, &claims, &made].join(&b'.'));
        };
        // Equal tokens have equal placeholders.
        if matches!(kept, Claims::Masked) {
            self.closed.insert(token.to_vec());
        }
        match kept {
            Claims::Kept if !self.closed.contains(token) => self.members(&mut plain, true).ok()?,
            Claims::Kept | Claims::Masked => self.all_members(&mut plain).ok()?,
        }
        self.signature(signature);
        let claims = URL_SAFE_NO_PAD.encode(plain).into_bytes();
        let signature = signer.sign(&[head, b".", &claims]);
        Some([head, &claims, &signature].join(&b'.'))
    }

    /// A cookie's value `value.signature` that a secret of the guest has signed, with its name or without, signed with the placeholder.
    fn signed_cookie(&mut self, name: &[u8], text: &[u8]) -> Option<Vec<u8>> {
        let dot = text.iter().rposition(|byte| *byte == b'.')?;
        let (value, signature) = (&text[..dot], unpercented(&text[dot + 1..]));
        // `cookie-signature` of npm marks signed values.
        let mark = [&b"s%3A"[..], b"s%3a", b"s:"].into_iter().find(|mark| value.starts_with(mark)).unwrap_or_default();
        let plain = unpercented(&value[mark.len()..]);
        let signed = [&[&plain[..]][..], &[name, &plain[..]]];
        let (at, signer) =
            signed.iter().enumerate().find_map(|(at, message)| Some((at, self.keys.signer(&signature, message)?)))?;
        let made = self.placeholders.of(&value[mark.len()..]);
        self.known.add(&value[mark.len()..]);
        self.known.add(&plain);
        self.signature(&signature);
        let other = unpercented(&made);
        let signature = if at == 0 { signer.sign(&[&other]) } else { signer.sign(&[name, &other]) };
        let is_escaped = text[dot..].contains(&b'%');
        let signature = if is_escaped { percent(&signature) } else { signature };
        Some([mark, &made, b".", &signature].concat())
    }

    /// One cookie: its name stays.
    fn pair(&mut self, pair: &[u8], kept: Claims) -> Vec<u8> {
        let Some(at) = pair.iter().position(|byte| *byte == b'=') else {
            self.known.add(pair.trim_ascii());
            return self.placeholders.of(pair);
        };
        let (name, value) = (&pair[..=at], &pair[at + 1..]);
        // As a guest reads it: without quotes, and percent-decoded.
        let inner = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
        let (quote, plain) = inner.map_or((&b""[..], value), |inner| (&b"\""[..], inner));
        self.known.add(plain);
        self.known.add(&unpercented(plain));
        let made = self.token(plain, kept).or_else(|| self.signed_cookie(name.trim_ascii_start(), plain));
        let made = made.unwrap_or_else(|| self.placeholders.of(plain));
        [name, quote, &made, quote].concat()
    }

    /// Masks members of a JSON body. Fails when a body is declared as JSON, or begins like it, and cannot be parsed.
    fn members(&mut self, body: &mut [u8], is_json: bool) -> Result<(), &'static str> {
        let list = self.list;
        let before = self.hits;
        self.members_at(body, is_json, &list.pointers)?;
        if self.hits > before {
            self.names.extend(list.names.iter().cloned());
        }
        Ok(())
    }

    /// Masks all members of a JSON object.
    fn all_members(&mut self, body: &mut [u8]) -> Result<(), &'static str> {
        self.members_at(body, true, &[Pointer::all()])
    }

    fn members_at(&mut self, body: &mut [u8], is_json: bool, pointers: &[Pointer]) -> Result<(), &'static str> {
        if pointers.is_empty() || body.is_empty() {
            return Ok(());
        }
        // A byte order mark, which decoders leave out.
        let mark = if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let body = &mut body[mark..];
        let Some(found) = matches_of(body, pointers) else {
            // Or like a text in UTF-16.
            let begins_like_json = body.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'{' | b'['))
                || body.starts_with(b"\xff\xfe")
                || body.starts_with(b"\xfe\xff");
            return if is_json || begins_like_json { Err("a body that must be masked is not JSON") } else { Ok(()) };
        };
        for each in found {
            let (range, made) = match each {
                Match::Text(range) => {
                    let text = &body[range.clone()];
                    let quoted = [b"\"", text, b"\""].concat();
                    let plain: String = serde_json::from_slice(&quoted).map_err(|_| "a body is not JSON")?;
                    self.known.add(text);
                    self.known.add(plain.as_bytes());
                    let made = self.token(&body[range.clone()], Claims::Masked);
                    (range.clone(), made.unwrap_or_else(|| self.placeholders.of_json(&body[range])))
                }
                Match::Number(range) => {
                    let text = std::str::from_utf8(&body[range.clone()]).unwrap_or_default();
                    self.known.add(text.as_bytes());
                    // As a guest writes it again: 4111e12 is 4111000000000000.
                    if let Ok(number) = text.parse::<f64>() {
                        self.known.add(number.to_string().as_bytes());
                    }
                    (range.clone(), self.placeholders.of_number(&body[range]))
                }
                // Shorter than `false`, and a space may follow it.
                Match::Flag(range) => {
                    let length = range.len();
                    (range, b"true "[..length].to_vec())
                }
            };
            body[range].copy_from_slice(&made);
            self.hits += 1;
        }
        Ok(())
    }
}

/// The values of parameters such as `key="…"`, but for those that say what is signed.
fn quoted_values(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const OPEN: [&[u8]; 5] = [b"algorithm", b"headers", b"realm", b"signedheaders", b"uri"];
    let is_end = |byte: &u8| matches!(byte, b',' | b';' | b'&') || byte.is_ascii_whitespace();
    memchr::memchr_iter(b'=', text).filter_map(move |at| {
        let name = text[..at].rsplit(|byte| is_end(byte)).next().unwrap_or_default();
        if OPEN.iter().any(|open| open.eq_ignore_ascii_case(name)) {
            return None;
        }
        let value = &text[at + 1..];
        let value = match value.strip_prefix(b"\"") {
            Some(inner) => inner.split(|byte| *byte == b'"').next(),
            None => value.split(is_end).next(),
        };
        // A time is no secret, and other headers may have it.
        value.filter(|value| !is_time(value))
    })
}
