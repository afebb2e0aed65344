use super::PortalSettings;
use crate::problem::Findings;

/// Checks the problems of settings, each as its path.
#[track_caller]
fn check(settings: &str, expect: &[&str]) {
    let settings: PortalSettings = serde_json::from_str(settings).unwrap();
    let mut findings = Findings::default();
    settings.check(&mut findings);
    let (Ok((_, problems)) | Err(problems)) = findings.conclude(Some(()));
    let paths: Vec<String> = problems.into_iter().map(|problem| problem.path).collect();
    assert_eq!(paths, expect);
}

#[test]
fn a_portal_has_a_port_or_a_host_and_two_urls() {
    let urls = r#""url": "https://developers.test", "gateway_url": "https://api.test""#;
    check("{}", &[]);
    check(&format!(r#"{{"listen": "127.0.0.1:0", {urls}}}"#), &[]);
    check(&format!(r#"{{"host": "developers.test", {urls}}}"#), &[]);
    check(r#"{"host": "developers.test"}"#, &["$.tollgate.portal.url", "$.tollgate.portal.gateway_url"]);
    check(&format!(r#"{{"listen": "8090", {urls}}}"#), &["$.tollgate.portal.listen"]);
    for host in ["developers.test:8080", "*.test", "a..b", "-a.test", "https://developers.test", "a b", &"a.".repeat(150)] {
        check(&format!(r#"{{"host": {host:?}, {urls}}}"#), &["$.tollgate.portal.host"]);
    }
    let provider = r#"{"name": "a", "issuer": "https://login.test", "client_id": "portal"}"#;
    check(&format!(r#"{{"host": "developers.test", {urls}, "providers": [{provider}]}}"#), &[]);
    let twice = ["$.tollgate.portal.providers[1].name", "$.tollgate.portal.providers[1].issuer"];
    check(&format!(r#"{{"host": "developers.test", {urls}, "providers": [{provider}, {provider}]}}"#), &twice);
}
