use super::{NOW, api, follow, follow_refused, id};
use serde_json::{Value, json};

fn with_status(manifest: &str, status: &Value) -> String {
    format!("{manifest}\nstatus: {status}")
}

#[test]
fn a_status_that_is_written_is_not_written_again_and_keeps_its_time() {
    let manifest = api("a", "use_keyless: true");
    let mut status = follow(&[&manifest]).statuses["ApiDefinition default/a"].clone();
    assert_eq!(status["latestTransaction"], json!({"status": "Successful", "time": NOW, "error": ""}));
    status["latestTransaction"]["time"] = json!("2025-01-01T00:00:00Z");
    assert_eq!(follow(&[&with_status(&manifest, &status)]).statuses.get("ApiDefinition default/a"), None);
    // As the API server has it: empty lists and nulls are gone.
    status.as_object_mut().unwrap().retain(|_, value| !value.is_null() && *value != json!([]));
    assert_eq!(follow(&[&with_status(&manifest, &status)]).statuses.get("ApiDefinition default/a"), None);
    let changed = with_status(&manifest, &status).replace("use_keyless: true", "use_keyless: false");
    assert_eq!(follow(&[&changed]).statuses["ApiDefinition default/a"]["latestTransaction"]["time"], NOW);
}

#[test]
fn what_the_gateway_refuses_is_said() {
    let manifest = api("a", "use_keyless: true");
    let followed = follow_refused(&[&manifest], &[(&id("default", "a"), "$.proxy: wrong")]);
    let transaction = &followed.statuses["ApiDefinition default/a"]["latestTransaction"];
    assert_eq!(transaction, &json!({"status": "Failed", "time": NOW, "error": "$.proxy: wrong"}));
}

#[test]
fn templates_are_not_served() {
    let manifest = api("t", "use_keyless: true").replace("generation: 1", "labels: {template: 'true'}");
    let followed = follow(&[&manifest]);
    assert!(followed.documents.definitions.is_empty());
    let status = &followed.statuses["ApiDefinition default/t"];
    assert_eq!((&status["ingressTemplate"], &status["api_id"]), (&json!(true), &json!("")));
    // One that is no template any more says so.
    let plain = with_status(&api("t", "use_keyless: true"), status);
    assert_eq!(follow(&[&plain]).statuses["ApiDefinition default/t"]["ingressTemplate"], json!(false));
}

#[test]
fn what_is_being_deleted_counts_as_gone_and_loses_the_operators_finalizer() {
    let leaving = api("a", "use_keyless: true").replace(
        "generation: 1",
        "deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizers.tyk.io/apidefinition, example.com/other]",
    );
    let followed = follow(&[&leaving]);
    assert!(followed.documents.definitions.is_empty() && followed.documents.kept_definitions.is_empty());
    assert!(followed.statuses.is_empty());
    let change = &followed.finalizers[0];
    assert_eq!((change.key.name.as_str(), &change.finalizers), ("a", &vec!["example.com/other".to_owned()]));
    // One that stays keeps it, and so does one that others hold.
    let staying = leaving.replace("deletionTimestamp: '2026-01-01T00:00:00Z', ", "");
    let held = leaving.replace("finalizers.tyk.io/apidefinition, ", "");
    assert!(follow(&[&staying]).finalizers.is_empty() && follow(&[&held]).finalizers.is_empty());
}

#[test]
fn contexts_say_who_refers_to_them_and_portals_are_noted() {
    let context = "kind: OperatorContext\nmetadata: {name: c, namespace: default}\nspec: {env: {mode: ce, org: acme}}";
    let policy = "kind: SecurityPolicy\nmetadata: {name: p, namespace: default}\nspec: {contextRef: {name: c}}";
    let portal = "kind: PortalAPICatalogue\nmetadata: {name: x, namespace: default}\nspec: {apis: []}";
    let api = api("a", "use_keyless: true, contextRef: {name: c, namespace: default}");
    let followed = follow(&[context, policy, portal, &api]);
    let status = &followed.statuses["OperatorContext default/c"];
    assert_eq!(status["linked_api_definitions"], json!([{"name": "a", "namespace": "default"}]));
    assert_eq!(status["linked_security_policies"], json!([{"name": "p", "namespace": "default"}]));
    assert_eq!(followed.statuses["ApiDefinition default/a"]["orgId"], "acme");
    assert_eq!(followed.notes, ["PortalAPICatalogue: there is no portal; objects of this kind have no effect: 1"]);
}
