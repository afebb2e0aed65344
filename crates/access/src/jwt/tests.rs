//! The examples of the RFCs, and tokens that must be rejected.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

#[path = "invariants.rs"]
mod invariants;

const PAYLOAD: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

/// RFC 7515, A.1
const HS256: (&str, &str) = ("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
const SECRET: &str = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";

/// RFC 7515, A.2
const RS256: (&str, &str) = (
    "eyJhbGciOiJSUzI1NiJ9",
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
);
const MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

/// RFC 7515, A.3
const ES256: (&str, &str) =
    ("eyJhbGciOiJFUzI1NiJ9", "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q");

/// RFC 7515, A.4
const ES512: &str = "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn";

/// RFC 7515, A.5, which is also RFC 7519, 6.1: it has no signature.
const UNSECURED: (&str, &str) = ("eyJhbGciOiJub25lIn0", "");

/// RFC 7520, 4.2
const PS384: &str = "eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw";
const OTHER_MODULUS: &str = "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw";

/// RFC 8037, A.4
const EDDSA: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

fn secret() -> Value {
    json!({"kty": "oct", "k": SECRET})
}
fn rsa() -> Value {
    json!({"kty": "RSA", "n": MODULUS, "e": "AQAB"})
}
fn p256() -> Value {
    json!({"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
           "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})
}
fn p521() -> Value {
    json!({"kty": "EC", "crv": "P-521", "x": "AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk",
           "y": "ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"})
}
fn other_rsa() -> Value {
    json!({"kty": "RSA", "n": OTHER_MODULUS, "e": "AQAB"})
}
fn ed25519() -> Value {
    json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
}

fn token(parts: (&str, &str)) -> String {
    format!("{}.{PAYLOAD}.{}", parts.0, parts.1)
}

/// Every example with its key.
fn examples() -> [(String, Value); 6] {
    [
        (token(HS256), secret()),
        (token(RS256), rsa()),
        (token(ES256), p256()),
        (ES512.to_owned(), p521()),
        (PS384.to_owned(), other_rsa()),
        (EDDSA.to_owned(), ed25519()),
    ]
}

fn verifies(text: &str, jwk: &Value) -> bool {
    let token = JwtToken::parse(text).expect("a token");
    let algorithm = SigningAlgorithm::named(token.algorithm().expect("alg")).expect("a known alg");
    VerifyKey::jwk(jwk).expect("a key").verifies(&token, algorithm)
}

#[test]
fn the_examples_of_the_rfcs_are_good() {
    for (text, jwk) in examples() {
        assert!(verifies(&text, &jwk), "{text}");
    }
    let claims = JwtToken::parse(&token(HS256)).unwrap().claims().unwrap();
    assert_eq!((claims.text("iss"), claims.expires_unix_s()), (Some("joe"), Some(1_300_819_380)));
    // RFC 7519, 3.1: the same claims; a collision-resistant name is a claim like any other.
    assert_eq!(claims.0.get("http://example.com/is_root"), Some(&json!(true)));
}

#[test]
fn the_unsecured_example_has_no_algorithm_that_could_be_checked() {
    let text = token(UNSECURED);
    let token = JwtToken::parse(&text).expect("a token in form");
    assert_eq!((token.algorithm(), token.signature().len()), (Some("none"), 0));
    assert!(SigningAlgorithm::named("none").is_none());
    // A known algorithm name without a signature fails as well.
    for (_, jwk) in examples() {
        for family in [AlgorithmFamily::Hmac, AlgorithmFamily::Rsa, AlgorithmFamily::Ecdsa, AlgorithmFamily::EdDsa] {
            for algorithm in SigningAlgorithm::of(family) {
                assert!(!VerifyKey::jwk(&jwk).unwrap().verifies(&token, algorithm), "{}", algorithm.name);
            }
        }
    }
}

#[test]
fn a_token_that_is_cut_anywhere_is_not_good() {
    for (text, jwk) in examples() {
        let key = VerifyKey::jwk(&jwk).unwrap();
        for end in 0..text.len() {
            let Some(token) = JwtToken::parse(&text[..end]) else { continue };
            let Some(algorithm) = token.algorithm().and_then(SigningAlgorithm::named) else { continue };
            assert!(!key.verifies(&token, algorithm), "{end} of {text}");
        }
    }
}

#[test]
fn examples_are_good_with_their_own_key_alone() {
    for (number, (text, _)) in examples().iter().enumerate() {
        for (other, (_, jwk)) in examples().iter().enumerate() {
            assert_eq!(verifies(text, jwk), number == other, "{text}");
        }
    }
}

#[test]
fn a_changed_byte_anywhere_is_noticed() {
    for (text, jwk) in examples() {
        for at in (0..text.len()).step_by(3) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            let Some(token) = JwtToken::parse(&changed) else { continue };
            let Some(algorithm) = token.algorithm().and_then(SigningAlgorithm::named) else { continue };
            assert!(!VerifyKey::jwk(&jwk).unwrap().verifies(&token, algorithm), "{changed}");
        }
    }
}

#[test]
fn a_public_key_is_no_secret() {
    // The classic confusion attack: the public key's text, known to everyone, is used as an HMAC secret.
    let token = JwtToken::parse("eyJhbGciOiJIUzI1NiJ9.e30.AAAA").unwrap();
    let algorithm = SigningAlgorithm::named("HS256").unwrap();
    for jwk in [rsa(), p256(), ed25519()] {
        assert!(!VerifyKey::jwk(&jwk).unwrap().verifies(&token, algorithm));
    }
    assert!(VerifyKey::public(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", AlgorithmFamily::Rsa).is_err());
}

#[test]
fn none_is_no_algorithm() {
    for name in ["none", "None", "NONE", "nOnE", "", "HS1", "RS1", "hs256"] {
        assert!(SigningAlgorithm::named(name).is_none(), "{name}");
    }
}

#[test]
fn what_is_no_token_is_refused() {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let header = encode(r#"{"alg":"HS256"}"#);
    let long = format!("{header}.{}.AAAA", "A".repeat(40_000));
    let crit = format!("{}.e30.AAAA", encode(r#"{"alg":"HS256","crit":["exp"]}"#));
    let deep = format!("{}.e30.AAAA", encode(&format!("{{\"alg\":{}", "[".repeat(5000))));
    for text in [
        "",
        ".",
        "..",
        "...",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "e30.e30",
        "\u{fc}.e30.AA",
        "e30=.e30.AAAA",
        "e30.e30.AAA=",
        "e30.e30.A A",
        "bnVsbA.e30.AAAA",
        "W10.e30.AAAA",
        &long,
        &crit,
        &deep,
    ] {
        assert!(JwtToken::parse(text).is_none(), "{text:.60}");
    }
    for payload in ["", "%%%", &encode("[]"), &encode("null"), &encode("\"x\""), &encode("{"), &encode("{}x")] {
        assert!(JwtToken::parse(&format!("{header}.{payload}.AAAA")).unwrap().claims().is_none(), "{payload}");
    }
}

#[test]
fn weak_and_foreign_keys_are_not_used() {
    let cases = [
        json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([0xff; 128]), "e": "AQAB"}),
        json!({"kty": "RSA", "n": "", "e": ""}),
        json!({"kty": "RSA"}),
        json!({"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}),
        json!({"kty": "EC", "crv": "P-256", "x": URL_SAFE_NO_PAD.encode([1; 32]), "y": URL_SAFE_NO_PAD.encode([1; 32])}),
        json!({"kty": "EC", "crv": "P-192", "x": "AAAA", "y": "AAAA"}),
        json!({"kty": "OKP", "crv": "X25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}),
        json!({"kty": "oct", "k": ""}),
        json!({"kty": "what"}),
        json!({"kty": 7}),
        json!(null),
        json!([]),
        json!({"kty": "RSA", "n": MODULUS, "e": "AQAB", "use": "enc"}),
        json!({"kty": "RSA", "n": MODULUS, "e": "AQAB", "key_ops": ["encrypt"]}),
        json!({"kty": "RSA", "n": MODULUS, "e": "AQAB", "alg": "RSA-OAEP"}),
        json!({"kty": "RSA", "x5c": ["AAAA"]}),
    ];
    for jwk in cases {
        assert!(VerifyKey::jwk(&jwk).is_err(), "{jwk}");
    }
}

#[test]
fn a_key_for_one_algorithm_is_used_for_no_other() {
    let mut jwk = rsa();
    jwk["alg"] = "PS256".into();
    assert!(!verifies(&token(RS256), &jwk));
    jwk["alg"] = "RS256".into();
    assert!(verifies(&token(RS256), &jwk));
}

fn claims(value: Value) -> Claims {
    match value {
        Value::Object(members) => Claims(members.into()),
        _ => unreachable!(),
    }
}

#[test]
fn times_are_compared_as_the_claims_say() {
    let exact = TimeChecks { expires_skew: Some(0), issued_skew: Some(0), not_before_skew: Some(0) };
    let loose = TimeChecks { expires_skew: Some(10), issued_skew: Some(10), not_before_skew: Some(10) };
    let off = TimeChecks { expires_skew: None, issued_skew: None, not_before_skew: None };
    let now = 1000;
    let cases = [
        (json!({}), exact, Ok(())),
        (json!({"exp": 1001}), exact, Ok(())),
        (json!({"exp": 1000}), exact, Err(TimeFault::Expired)),
        (json!({"exp": 991}), loose, Ok(())),
        (json!({"exp": 990}), loose, Err(TimeFault::Expired)),
        (json!({"exp": 1}), off, Ok(())),
        (json!({"exp": 1000.5}), exact, Ok(())),
        (json!({"exp": 0}), exact, Ok(())),
        (json!({"exp": -5}), exact, Err(TimeFault::Expired)),
        (json!({"exp": "9999999999"}), exact, Err(TimeFault::Expired)),
        (json!({"exp": null}), exact, Err(TimeFault::Expired)),
        (json!({"exp": 1e300}), exact, Ok(())),
        (json!({"iat": 1000}), exact, Ok(())),
        (json!({"iat": 1001}), exact, Err(TimeFault::BeforeIssued)),
        (json!({"iat": 1010}), loose, Ok(())),
        (json!({"iat": []}), exact, Err(TimeFault::BeforeIssued)),
        (json!({"nbf": 1000}), exact, Ok(())),
        (json!({"nbf": 1001}), exact, Err(TimeFault::NotYet)),
        (json!({"nbf": 1e300}), loose, Err(TimeFault::NotYet)),
        (json!({"exp": 1, "iat": 9999, "nbf": 9999}), exact, Err(TimeFault::NotYet)),
        (json!({"exp": 1, "iat": 9999}), exact, Err(TimeFault::BeforeIssued)),
    ];
    for (value, checks, expect) in cases {
        assert_eq!(claims(value.clone()).validity(now, &checks).map(|_| ()), expect, "{value}");
    }
    let validity = claims(json!({"exp": 2000, "nbf": 900})).validity(now, &exact).unwrap();
    assert!(validity.contains(900) && validity.contains(1999) && !validity.contains(2000) && !validity.contains(899));
}

#[test]
fn identities_are_found_in_the_named_claim_else_in_sub() {
    let cases = [
        (json!({"sub": "s"}), "", Ok("s")),
        (json!({"sub": "s", "user": "u"}), "user", Ok("u")),
        (json!({"sub": "s"}), "user", Ok("s")),
        (json!({"sub": "s", "user": 7}), "user", Ok("s")),
        (json!({"sub": "s", "user": ""}), "user", Err("found an empty user ID in predefined base claim, claim: user")),
        (json!({"sub": ""}), "", Err("found an empty user ID in sub claim")),
        (json!({"sub": 7}), "", Err("no suitable claims for user ID were found")),
        (json!({}), "user", Err("no suitable claims for user ID were found")),
        (json!({"sub": "s", "act": {"or": {"id": "n"}}}), "act.or.id", Ok("n")),
        (json!({"sub": "s", "act.id": "plain", "act": {"id": "n"}}), "act.id", Ok("plain")),
        (json!({"sub": "s", "act": {"id": ""}}), "act.id", Err("found an empty user ID in predefined base claim, claim: act.id")),
        (json!({"sub": "s", "act": "x"}), "act.id", Ok("s")),
        (json!({"sub": "s"}), ".", Ok("s")),
    ];
    for (value, field, expect) in cases {
        let claims = claims(value);
        let fields: Vec<String> = Some(field).filter(|field| !field.is_empty()).map(str::to_owned).into_iter().collect();
        assert_eq!(claims.identity(&fields), expect.map_err(str::to_owned));
    }
    let several = ["mail".to_owned(), "user".to_owned()];
    assert_eq!(claims(json!({"sub": "s", "user": "u"})).identity(&several), Ok("u"));
    assert_eq!(claims(json!({"sub": "s", "user": "u", "mail": "m"})).identity(&several), Ok("m"));
    assert_eq!(claims(json!({"sub": "s"})).identity(&several), Ok("s"));
}

/// What Tyk 5.14.0 makes of each claim (`getScopeFromClaim`); a claim with any scope, even an empty one, replaces the default policies.
#[test]
fn scopes_are_words_or_items_anywhere_in_the_claims() {
    let claims = claims(json!({
        "scope": "a b  c", "list": ["x", 1, "y z"], "deep": {"er": {"scope": "q"}}, "number": 4,
        "empty": "", "blank": " ", "none": [], "empties": [""], "lists": [["x", ["y"]], {}, "z"], "object": {}, "null": null, "yes": true,
        "dot.ted": "plain", "both.ways": "plain", "both": {"ways": "nested"}
    }));
    let cases: &[(&str, &[&str])] = &[
        ("scope", &["a", "b", "", "c"]),
        ("list", &["x", "y z"]),
        ("deep.er.scope", &["q"]),
        ("empty", &[""]),
        ("blank", &["", ""]),
        ("empties", &[""]),
        ("lists", &["x", "y", "z"]),
        ("both.ways", &["nested"]),
        // Not in Tyk, which never finds such a claim.
        ("dot.ted", &["plain"]),
    ];
    for (name, expect) in cases {
        assert_eq!(claims.scopes(name), *expect, "{name}");
    }
    for name in ["none", "number", "object", "null", "yes", "absent", "deep", "deep.no.scope", "scope.er", ""] {
        assert!(claims.scopes(name).is_empty(), "{name}");
    }
}

#[test]
fn mutated_tokens_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let seeds = [token(HS256), token(RS256), token(ES256), EDDSA.to_owned(), "{}.{}.{}".to_owned()];
    for round in 0..20_000 {
        let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
        for _ in 0..=random() % 4 {
            if bytes.is_empty() {
                break;
            }
            let at = (random() % bytes.len() as u64) as usize;
            match random() % 4 {
                0 => bytes[at] = random() as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b'.'),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(token) = JwtToken::parse(&text) {
            let _ = (
                token.kid(),
                token.claims().map(|claims| (claims.identity(&["x".to_owned()]).is_ok(), claims.scopes("a.b").len())),
            );
        }
    }
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn a_text_is_a_token_in_one_way_only() {
    crate::mutation::Corpus::read("token").each_and_mutated(20_000, invariants::token);
}
