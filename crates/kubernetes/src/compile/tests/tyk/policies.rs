use super::{api, definition, expect_members, follow, id};
use serde_json::json;

fn policy(name: &str, members: &str) -> String {
    format!(
        "kind: SecurityPolicy\nmetadata: {{name: {name}, namespace: default}}\nspec: {{name: P, state: active, active: true, {members}}}"
    )
}

#[test]
fn rights_name_apis_by_their_objects() {
    let members = "contextRef: {name: c}, rate: 5, per: 1, org_id: stale, partitions: {acl: true}, meta_data: {a: b}, access_rights_array: [\
        {name: classic, namespace: default, versions: [Default], allowed_urls: [{url: /x, methods: [GET]}], \
         endpoints: [{path: /y, methods: [{name: GET, limit: {rate: '1.5', per: '60'}}]}]}, \
        {name: document, namespace: default, kind: TykOasApiDefinition, mcp_primitives: [{type: tool, name: t, limit: {rate: '2', per: '1'}}]}, \
        {name: gone, namespace: other}, {api_id: written, name: '', namespace: ''}]";
    let document = "kind: ConfigMap\nmetadata: {name: d, namespace: default}\ndata: {d.json: '{\"openapi\": \"3.0.3\", \"x-tyk-api-gateway\": {\"info\": {}}}'}";
    let resource = "kind: TykOasApiDefinition\nmetadata: {name: document, namespace: default}\nspec: {tykOAS: {configmapRef: {name: d, keyName: d.json}}}";
    let context = "kind: OperatorContext\nmetadata: {name: c, namespace: default}\nspec: {secretRef: {name: s}, env: {url: 'http://elsewhere', auth: x}}";
    let secret = "kind: Secret\nmetadata: {name: s, namespace: default}\ntype: Opaque\ndata: {TYK_ORG: YWNtZQ==}";
    let classic = api("classic", "api_id: c1");
    let followed = follow(&[&policy("p", members), document, resource, context, secret, &classic]);
    let served = &followed.documents.policies[&id("default", "p")];
    expect_members(
        served,
        &json!({
            "/id": id("default", "p"),
            "/org_id": "acme",
            "/contextRef": null,
            "/access_rights_array": null,
            "/rate": 5,
            "/partitions": {"acl": true},
            "/meta_data": {"a": "b"},
            "/access_rights/c1": {
                "api_id": "c1",
                "versions": ["Default"],
                "allowed_urls": [{"url": "/x", "methods": ["GET"]}],
                "endpoints": [{"path": "/y", "methods": [{"name": "GET", "limit": {"rate": 1.5, "per": 60.0}}]}],
            },
            "/access_rights/written": {"api_id": "written"},
        }),
    );
    let rights = &served["access_rights"];
    assert_eq!(rights[id("default", "document")]["mcp_primitives"][0]["limit"], json!({"rate": 2.0, "per": 1.0}));
    assert_eq!(rights[id("other", "gone")], json!({"api_id": id("other", "gone")}), "a right for an API that is not there stays");
    assert_eq!(rights.as_object().unwrap().len(), 4);
    let status = &followed.statuses["SecurityPolicy default/p"];
    assert_eq!(status["pol_id"], json!(id("default", "p")));
    let linked = json!([
        {"kind": "ApiDefinition", "name": "classic", "namespace": "default"},
        {"kind": "TykOasApiDefinition", "name": "document", "namespace": "default"},
    ]);
    assert_eq!(status["linked_apis"], linked);
    let by_policies = json!([{"name": "p", "namespace": "default"}]);
    assert_eq!(followed.statuses["ApiDefinition default/classic"]["linked_by_policies"], by_policies);
    assert_eq!(followed.statuses["TykOasApiDefinition default/document"]["linkedByPolicies"], by_policies);
    assert_eq!(
        followed.notes,
        [
            "SecurityPolicy default/p: the API other/gone does not exist",
            "OperatorContext default/c: env has no effect but for org: this gateway serves all; ignored: url, auth",
        ]
    );
}

#[test]
fn a_policy_that_cannot_be_read_stays_as_it_is() {
    let cases = [
        ("contextRef: {name: gone}", "contextRef: the OperatorContext default/gone does not exist"),
        ("access_rights_array: [{versions: []}]", "spec.access_rights_array: an entry has neither a name nor an api_id"),
        (
            "access_rights_array: [{name: a, endpoints: [{methods: [{limit: {rate: much, per: '1'}}]}]}]",
            "spec.access_rights_array: the limit's rate: \"much\" is no number",
        ),
    ];
    for (members, expected) in cases {
        let followed = follow(&[&policy("p", &format!("id: mine, {members}"))]);
        assert!(followed.documents.policies.is_empty());
        assert_eq!(followed.documents.kept_policies, ["mine".to_owned()].into());
        assert!(followed.notes.contains(&format!("SecurityPolicy default/p: {expected}")), "{:?}", followed.notes);
    }
}

#[test]
fn definitions_find_policies_by_name() {
    let members =
        "enable_jwt: true, jwt_default_policies: [default/p, other/later, opaque], jwt_scope_to_policy_mapping: {admin: default/p}";
    let followed = follow(&[&api("a", members), &policy("p", "id: mine")]);
    expect_members(
        definition(&followed, "a"),
        &json!({
            "/jwt_default_policies": ["mine", id("other", "later"), "opaque"],
            "/jwt_scope_to_policy_mapping": {"admin": "mine"},
        }),
    );
}
