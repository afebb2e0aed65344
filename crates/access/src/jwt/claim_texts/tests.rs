use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

fn names(definition: Value) -> ClaimNames {
    let definition = ApiDefinition { raw: definition, enable_context_vars: true, ..ApiDefinition::default() };
    ClaimNames::used_in(&definition)
}

#[test]
fn the_claims_that_a_definition_uses_are_found_wherever_they_stand() {
    let used = names(json!({
        "a": ["x-$tyk_context.jwt_claims_sub/$tyk_context.jwt_claims_a.b-c!", {"jwt_claims_role": {"match_rx": "x"}}],
        "b": "$tyk_context.jwt_claims_sub", "c": "jwt_claims", "d": "jwt_claims_"
    }));
    assert_eq!(used.0, ["", "a.b-c", "role", "sub"]);
    let off = ApiDefinition { raw: json!("$tyk_context.jwt_claims_sub"), ..ApiDefinition::default() };
    assert!(ClaimNames::used_in(&off).0.is_empty());
}

#[test]
fn claims_of_budgets_and_teams_are_kept() {
    let llm = json!({"team": "claim:team", "budgets": [{"name": "a", "of": "claim:unit"}, {"name": "b", "of": "metadata:group"}]});
    let mut definition = ApiDefinition::default();
    definition.tollgate.llm = Some(serde_json::from_value(llm).unwrap());
    assert_eq!(ClaimNames::used_in(&definition).0, ["team", "unit"]);
}

#[test]
fn claims_become_text() {
    let header = URL_SAFE_NO_PAD.encode(json!({"alg": "HS256", "kid": "k1", "sub": "of the header"}).to_string());
    let claims = json!({
        "sub": "joe", "exp": 1_763_784_123_u64, "share": 0.5, "admin": true, "none": null, "roles": ["a b", "c,d", 7, [], {}],
        "deep": {"er": "x"}, "odd.name": "plain"
    });
    let text = format!("{header}.{}.AAAA", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let token = JwtToken::parse(&text).expect("a token");
    let claims = token.claims().expect("claims");
    let all = ["sub", "exp", "share", "admin", "none", "roles", "deep", "deep.er", "odd.name", "kid", "missing"];
    let texts = ClaimNames(all.map(str::to_owned).to_vec()).texts(&token, &claims).expect("texts");
    let found = all.map(|name| texts.get(name));
    let expect = ["joe", "1763784123", "0.5", "true", "", "a+b,c%2Cd,7", "", "x", "plain", "k1"].map(Some);
    assert_eq!((&found[..10], found[10]), (&expect[..], None));
    assert_eq!(ClaimNames(Vec::new()).texts(&token, &claims), None, "nothing is kept when nothing is used");
}
