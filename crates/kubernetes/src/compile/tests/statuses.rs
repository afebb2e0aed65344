use super::{BASE, ListenerStates, NOW, with};
use serde_json::{Value, json};

const ROUTE: &str = r#"
kind: HTTPRoute
metadata: {name: r, namespace: default, generation: 3, resourceVersion: '7'}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: echo, port: 8080}]}]}
"#;

fn status_of(object: &str, manifests: &[&str]) -> Option<Value> {
    with(manifests, &ListenerStates::new(), |_, statuses| {
        statuses.into_iter().find(|(name, _)| name == object).map(|(_, status)| status)
    })
}

#[test]
fn what_others_have_written_stays() {
    let written = json!({"parents": [
        {"controllerName": "example.com/other", "parentRef": {"name": "theirs"}, "conditions": [{"type": "Accepted", "status": "True"}]},
        {"controllerName": "tollgate.dev/gateway-controller", "parentRef": {"name": "gone"}, "conditions": []},
        {"controllerName": "tollgate.dev/gateway-controller", "parentRef": {"name": "gw"}, "conditions": [
            {"type": "example.com/Audited", "status": "True"},
            {"type": "PartiallyInvalid", "status": "True"},
            {"type": "Accepted", "status": "True", "reason": "Old", "lastTransitionTime": "2025-01-01T00:00:00Z"},
            {"type": "ResolvedRefs", "status": "False", "reason": "Old", "lastTransitionTime": "2025-01-01T00:00:00Z"},
        ]},
    ]});
    let status = status_of("HTTPRoute default/r", &[BASE, &format!("{ROUTE}status: {written}")]).unwrap();
    assert_eq!(status["parents"][0], written["parents"][0]);
    let own = &status["parents"][1];
    assert_eq!(own["parentRef"], json!({"name": "gw"}));
    let kinds: Vec<&Value> = own["conditions"].as_array().unwrap().iter().map(|condition| &condition["type"]).collect();
    assert_eq!(kinds, ["example.com/Audited", "Accepted", "ResolvedRefs"]);
    // The time is that of the last change of the state, not of the reason.
    assert_eq!(own["conditions"][1]["lastTransitionTime"], "2025-01-01T00:00:00Z");
    assert_eq!(own["conditions"][1]["observedGeneration"], 3);
    assert_eq!(own["conditions"][2]["lastTransitionTime"], NOW);
    assert_eq!(status["parents"][2], Value::Null);
}

#[test]
fn a_status_that_is_written_is_not_written_again() {
    let first = status_of("HTTPRoute default/r", &[BASE, ROUTE]).unwrap();
    let again = format!("{ROUTE}status: {first}");
    assert_eq!(status_of("HTTPRoute default/r", &[BASE, &again]), None);
    let newer = again.replace("generation: 3", "generation: 4");
    assert!(status_of("HTTPRoute default/r", &[BASE, &newer]).is_some());
    let gateway = status_of("Gateway default/gw", &[BASE]).unwrap();
    let written = format!(
        "kind: Gateway\nmetadata: {{name: gw, namespace: default}}\nspec: {{gatewayClassName: tollgate, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\nstatus: {gateway}"
    );
    assert_eq!(status_of("Gateway default/gw", &[BASE, &written]), None);
}

#[test]
fn classes_say_whether_they_are_served() {
    let class = |rest: &str| {
        format!("kind: GatewayClass\nmetadata: {{name: tollgate}}\nspec: {{controllerName: tollgate.dev/gateway-controller{rest}}}")
    };
    let status = status_of("GatewayClass tollgate", &[&class("")]).unwrap();
    assert_eq!((&status["conditions"][0]["status"], &status["conditions"][1]["status"]), (&json!("True"), &json!("True")));
    let status = status_of("GatewayClass tollgate", &[&class(", parametersRef: {group: '', kind: ConfigMap, name: x}")]).unwrap();
    assert_eq!(status["conditions"][0]["reason"], "InvalidParameters");
    let others = class("").replace("tollgate.dev/", "example.com/");
    assert_eq!(status_of("GatewayClass tollgate", &[&others]), None);
}
