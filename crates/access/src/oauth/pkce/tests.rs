use super::*;

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn challenge(query: &str, rules: &OAuthRules) -> Result<Option<Challenge>, String> {
    let parameters = OauthParameters::read(Some(query), None, b"").unwrap();
    Challenge::of(&parameters, rules, &OauthClient::default()).map_err(|refused| refused.description().to_owned())
}

#[test]
fn the_example_of_the_rfc_is_met() {
    let rules = OAuthRules::default();
    let made = challenge(&format!("code_challenge={CHALLENGE}&code_challenge_method=S256"), &rules).unwrap().unwrap();
    assert!(made.is_met_by(VERIFIER));
    for wrong in [CHALLENGE, "", &VERIFIER[1..], &VERIFIER.to_lowercase(), &format!("{VERIFIER}=")] {
        assert!(!made.is_met_by(wrong), "{wrong}");
    }
}

#[test]
fn plain_is_what_is_meant_without_a_method() {
    let made = challenge(&format!("code_challenge={VERIFIER}"), &OAuthRules::default()).unwrap().unwrap();
    assert_eq!(made.method, PkceMethod::Plain);
    assert!(made.is_met_by(VERIFIER));
    assert!(!made.is_met_by(CHALLENGE));
}

#[test]
fn rules_and_forms_are_kept() {
    let any = OAuthRules::default();
    let strict = OAuthRules { pkce_required: true, pkce_methods: vec![PkceMethod::S256], ..OAuthRules::default() };
    assert_eq!(challenge("", &any), Ok(None));
    assert_eq!(challenge("", &strict).unwrap_err(), "code challenge required");
    assert_eq!(challenge("code_challenge=", &strict).unwrap_err(), "code challenge required");
    assert_eq!(challenge(&format!("code_challenge={VERIFIER}"), &strict).unwrap_err(), "transform algorithm not supported");
    assert!(challenge(&format!("code_challenge={CHALLENGE}&code_challenge_method=S256"), &strict).is_ok());
    for method in ["s256", "PLAIN", "S512", "none"] {
        let query = format!("code_challenge={CHALLENGE}&code_challenge_method={method}");
        assert_eq!(challenge(&query, &any).unwrap_err(), "transform algorithm not supported", "{method}");
    }
    for text in ["x".repeat(42), "x".repeat(129), format!("{CHALLENGE}%3D"), format!("{CHALLENGE}%20")] {
        assert!(challenge(&format!("code_challenge={text}"), &any).is_err(), "{text}");
    }
    for length in [43, 128] {
        assert!(challenge(&format!("code_challenge={}", "x".repeat(length)), &any).is_ok());
    }
}

#[test]
fn a_public_client_has_nothing_but_its_proof() {
    let (app, shop) = (OauthClient { is_public: true, ..OauthClient::default() }, OauthClient::default());
    let of = |query: &str| {
        let parameters = OauthParameters::read(Some(query), None, b"").unwrap();
        Challenge::of(&parameters, &OAuthRules::default(), &app).map_err(|refused| refused.description().to_owned())
    };
    assert_eq!(of("").unwrap_err(), "code challenge required");
    assert_eq!(of(&format!("code_challenge={VERIFIER}")).unwrap_err(), "transform algorithm not supported");
    let made = of(&format!("code_challenge={CHALLENGE}&code_challenge_method=S256")).unwrap();
    assert!(Challenge::is_met(made.as_ref(), &app, Some(VERIFIER)));
    assert!(!Challenge::is_met(made.as_ref(), &app, None) && !Challenge::is_met(None, &app, None));
    // A challenge from the time when the client still had a secret.
    let plain = Challenge { method: PkceMethod::Plain, text: VERIFIER.to_owned() };
    assert!(Challenge::is_met(Some(&plain), &shop, Some(VERIFIER)) && !Challenge::is_met(Some(&plain), &app, Some(VERIFIER)));
    assert!(Challenge::is_met(None, &shop, None) && !Challenge::is_met(None, &shop, Some(VERIFIER)));
}
