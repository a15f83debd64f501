//! Claims of signed tokens that the list of masks names.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tenon_tape::{Call, Event, Request, Response};

use super::masked::Masked;
use super::masked_tests::{base64url, bytes, field, masked, request, secret, signature};
use super::placeholders::Placeholders;

#[test]
fn no_claim_stays_of_a_signed_token_that_the_list_names() {
    let secrets = secret("the key of the tokens");
    let key = secrets[0].1.as_bytes();
    let claims = r#"{"sub":"canary-of-Ada","card":{"number":"4111222233334444"}}"#;
    let signed = format!("{}.{}", base64url(r#"{"alg":"HS256"}"#), base64url(claims));
    let token = format!("{signed}.{}", base64url(signature(key, &signed)));
    let made_key = Placeholders::new([1; 32]).of(key);
    let asked = || {
        let bearer = format!("Bearer {token}");
        let headers =
            vec![field("authorization", &bearer), field("cookie", &format!("t={token}")), field("x-token", &token)];
        let Event::Enter(request) = request("POST", headers, &format!(r#"{{"token":"{token}"}}"#)) else { panic!() };
        vec![Event::Enter(Request { path: format!("/?Token={token}"), ..request })]
    };
    let claims_of = |text: &str| {
        let at = text.find("eyJ").unwrap();
        let made = text[at..].trim_end_matches(['"', '}']);
        let (signed, mac) = made.rsplit_once('.').unwrap();
        assert_eq!(mac, base64url(signature(&made_key, signed)), "it verifies with the placeholder");
        let plain = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
        String::from_utf8(plain).unwrap()
    };
    for list in [&["#/token", "x-token", "?token"][..], &["x-token", "#/token", "?token", "authorization", "cookie"]] {
        let Masked { events, known, .. } = masked(asked(), list, &secrets).unwrap();
        let [Event::Enter(Request { path, headers, body: Some(body), .. })] = &events[..] else { panic!() };
        let all = headers.iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned());
        let all: Vec<_> = all.chain([path.clone(), String::from_utf8_lossy(body).into_owned()]).collect();
        let made: BTreeSet<_> = all.iter().map(|text| claims_of(text)).collect();
        // Equal tokens have equal placeholders, so those in other places lose their claims as well.
        assert!(made.len() == 1 && !made.first().unwrap().contains("canary"), "{made:?}");
        assert!(!made.first().unwrap().contains("4111222233334444") && !known.is_in(bytes(&events).as_bytes()));
    }
    // Without an entry of its own, its claims stay.
    let bearer = vec![field("authorization", &format!("Bearer {token}"))];
    let Masked { events, .. } = masked(vec![request("GET", bearer, "")], &["#/card/number"], &secrets).unwrap();
    let Event::Enter(Request { headers, .. }) = &events[0] else { panic!() };
    let made = claims_of(&String::from_utf8_lossy(&headers[0].1));
    assert!(made.contains("canary-of-Ada") && !made.contains("4111222233334444"), "{made}");
}

/// The names are those of a later event: the guest forwards the token, or a service repeats it.
#[test]
fn no_claim_stays_of_a_token_that_a_later_event_has_in_a_named_place() {
    let secrets = secret("the key of the tokens");
    let signed = format!("{}.{}", base64url(r#"{"alg":"HS256"}"#), base64url(r#"{"sub":"canary-of-Ada"}"#));
    let token = format!("{signed}.{}", base64url(signature(secrets[0].1.as_bytes(), &signed)));
    let canary = URL_SAFE_NO_PAD.encode(r#"{"sub":"canary"#);
    let enter = || request("GET", vec![field("authorization", &format!("Bearer {token}"))], "");
    let answer = || Response { status: 200, headers: vec![field("x-token", &token)], body: None };
    let call = |call| Event::Start(1, call);
    for later in [
        Event::Take(Some((1, Ok(answer())))),
        Event::Leave(answer()),
        call(Call { headers: vec![field("x-token", &token)], ..Call::default() }),
        call(Call { url: format!("http://a/?token={token}"), ..Call::default() }),
        call(Call { body: Some(format!(r#"{{"token":"{token}"}}"#).into_bytes()), ..Call::default() }),
    ] {
        let Masked { events, .. } =
            masked(vec![enter(), later.clone()], &["x-token", "?token", "#/token"], &secrets).unwrap();
        assert!(!bytes(&events).contains(&canary), "{later:?}");
    }
    // It stays when no entry of the list is met.
    let Masked { events, .. } = masked(vec![enter()], &["x-token"], &secrets).unwrap();
    assert!(bytes(&events).contains(&canary));
}
