use super::super::{BASE, ListenerStates, with};
use super::{ROUTE, policy, target};

fn secret(name: &str, labels: &str, entries: &str) -> String {
    format!("kind: Secret\nmetadata: {{name: {name}, namespace: default, labels: {labels}}}\ndata: {entries}")
}

#[test]
fn keys_are_those_of_labelled_secrets_of_the_namespace_and_are_in_no_document() {
    let policy = policy("AuthenticationPolicy", "p", 1, &target("HTTPRoute", "r", ""), "apiKeys: {matchLabels: {app: shop}}");
    // "0123456789abcdef", and the same with a line break.
    let (good, ended) = ("MDEyMzQ1Njc4OWFiY2RlZg==", "MDEyMzQ1Njc4OWFiY2RlZgo=");
    let cases = [
        (secret("s", "{app: shop}", &format!("{{key: {good}}}")), vec![("default/s", "s", 0)], ""),
        (
            secret("s", "{app: shop, x: z}", &format!("{{key: {ended}, alias: YWxpY2U=, tags: 'YSwgYg=='}}")),
            vec![("default/s", "alice", 2)],
            "",
        ),
        (secret("s", "{app: other}", &format!("{{key: {good}}}")), vec![], ""),
        (secret("s", "{app: shop}", &format!("{{key: {good}}}")).replace("namespace: default", "namespace: elsewhere"), vec![], ""),
        (secret("s", "{app: shop}", "{other: eA==}"), vec![], "has no entry `key`"),
        (secret("s", "{app: shop}", "{key: c2hvcnQ=}"), vec![], "does not have 16 to 4096 bytes"),
        (secret("s", "{app: shop}", "{key: '***'}"), vec![], "is not in Base64"),
        (secret("s", "{app: shop}", "{key: '/////////////////////w=='}"), vec![], "is no text"),
        (secret("s", "{app: shop}", "{key: 'MDEyMzQ1Njc4OSBhYmNkZWY='}"), vec![], "with spaces"),
    ];
    for (secret, expected, fault) in cases {
        with(&[BASE, ROUTE, &policy, &secret], &ListenerStates::new(), |compiled, statuses| {
            let keys = &compiled.documents.key_rings["kubernetes/default/p"];
            let found: Vec<_> = keys.iter().map(|key| (key.name.as_str(), key.alias.as_str(), key.tags.len())).collect();
            assert_eq!(found, expected, "{secret}");
            assert!(keys.iter().all(|key| key.text.reveal() == "0123456789abcdef"));
            let told = format!("{:?} {statuses:?}", compiled.documents);
            assert!(!told.contains("0123456789abcdef") && !told.contains(good), "{told}");
            let (_, status) = statuses.iter().find(|(object, _)| object.starts_with("AuthenticationPolicy")).unwrap();
            let resolved = &status["ancestors"][0]["conditions"][1];
            assert_eq!(resolved["status"] == "True", fault.is_empty(), "{secret}: {resolved}");
            assert!(resolved["message"].as_str().unwrap().contains(fault), "{resolved}");
        });
    }
}

#[test]
fn of_two_secrets_with_one_key_the_older_one_counts() {
    let policy = policy("AuthenticationPolicy", "p", 1, &target("HTTPRoute", "r", ""), "apiKeys: {matchLabels: {app: shop}}");
    let at = |name: &str, day: &str| {
        secret(name, "{app: shop}", "{key: MDEyMzQ1Njc4OWFiY2RlZg==}")
            .replace("labels:", &format!("creationTimestamp: '2026-01-{day}T00:00:00Z', labels:"))
    };
    with(&[BASE, ROUTE, &policy, &at("a", "02"), &at("b", "01")], &ListenerStates::new(), |compiled, statuses| {
        let names: Vec<&str> = compiled.documents.key_rings["kubernetes/default/p"].iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["default/b"]);
        let (_, status) = statuses.iter().find(|(object, _)| object.starts_with("AuthenticationPolicy")).unwrap();
        let message = status["ancestors"][0]["conditions"][1]["message"].as_str().unwrap();
        assert_eq!(message, "The Secret default/a has the same key as default/b, which is older");
    });
}
