use super::{annotation_table, check_manifests};
use crate::ReportOutcome;
use serde_json::json;

#[test]
fn manifests_are_checked_without_a_cluster() {
    let ingress = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": "i", "annotations": {
            "nginx.ingress.kubernetes.io/auth-type": "basic",
            "nginx.ingress.kubernetes.io/auth-secret": "users",
            "nginx.ingress.kubernetes.io/server-snippet": "x",
        }},
        "spec": {"ingressClassName": "nginx", "rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]},
    });
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "users"}, "stringData": {"auth": "joe:{SHA}x"}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let other = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "s"}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [secret, service, other]});
    let odd = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "odd"}, "spec": {"ports": 5}});
    let checked = check_manifests(vec![ingress, list, odd]);
    let lines: Vec<_> =
        checked.ingresses.iter().map(|(ingress, line)| (ingress.as_str(), line.subject.as_str(), line.outcome)).collect();
    assert_eq!(
        lines,
        [
            ("default/i", "auth-secret", ReportOutcome::Carried),
            ("default/i", "auth-type", ReportOutcome::Carried),
            ("default/i", "server-snippet", ReportOutcome::Closed),
        ]
    );
    let [(object, why)] = checked.unreadable.as_slice() else { panic!("{:?}", checked.unreadable) };
    assert_eq!(object, "Service default/odd", "{why}");
    assert!(checked.documents.definitions.contains_key("k8s-ingress-default.i"));
}

#[test]
fn annotations_and_labels_that_are_no_texts_are_named_with_their_object() {
    for (list, value, told) in [
        ("annotations", json!(5), "5"),
        ("annotations", json!(true), "true"),
        ("labels", json!(1.5), "1.5"),
        ("annotations", json!(["a"]), "[\"a\"]"),
    ] {
        for (kind, version, object) in [
            ("Ingress", "networking.k8s.io/v1", "Ingress shop/i"),
            ("GatewayClass", "gateway.networking.k8s.io/v1", "GatewayClass i"),
        ] {
            let namespace = if kind == "Ingress" { "shop" } else { "" };
            let written = json!({
                "apiVersion": version, "kind": kind,
                "metadata": {"name": "i", "namespace": namespace, list: {"a": "text", "nginx.ingress.kubernetes.io/limit-rps": value}}, "spec": {},
            });
            let checked = check_manifests(vec![written]);
            let why = format!(
                "metadata.{list}: nginx.ingress.kubernetes.io/limit-rps is {told}, and must be a text: write it in quotation marks"
            );
            assert_eq!(checked.unreadable, [(object.to_owned(), why)]);
        }
    }
}

#[test]
fn the_page_for_people_of_ingress_nginx_has_the_table() {
    let page = include_str!("../../../../docs/from-ingress-nginx.md");
    for [name, outcome, becomes] in annotation_table() {
        let line = format!("| `{name}` | {outcome} | {becomes} |");
        assert!(page.lines().any(|written| written == line), "this line is missing:\n{line}");
    }
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.split('|').count() == 5).count();
    assert_eq!(rows, annotation_table().len());
}
