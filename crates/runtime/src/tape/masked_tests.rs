//! Masking of single events. The whole of it is tested with requests (`runtime::tests::tapes`).

use tenon_tape::{Call, Event, Failure, Field, Piece, Reason, Request, Response, Variable};

use super::bodies::bodies;
use super::mask_list::MaskList;
use super::masked::*;
use super::placeholders::Placeholders;

const SECRET: &str = "s3cret/välue \"42\"";

pub(super) fn field(name: &str, value: &str) -> Field {
    (name.to_string(), value.as_bytes().to_vec())
}

fn list(entries: &[&str]) -> MaskList {
    MaskList::parse(&entries.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

pub(super) fn masked(
    events: Vec<Event>,
    entries: &[&str],
    secrets: &[(String, String)],
) -> Result<Masked, &'static str> {
    mask(events, 1024, &list(entries), secrets, &Placeholders::new([1; 32]))
}

pub(super) fn request(method: &str, headers: Vec<Field>, body: &str) -> Event {
    Event::Enter(Request {
        method: method.to_string(),
        path: "/".to_string(),
        headers,
        body: Some(body.as_bytes().to_vec()),
    })
}

fn taken(headers: Vec<Field>, body: &str) -> Event {
    Event::Take(Some((1, Ok(Response { status: 200, headers, body: Some(body.as_bytes().to_vec()) }))))
}

fn text(events: &[Event]) -> String {
    String::from_utf8_lossy(format!("{events:?}").as_bytes()).into_owned() + &bytes(events)
}

pub(super) fn bytes(events: &[Event]) -> String {
    let mut encoder = tenon_tape::Encoder::default();
    events.iter().for_each(|event| encoder.event(event));
    String::from_utf8_lossy(&encoder.into_bytes()).into_owned()
}

#[test]
fn entries_are_names_of_headers_pointers_and_parameters() {
    assert!(MaskList::parse(&["x-key".to_string(), "#/a/b".to_string()]).is_ok());
    for wrong in ["", "a b", "#", "#a", "?", "?a=b", "x\u{e9}"] {
        assert_eq!(MaskList::parse(&[wrong.to_string()]), Err(wrong.to_string()));
    }
}

#[test]
fn a_request_without_anything_to_mask_is_as_it_was() {
    let events = vec![request("GET", vec![field("accept", "*/*")], r#"{"card":1}"#), taken(Vec::new(), "{}")];
    let Masked { events: after, is_tainted, names, .. } =
        masked(events.clone(), &["x-key", "#/other"], &[("TENON_SECRET_A".to_string(), SECRET.to_string())]).unwrap();
    assert!(!is_tainted && names.is_empty() && after == events);
}

#[test]
fn a_secret_that_a_guest_knows_is_replaced_in_all_that_it_gets() {
    let secrets = [
        ("TENON_SECRET_A".to_string(), SECRET.to_string()),
        ("SIDECAR_DB_TOKEN".to_string(), "t0ken-of-db".to_string()),
    ];
    let variables =
        secrets.iter().map(|(name, value)| Variable { name: name.clone(), value: value.clone(), is_secret: false });
    let escaped = serde_json::to_string(SECRET).unwrap();
    let events = vec![
        request("GET", vec![field("x-any", SECRET)], SECRET),
        Event::Environment(variables.collect()),
        taken(vec![field("x-other", SECRET)], &format!("{{\"a\":{escaped},\"b\":\"t0ken-of-db\"}}")),
        Event::Take(Some((2, Err(Failure { reason: Reason::Broken, detail: format!("at {SECRET}") })))),
        // Within pieces as well.
        Event::Read(3, Piece::Bytes(SECRET.as_bytes()[..5].to_vec())),
        Event::Read(3, Piece::Bytes(SECRET.as_bytes()[5..].to_vec())),
    ];
    let length = bytes(&events).len();
    let Masked { events, known, is_tainted, names, .. } = masked(events, &[], &secrets).unwrap();
    assert!(is_tainted && names == ["SIDECAR_DB_TOKEN", "TENON_SECRET_A"]);
    assert!(!text(&events).contains("s3cret") && !text(&events).contains("t0ken"), "{events:?}");
    let [Event::Read(_, Piece::Bytes(one)), Event::Read(_, Piece::Bytes(other))] = &events[4..] else { panic!() };
    assert!(!String::from_utf8_lossy(&[&**one, other].concat()).contains("s3cret"));
    assert_eq!((one.len(), bytes(&events).len()), (5, length));
    assert!(!known.is_in(bytes(&events).as_bytes()));
    for form in [
        SECRET.to_string(),
        escaped,
        r#"s3cret\/v\u00e4lue \"42\""#.replace(r"\/", "/"),
        "s3cret%2Fv%C3%A4lue%20%2242%22".to_string(),
        SECRET.to_ascii_uppercase(),
        hex::encode(SECRET),
    ] {
        assert!(known.is_in(format!("before {form} after").as_bytes()), "{form}");
    }
    use base64::Engine as _;
    for before in ["", "a", "ab", "abc"] {
        let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{before}{SECRET}{before}"));
        assert!(known.is_in(encoded.as_bytes()), "{encoded}");
    }
}

#[test]
fn headers_keep_their_form() {
    let headers = vec![
        field("Authorization", "Bearer abcdefgh-12345678"),
        field("proxy-authorization", "Basic dXNlcjpwYXNzd29yZA=="),
        field("cookie", "theme=dark; sid=0123456789abcdef"),
        field("x-key", "k"),
    ];
    let events = vec![
        request("POST", headers, "abcdefgh-12345678"),
        Event::Start(1, Call { headers: vec![field("authorization", "Bearer made-by-the-guest")], ..Call::default() }),
        Event::Leave(Response {
            status: 200,
            headers: vec![field("set-cookie", "sid=fedcba9876543210; Path=/; HttpOnly")],
            body: None,
        }),
    ];
    let Masked { events, has_outputs, names, .. } = masked(events, &["X-Key"], &[]).unwrap();
    assert!(has_outputs);
    assert_eq!(names, ["authorization", "cookie", "proxy-authorization", "set-cookie", "x-key"]);
    let Event::Enter(Request { headers, body, .. }) = &events[0] else { panic!() };
    let value = |at: usize| String::from_utf8(headers[at].1.clone()).unwrap();
    assert!(value(0).starts_with("Bearer ") && value(0).len() == 24 && !value(0).contains("abcdefgh"), "{}", value(0));
    assert_eq!(&value(0)[7..], String::from_utf8_lossy(body.as_ref().unwrap()), "it is the same wherever it is");
    use base64::Engine as _;
    let basic = base64::engine::general_purpose::STANDARD.decode(&value(1)[6..]).unwrap();
    assert!(basic[4] == b':' && !basic.starts_with(b"user") && value(1).ends_with("=="), "{}", value(1));
    assert!(
        value(2).starts_with("theme=") && value(2).contains("; sid=") && !value(2).contains("0123456789"),
        "{}",
        value(2)
    );
    let Event::Leave(Response { headers, .. }) = &events[2] else { panic!() };
    let cookie = String::from_utf8_lossy(&headers[0].1);
    assert!(
        cookie.starts_with("sid=") && cookie.ends_with("; Path=/; HttpOnly") && !cookie.contains("fedcba"),
        "{cookie}"
    );
}

#[test]
fn parameters_of_queries_are_masked() {
    let mut asked = request("GET", vec![field("referer", "https://a/?token=canary-1234")], "");
    let Event::Enter(Request { path, .. }) = &mut asked else { panic!() };
    *path = "/orders?page=2&to%6ben=canary-1234&token=%2Fcanary2-5678&token".to_string();
    let Masked { events, known, names, .. } = masked(vec![asked], &["?token"], &[]).unwrap();
    let Event::Enter(Request { path, .. }) = &events[0] else { panic!() };
    assert!(path.starts_with("/orders?page=2&to%6ben=") && path.contains("&token=%2F"), "{path}");
    assert!(path.ends_with("&token") && !known.is_in(bytes(&events).as_bytes()) && names == ["?token"], "{path}");

    // Whatever letters a client writes.
    let mut asked = request("GET", Vec::new(), "");
    let Event::Enter(Request { path, .. }) = &mut asked else { panic!() };
    *path = "/orders?TOKEN=canary7-1234&Token=canary8-1234&tokens=open".to_string();
    let Masked { events, names, .. } = masked(vec![asked], &["?toKen"], &[]).unwrap();
    let Event::Enter(Request { path, .. }) = &events[0] else { panic!() };
    assert!(!path.contains("canary") && path.ends_with("&tokens=open") && names.contains(&"?TOKEN".into()), "{path}");

    // In other requests, calls and answers, and as a service repeats it.
    let mut asked = request("GET", vec![field("referer", "https://a/?token=canary3-1234#x")], "");
    let Event::Enter(Request { path, .. }) = &mut asked else { panic!() };
    *path = "/?token=canary+four+5678".to_string();
    let call = Call { url: "https://a/?token=canary5-1234&b=c".into(), ..Call::default() };
    let answer = Response { status: 302, headers: vec![field("location", "/?token=canary6-1234")], body: None };
    let all = vec![asked, Event::Start(1, call), taken(Vec::new(), "canary four 5678"), Event::Leave(answer)];
    let Masked { events, known, has_outputs, .. } = masked(all, &["?token"], &[]).unwrap();
    assert!(has_outputs && !text(&events).contains("canary") && !known.is_in(bytes(&events).as_bytes()), "{events:?}");
}

#[test]
fn members_are_masked_in_bodies_and_in_uploads_that_come_in_pieces() {
    let body = r#"{"card":{"number":4111111111111111,"ok":true,"off":false,"none":null}}"#;
    let Masked { events, .. } = masked(vec![request("POST", Vec::new(), body)], &["#/card"], &[]).unwrap();
    let Event::Enter(Request { body: Some(made), .. }) = &events[0] else { panic!() };
    let value: serde_json::Value = serde_json::from_slice(made).unwrap();
    assert!(value["card"]["number"].is_u64() && value["card"]["number"] != 4_111_111_111_111_111_u64);
    assert_eq!((&value["card"]["ok"], &value["card"]["off"], made.len()), (&true.into(), &true.into(), body.len()));

    let pieces = |parts: [&str; 3]| {
        let all = parts.into_iter().map(|part| request(":piece", Vec::new(), part));
        std::iter::once(request(":begin POST", Vec::new(), "")).chain(all).collect::<Vec<_>>()
    };
    let Masked { events, .. } = masked(pieces([r#"{"key":"abcde"#, "fghij", r#"klm"}"#]), &["#/key"], &[]).unwrap();
    let joined: Vec<u8> = events[1..]
        .iter()
        .flat_map(|event| match event {
            Event::Enter(request) => request.body.clone().unwrap(),
            _ => panic!(),
        })
        .collect();
    let joined = String::from_utf8(joined).unwrap();
    assert!(joined.starts_with(r#"{"key":""#) && joined.len() == 23 && !joined.contains("fghij"), "{joined}");
    // JSON that is cut off, and JSON that is compressed.
    assert!(masked(pieces([r#"{"key":"abcde"#, "fghij", "klm"]), &["#/key"], &[]).is_err());
    let json = field("content-type", "application/json");
    assert!(masked(vec![request("POST", vec![json], r#"{"key":"abc"#)], &["#/key"], &[]).is_err());
    let packed = field("content-encoding", "gzip");
    assert!(masked(vec![request("POST", vec![packed.clone()], "..")], &["#/key"], &[]).is_err());
    let cookie = vec![field("cookie", "a=b")];
    assert!(masked(vec![request("GET", cookie, ""), taken(vec![packed], "..")], &[], &[]).is_err());
}

#[test]
fn a_body_that_only_begins_like_json_is_refused() {
    let card = r#"{"card":{"number":"4111"}} trailing"#;
    for body in [card, &format!(" \n{card}")] {
        let events = vec![request("POST", vec![field("content-type", "text/plain")], body)];
        assert_eq!(masked(events, &["#/card/number"], &[]).err(), Some("a body that must be masked is not JSON"));
    }
    let form = vec![request("POST", vec![field("content-type", "text/plain")], "card=4111")];
    assert!(masked(form, &["#/card/number"], &[]).is_ok());
}

#[test]
fn a_value_is_found_whatever_characters_an_encoder_escapes() {
    let cookie = vec![field("cookie", "sid=\"s%3Aabc+def/(ghi)!\"")];
    let Masked { events, known, .. } = masked(vec![request("GET", cookie, "")], &[], &[]).unwrap();
    let Event::Enter(Request { headers, .. }) = &events[0] else { panic!() };
    let made = String::from_utf8_lossy(&headers[0].1);
    assert!(made.starts_with("sid=\"") && made.ends_with("!\"") && made.contains("%3A") && made.len() == 24, "{made}");
    for form in [
        "s:abc+def/(ghi)!",
        // .NET and others escape the plus sign, and JSON may be in JSON.
        r#"{"sid":"s:abc\u002Bdef\/(ghi)!"}"#,
        r#"{"log":"{\"sid\":\"s:abc\\u002bdef\\/(ghi)!\"}"}"#,
        // `encodeURIComponent`, small digits, and forms.
        "https://a/?sid=s%3Aabc%2Bdef%2F(ghi)!",
        "sid=s%3aabc%2bdef%2f%28ghi%29%21&a=b",
    ] {
        assert!(known.is_in(form.as_bytes()), "{form}");
    }
    assert!(!known.is_in(br"s:abc\u002Cdef/(ghi)! %3 \u00 \"));
    let spaced = vec![field("x-key", "my own (secret) key")];
    let Masked { known, .. } = masked(vec![request("GET", spaced, "")], &["x-key"], &[]).unwrap();
    assert!(known.is_in(b"key=my+own+%28secret%29+key"));
}

#[test]
fn a_number_is_found_in_the_form_in_which_a_guest_writes_it() {
    for number in ["4111e12", "4111000000000000.0", "41.11E14"] {
        let events = vec![
            request("POST", Vec::new(), &format!(r#"{{"card":{number}}}"#)),
            taken(Vec::new(), r#"{"number":"4111000000000000"}"#),
        ];
        let Masked { events, .. } = masked(events, &["#/card"], &[]).unwrap();
        assert!(!text(&events).contains("4111000000000000"), "{number}: {events:?}");
    }
}

/// Signs by HMAC-SHA256.
pub(super) fn signature(key: &[u8], message: &str) -> Vec<u8> {
    use hmac::{Hmac, KeyInit, Mac};
    Hmac::<sha2::Sha256>::new_from_slice(key).unwrap().chain_update(message).finalize().into_bytes().to_vec()
}

pub(super) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

#[test]
fn what_a_secret_has_signed_is_signed_with_its_placeholder() {
    use base64::Engine as _;
    let keys = ["the key of the tokens", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
    let secrets = ["TENON_SECRET_A", "TENON_SECRET_B"].into_iter().zip(keys);
    let secrets: Vec<_> = secrets.map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let variables =
        secrets.iter().map(|(name, value)| Variable { name: name.clone(), value: value.clone(), is_secret: false });
    let [head, claims] = [r#"{"alg":"HS256"}"#, r#"{"sub":"Ada","card":"4111222233334444","exp":1764218700}"#];
    let signed = format!("{}.{}", base64url(head), base64url(claims));
    let token = format!("{signed}.{}", base64url(signature(keys[0].as_bytes(), &signed)));
    let cookie = format!("canary-session.{}", base64url(signature(keys[0].as_bytes(), "sid=canary-session")));
    let body = r#"{"card":"4111222233334444","n":1}"#;
    let inner = base64::engine::general_purpose::STANDARD.decode(&keys[1][6..]).unwrap();
    let standard =
        base64::engine::general_purpose::STANDARD.encode(signature(&inner, &format!("msg_1.1764218700.{body}")));
    let stripe = hex::encode(signature(keys[0].as_bytes(), &format!("1764218700.{body}")));
    let headers = vec![
        field("authorization", &format!("Bearer {token}")),
        field("cookie", &format!("theme=dark; sid={cookie}")),
        field("webhook-id", "msg_1"),
        field("webhook-timestamp", "1764218700"),
        field("webhook-signature", &format!("v1,{standard}")),
        field("stripe-signature", &format!("t=1764218700,v1={stripe}")),
    ];
    let events = vec![request("POST", headers, body), Event::Environment(variables.collect())];
    let Masked { events, known, .. } = masked(events, &["#/card", "stripe-signature"], &secrets).unwrap();
    let [Event::Enter(Request { headers, body: Some(body), .. }), Event::Environment(variables)] = &events[..] else {
        panic!("{events:?}")
    };
    let value = |at: usize| String::from_utf8(headers[at].1.clone()).unwrap();
    let body = String::from_utf8(body.clone()).unwrap();
    let [key, webhooks] = [0, 1].map(|at: usize| variables[at].value.as_bytes());
    assert!(webhooks.starts_with(b"whsec_") && key != keys[0].as_bytes());
    let made = value(0).strip_prefix("Bearer ").unwrap().to_string();
    let (signed, mac) = made.rsplit_once('.').unwrap();
    assert_eq!(mac, base64url(signature(key, signed)));
    let own = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(signed.rsplit_once('.').unwrap().1).unwrap();
    let own = String::from_utf8(own).unwrap();
    assert!(own.contains(r#""sub":"Ada""#) && own.contains("1764218700") && !own.contains("4111222233334444"), "{own}");
    let (sid, mac) = value(1).rsplit_once('.').map(|(value, mac)| (value.to_string(), mac.to_string())).unwrap();
    assert!(sid.starts_with("theme=") && !sid.contains("canary"), "{sid}");
    assert_eq!(mac, base64url(signature(key, sid.rsplit_once(' ').unwrap().1)));
    let inner = base64::engine::general_purpose::STANDARD.decode(&webhooks[6..]).unwrap();
    let standard =
        base64::engine::general_purpose::STANDARD.encode(signature(&inner, &format!("msg_1.1764218700.{body}")));
    assert_eq!(value(4), format!("v1,{standard}"));
    let stripe = hex::encode(signature(key, &format!("1764218700.{body}")));
    assert_eq!(value(5), format!("t=1764218700,v1={stripe}"));
    assert!(!known.is_in(bytes(&events).as_bytes()));

    // One that no secret has signed keeps its form, and no value.
    let forged = format!("Bearer {}.{}.{}", base64url(head), base64url(claims), base64url([7; 32]));
    let events = vec![request("GET", vec![field("authorization", &forged)], "")];
    let Masked { events, known, .. } = masked(events, &[], &secrets).unwrap();
    let Event::Enter(Request { headers, .. }) = &events[0] else { panic!() };
    let made = String::from_utf8(headers[0].1.clone()).unwrap();
    let parts: Vec<_> = made.strip_prefix("Bearer ").unwrap().split('.').collect();
    let own = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(parts[1]).unwrap();
    let own: serde_json::Value = serde_json::from_slice(&own).unwrap();
    assert!(parts[0] == base64url(head) && own["exp"].is_u64() && own["card"] != "4111222233334444", "{own}");
    assert!(parts[2] != base64url([7; 32]) && !known.is_in(made.as_bytes()));
    let text = base64url(r#""canary-text""#);
    let forged = format!("Bearer {}.{text}.{}", base64url(head), base64url([7; 32]));
    let events = vec![request("GET", vec![field("authorization", &forged)], "")];
    let Masked { events, .. } = masked(events, &[], &secrets).unwrap();
    assert!(!bytes(&events).contains(&text), "{events:?}");
}

#[test]
fn more_masked_values_than_can_be_looked_for_are_refused() {
    let values: Vec<_> = (10_000_000..10_001_000).collect();
    let events = || vec![request("POST", Vec::new(), &format!("{{\"card\":{values:?}}}"))];
    let of_size = |size: usize| mask(events(), size, &list(&["#/card"]), &[], &Placeholders::new([1; 32])).is_ok();
    assert!(of_size(4 << 20) && !of_size(5 << 20));
}

#[test]
fn a_credential_beside_a_signature_stays_masked() {
    let key = "the key of the tokens";
    let mac = hex::encode(signature(key.as_bytes(), "hello"));
    let value = format!("HMAC session=canary-session-1,pin=4711,t=1764218700,sig={mac}");
    let events = vec![request("POST", vec![field("authorization", &value)], "hello")];
    let secrets = [("TENON_SECRET_A".to_string(), key.to_string())];
    let Masked { events, .. } = masked(events, &[], &secrets).unwrap();
    let Event::Enter(Request { headers, .. }) = &events[0] else { panic!() };
    let made = String::from_utf8(headers[0].1.clone()).unwrap();
    assert!(made.starts_with("HMAC ") && made.contains(",t=1764218700,sig=") && !made.contains(&mac), "{made}");
    assert!(!made.contains("canary") && !made.contains("4711"), "{made}");
}

pub(super) fn secret(value: &str) -> Vec<(String, String)> {
    vec![("TENON_SECRET_A".to_string(), value.to_string())]
}

fn read(piece: &str) -> Event {
    Event::Read(1, Piece::Bytes(piece.as_bytes().to_vec()))
}

#[test]
fn the_beginning_of_a_streamed_answer_belongs_to_its_pieces() {
    let secrets = secret("canary-0123456789");
    let events = vec![taken(Vec::new(), "a canary-01"), read("23456"), read("789!")];
    let Masked { events, is_tainted, .. } = masked(events, &[], &secrets).unwrap();
    let whole = bodies(&events)[0].whole(&mut events.clone());
    assert!(is_tainted && whole.starts_with(b"a ") && whole.ends_with(b"!") && whole.len() == 20, "{events:?}");
    assert!(memchr::memmem::find(&whole, b"canary").is_none() && !text(&events).contains("23456"), "{events:?}");
    // In digits, which nothing replaces.
    let digits = hex::encode("canary-0123456789");
    let events = vec![taken(Vec::new(), &digits[..15]), read(&digits[15..])];
    assert_eq!(
        masked(events, &[], &secrets).err(),
        Some("a masked value is in what the module got, in an encoding that is not masked")
    );
    // A member, and JSON that only its type tells.
    let json = vec![field("content-type", "application/json")];
    let events = vec![taken(json.clone(), r#"{"key":"can"#), read("ary-7"), read(r#""}"#)];
    let Masked { events, known, .. } = masked(events, &["#/key"], &[]).unwrap();
    assert!(!text(&events).contains("ary-7") && known.is_in(b"Canary-7"), "{events:?}");
    let broken = || vec![taken(json.clone(), "\"key\": "), read("\"canary-7\"")];
    assert!(masked(broken(), &["#/key"], &[]).is_err() && masked(broken(), &[], &[]).is_ok());
    let upload = vec![request(":begin POST", json, ""), request(":piece", Vec::new(), "\"key\":1")];
    assert!(masked(upload, &["#/key"], &[]).is_err());
}

#[test]
fn a_signature_that_verifies_is_masked_wherever_it_is_repeated() {
    let secrets = secret("the key of the tokens");
    let key = secrets[0].1.as_bytes();
    let signed = format!("{}.{}", base64url(r#"{"alg":"HS256"}"#), base64url(r#"{"sub":"Ada"}"#));
    let token = base64url(signature(key, &signed));
    let cookie = base64url(signature(key, "canary-session"));
    let webhook = hex::encode(signature(key, "hello"));
    let headers = vec![
        field("authorization", &format!("Bearer {signed}.{token}")),
        field("cookie", &format!("sid=canary-session.{cookie}")),
        field("x-hub-signature-256", &format!("sha256={webhook}")),
    ];
    for repeated in [token, cookie, webhook.clone()] {
        let events = vec![request("POST", headers.clone(), "hello"), taken(Vec::new(), &format!("<{repeated}>"))];
        let Masked { events, known, is_tainted, .. } = masked(events, &[], &secrets).unwrap();
        assert!(is_tainted && !text(&events).contains(&repeated), "{events:?}");
        assert!(known.is_in(repeated.as_bytes()) && !known.is_in(bytes(&events).as_bytes()));
    }
    use base64::Engine as _;
    let Masked { known, .. } = masked(vec![request("POST", headers, "hello")], &[], &secrets).unwrap();
    let other = base64::engine::general_purpose::STANDARD.encode(hex::decode(&webhook).unwrap());
    assert!(known.is_in(other.as_bytes()), "in another encoding");

    // After many others, and after too many.
    for (others, is_ok) in [(15, true), (16, false)] {
        let others: String = (0..others).map(|n| format!("v1={},", format!("{n:x}").repeat(64))).collect();
        let header = field("stripe-signature", &format!("{others}v1={webhook}"));
        match masked(vec![request("POST", vec![header], "hello")], &[], &secrets) {
            Ok(Masked { events, .. }) => assert!(is_ok && !text(&events).contains(&webhook), "{events:?}"),
            Err(why) => assert!(!is_ok && why == "it may have more signatures than can be verified"),
        }
    }
}

#[test]
fn values_are_known_as_a_guest_reads_them() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let basic = |text: &str| format!("Basic  {}", engine.encode(text));
    for (name, value, read) in [
        ("authorization", "Bearer\tcanary-0123456789".to_string(), "canary-0123456789"),
        ("authorization", "Bearer \t canary-0123456789 ".to_string(), "canary-0123456789"),
        ("authorization", r#"Signature id="a",key="canary, 0123""#.to_string(), "canary, 0123"),
        ("authorization", "HMAC apikey=canary-0123456789, sig=abc".to_string(), "canary-0123456789"),
        ("x-auth", "key=canary-0123456789;sig=abc".to_string(), "canary-0123456789"),
        ("authorization", basic("ada:pa:ss:wo:rd:12"), "pa:ss:wo:rd:12"),
        ("authorization", basic("ada:canary-1").trim_end_matches('=').to_string(), "canary-1"),
        ("proxy-authorization", basic("ada:canary-12").replace("Y2Fu", "Y2 Fu"), "canary-12"),
    ] {
        let events = vec![request("GET", vec![field(name, &value)], ""), taken(Vec::new(), &format!("has {read}."))];
        let Masked { events, known, .. } = masked(events, &["x-auth"], &[]).unwrap();
        assert!(!text(&events).contains(read) && known.is_in(read.as_bytes()), "{value}: {events:?}");
        let Event::Enter(Request { headers, .. }) = &events[0] else { panic!() };
        let made = String::from_utf8_lossy(&headers[0].1);
        assert!(
            value.starts_with("key") || made.split_whitespace().next() == value.split_whitespace().next(),
            "{made}"
        );
    }
    // The path is no secret, although a digest names it.
    let value = r#"Digest uri="/orders/list", response="0123456789abcdef""#;
    let Masked { known, .. } = masked(vec![request("GET", vec![field("authorization", value)], "")], &[], &[]).unwrap();
    assert!(known.is_in(b"0123456789ABCDEF") && !known.is_in(b"GET /orders/list"));
}

#[test]
fn a_value_is_replaced_whatever_its_letters() {
    let events = vec![
        request("GET", vec![field("authorization", "Bearer GuE4PSEF2yZX")], ""),
        taken(Vec::new(), "gUe4psef2Yzx GUE4PSEF2YZX gue4psef2yzx GuE4PSEF2yZX"),
    ];
    let Masked { events, known, .. } = masked(events, &[], &[]).unwrap();
    let Event::Take(Some((_, Ok(Response { body: Some(body), .. })))) = &events[1] else { panic!() };
    let made: Vec<_> = std::str::from_utf8(body).unwrap().split(' ').collect();
    assert!(!known.is_in(body), "{made:?}");
    assert_eq!([made[3].to_ascii_uppercase(), made[3].to_ascii_lowercase()], [made[1], made[2]]);
    let swapped = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    assert_eq!(made[0], made[3].chars().map(swapped).collect::<String>());
    let wide: Vec<u8> = "GuE4PSEF2yZX".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(known.is_in(&wide));
}

#[test]
fn members_are_masked_after_a_byte_order_mark() {
    let body = "\u{feff}{\"card\":\"4999111122225555\"}";
    let Masked { events, .. } = masked(vec![request("POST", Vec::new(), body)], &["#/card"], &[]).unwrap();
    assert!(text(&events).contains("\u{feff}") && !text(&events).contains("4999111122225555"), "{events:?}");
    let Event::Enter(mut wide) = request("POST", Vec::new(), "") else { panic!() };
    wide.body = Some(body.encode_utf16().flat_map(u16::to_le_bytes).collect());
    assert!(masked(vec![Event::Enter(wide)], &["#/card"], &[]).is_err());
    let packed = vec![field("content-encoding", "gzip")];
    assert!(masked(vec![request("GET", Vec::new(), ""), taken(packed, "..")], &["#/card"], &[]).is_err());
}
