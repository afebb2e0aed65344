use super::*;
use std::path::PathBuf;

fn named(id: &str, name: &str, place: &str) -> (String, Vec<u8>, PathBuf) {
    (id.to_owned(), format!(r#"{{"id": "{id}", "name": "{name}"}}"#).into_bytes(), PathBuf::from(place))
}

fn add(policies: &mut Policies, external: &[(String, Vec<u8>, PathBuf)], last: &Policies) -> Vec<String> {
    let mut problems = Vec::new();
    policies.add_external(
        external.iter().map(|(id, text, place)| (id.as_str(), text.as_slice(), place.clone())),
        last,
        &mut problems,
    );
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn policies_of_the_gateway_apply_over_those_of_others() {
    let mut policies = Policies::default();
    policies
        .put(Arc::new(Policy { id: "gold".to_owned(), name: "own".to_owned(), ..Policy::default() }), PathBuf::from("gold.json"));
    let external = [named("gold", "theirs", "external:x/policy/gold"), named("silver", "theirs", "external:x/policy/silver")];
    let problems = add(&mut policies, &external, &Policies::default());
    assert_eq!((policies.get("gold").unwrap().name.as_str(), policies.get("silver").unwrap().name.as_str()), ("own", "theirs"));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("external:x/policy/gold") && problems[0].contains("error"), "{problems:?}");
    let shared = named("silver", "shared", "redis:policy/silver");
    policies.add_shared(
        Some((shared.0.as_str(), shared.1.as_slice(), shared.2.clone())).into_iter(),
        &Policies::default(),
        &mut Vec::new(),
    );
    assert_eq!(policies.get("silver").unwrap().name, "shared");
}

#[test]
fn a_policy_of_others_that_cannot_be_read_stays_as_it_was() {
    let mut last = Policies::default();
    add(&mut last, &[named("gold", "good", "external:x/policy/gold")], &Policies::default());
    let broken = ("gold".to_owned(), b"{\"rate\": \"x\"}".to_vec(), PathBuf::from("external:x/policy/gold"));
    let mut now = Policies::default();
    assert!(!add(&mut now, &[broken], &last).is_empty());
    assert_eq!(now.get("gold").unwrap().name, "good");
    // Without its text, it is gone.
    let mut gone = Policies::default();
    add(&mut gone, &[], &last);
    assert!(gone.get("gold").is_none());
}
