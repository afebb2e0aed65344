//! Manifests of Tyk Operator's users: what their definitions and policies become, and what is written back.

mod graphs;
mod openapi;
mod policies;
mod statuses;

use super::{NOW, cluster, settings};
use crate::compile::{Documents, FinalizerChange, ServeReport, compile};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};

/// What follows from manifests.
pub(super) struct Followed {
    pub documents: Documents,
    /// By kind and name.
    pub statuses: Map<String, Value>,
    pub finalizers: Vec<FinalizerChange>,
    pub notes: Vec<String>,
}

pub(super) fn follow_refused(manifests: &[&str], refused: &[(&str, &str)]) -> Followed {
    let (cluster, settings) = (cluster(manifests), settings());
    let compiled = compile(&cluster, &settings);
    let refused = refused.iter().map(|(id, why)| ((*id).to_owned(), (*why).to_owned())).collect();
    let states = ServeReport { rejected: refused, ..ServeReport::default() };
    let changes = compiled.status_changes(&states, NOW).into_iter();
    Followed {
        statuses: changes.map(|change| (format!("{} {}", change.kind, change.key), change.status)).collect(),
        finalizers: compiled.finalizer_changes(),
        notes: compiled.notes(),
        documents: compiled.documents,
    }
}

pub(super) fn follow(manifests: &[&str]) -> Followed {
    follow_refused(manifests, &[])
}

pub(super) fn id(namespace: &str, name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{namespace}/{name}"))
}

/// An ApiDefinition `default/NAME` with members in the style of JSON.
pub(super) fn api(name: &str, members: &str) -> String {
    format!(
        "kind: ApiDefinition\nmetadata: {{name: {name}, namespace: default, generation: 1, resourceVersion: '7'}}\nspec: {{name: {name}, protocol: http, active: true, \
         proxy: {{target_url: 'http://up:80', listen_path: /{name}/, strip_listen_path: true}}, {members}}}"
    )
}

/// A secret `default/NAME` with a certificate and its key, and the certificate's DER.
pub(super) fn secret(name: &str) -> (String, Vec<u8>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["example.com".to_owned()]).unwrap();
    let [certificate, key] = [made.cert.pem(), made.signing_key.serialize_pem()].map(|text| STANDARD.encode(text));
    let manifest = format!(
        "kind: Secret\nmetadata: {{name: {name}, namespace: default}}\ntype: Opaque\ndata: {{tls.crt: {certificate}, tls.key: {key}}}"
    );
    let public_key = rcgen::PublicKeyData::subject_public_key_info(&made.signing_key);
    (manifest, made.cert.der().to_vec(), public_key)
}

/// The definition of `default/NAME`.
#[track_caller]
pub(super) fn definition<'f>(followed: &'f Followed, name: &str) -> &'f Value {
    let known = &followed.documents.definitions;
    known.get(&id("default", name)).unwrap_or_else(|| panic!("{name} is not served: {:?}", followed.statuses))
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares some members of a document.
#[track_caller]
pub(super) fn expect_members(document: &Value, expected: &Value) {
    for (pointer, value) in expected.as_object().unwrap() {
        assert_eq!(document.pointer(pointer).unwrap_or(&Value::Null), value, "{pointer} in {document:#}");
    }
}

#[test]
fn definitions_have_the_operators_ids_and_defaults() {
    let all = [
        api("plain", "use_keyless: true"),
        api(
            "own-id",
            "use_keyless: true, api_id: mine, org_id: acme, version_data: {not_versioned: true, default_version: '', versions: {v1: {name: v1}}}",
        ),
        api("keys", "use_standard_auth: true"),
        api("placed", "use_standard_auth: true, auth_configs: {authToken: {auth_header_name: X-Key}}"),
        api("stream", "listen_port: 7000").replace("protocol: http", "protocol: tcp"),
        api("guarded", "listen_port: 7001, use_basic_auth: true").replace("protocol: http", "protocol: tls"),
        api("inactive", "use_keyless: true").replace("active: true", "active: false"),
    ];
    let followed = follow(&all.each_ref().map(String::as_str));
    expect_members(
        definition(&followed, "plain"),
        &json!({
            "/api_id": id("default", "plain"),
            "/org_id": null,
            "/proxy": {"target_url": "http://up:80", "listen_path": "/plain/", "strip_listen_path": true},
            "/version_data": {"not_versioned": true, "default_version": "Default", "versions": {"Default": {"name": "Default"}}},
        }),
    );
    expect_members(
        &followed.documents.definitions["mine"],
        &json!({"/api_id": "mine", "/org_id": "acme", "/version_data/versions": {"v1": {"name": "v1"}}}),
    );
    expect_members(definition(&followed, "keys"), &json!({"/auth_configs/authToken": {"auth_header_name": "Authorization"}}));
    expect_members(definition(&followed, "placed"), &json!({"/auth_configs/authToken": {"auth_header_name": "X-Key"}}));
    expect_members(definition(&followed, "stream"), &json!({"/use_keyless": true}));
    expect_members(definition(&followed, "guarded"), &json!({"/use_keyless": null}));
    assert_eq!(followed.documents.definitions.len(), 6, "an inactive one is not served");
    assert_eq!(followed.statuses["ApiDefinition default/inactive"]["latestTransaction"]["status"], "Successful");
}

#[test]
fn certificates_come_from_secrets() {
    let (tls, der, public_key) = secret("tls");
    let members = "use_keyless: true, certificate_secret_names: [tls], client_certificate_refs: [tls], \
        upstream_certificates: {kept.example.com: abc}, upstream_certificate_refs: {'*': tls}, pinned_public_keys_refs: {up.example.com: tls}";
    let context = "kind: OperatorContext\nmetadata: {name: c, namespace: default}\nspec: {env: {org: acme}}";
    let with_context = api("apart", &format!("contextRef: {{name: c, namespace: default}}, {members}"));
    let followed = follow(&[&tls, &api("all", members), context, &with_context]);
    let certificate = sha256(&der);
    let own = definition(&followed, "all");
    expect_members(
        own,
        &json!({
            "/certificates": [certificate],
            "/client_certificates": [certificate],
            "/upstream_certificates": {"kept.example.com": "abc", "*": certificate},
            "/pinned_public_keys": {"up.example.com": sha256(&public_key)},
            "/certificate_secret_names": null,
            "/client_certificate_refs": null,
            "/upstream_certificate_refs": null,
            "/pinned_public_keys_refs": null,
        }),
    );
    // An organisation begins the id.
    expect_members(
        definition(&followed, "apart"),
        &json!({"/certificates": [format!("acme{certificate}")], "/org_id": "acme", "/contextRef": null}),
    );
    let texts = &followed.documents.certificates;
    let of_org = format!("acme{certificate}");
    assert!(texts.len() == 2 && texts.contains_key(&certificate) && texts.contains_key(&of_org), "{:?}", texts.keys());
    assert!(texts[&certificate].contains("BEGIN CERTIFICATE") && texts[&certificate].contains("BEGIN PRIVATE KEY"));
}

#[test]
fn what_a_definition_lacks_is_said_and_what_was_served_stays() {
    let (tls, ..) = secret("tls");
    let no_key = tls.replace("name: tls", "name: no-key").split(", tls.key").next().unwrap().to_owned() + "}";
    let broken = tls.replace("name: tls", "name: broken").replace("tls.crt: ", "tls.crt: AAAA");
    let cases = [
        ("certificate_secret_names: [gone]", "spec.certificate_secret_names: the Secret default/gone does not exist"),
        ("certificate_secret_names: [no-key]", "spec.certificate_secret_names: the Secret default/no-key has no tls.key"),
        (
            "client_certificate_refs: [broken]",
            "spec.client_certificate_refs: the Secret default/broken has a tls.crt that is no certificate in PEM",
        ),
        ("pinned_public_keys_refs: {a: gone}", "spec.pinned_public_keys_refs.a: the Secret default/gone does not exist"),
        ("upstream_certificate_refs: {a: gone}", "spec.upstream_certificate_refs.a: the Secret default/gone does not exist"),
        ("contextRef: {name: gone}", "contextRef: the OperatorContext default/gone does not exist"),
        (
            "graphql: {enabled: true, execution_mode: subgraph, graph_ref: gone}",
            "spec.graphql.graph_ref: the SubGraph default/gone does not exist",
        ),
        (
            "graphql: {enabled: true, execution_mode: supergraph, graph_ref: gone}",
            "spec.graphql.graph_ref: the SuperGraph default/gone does not exist",
        ),
        ("graphql: {enabled: true, execution_mode: supergraph, graph_ref: ''}", "spec.graphql.graph_ref: must name a SuperGraph"),
        (
            "proxy: {target_internal: {target: {name: gone}}}",
            "spec.proxy.target_internal: the ApiDefinition default/gone does not exist",
        ),
        (
            "version_data: {versions: {v: {name: v, extended_paths: {circuit_breakers: [{threshold_percent: half}]}}}}",
            "spec.version_data.versions.v.extended_paths.circuit_breakers: \"half\" is no number",
        ),
    ];
    for (members, expected) in cases {
        // A later member of the same name is the one that counts.
        let manifest = api("a", "").replace("proxy: {", "x: {") + "\n";
        let manifest = manifest.replace(", }", &format!(", {members}}}"));
        let mut followed = follow(&[&no_key, &broken, &manifest]);
        let transaction = &followed.statuses["ApiDefinition default/a"]["latestTransaction"];
        assert_eq!(transaction, &json!({"status": "Failed", "time": NOW, "error": expected}));
        assert!(followed.documents.definitions.is_empty());
        let served = Documents {
            definitions: [(id("default", "a"), json!("before")), ("other".to_owned(), json!("gone"))].into(),
            certificates: [("c".to_owned(), "pem".to_owned())].into(),
            ..Documents::default()
        };
        followed.documents.keep(&served);
        assert_eq!(followed.documents.definitions, [(id("default", "a"), json!("before"))].into());
        assert_eq!(followed.documents.certificates, served.certificates);
    }
}

#[test]
fn loops_name_apis_by_their_objects() {
    let paths = "url_rewrites: [{path: /a, match_pattern: (.*), method: GET, rewrite_to_internal: {target: {name: inner, namespace: other}, path: x/$1, query: a=b}, \
        triggers: [{'on': all, options: {}, rewrite_to_internal: {target: {name: own}}}, {'on': all, options: {}, rewrite_to: 'http://plain'}]}], \
        circuit_breakers: [{path: /a, method: GET, threshold_percent: '0.5', samples: 5, return_to_service_after: 5}]";
    let outer = api(
        "outer",
        &format!(
            "use_keyless: true, version_data: {{not_versioned: true, versions: {{v: {{name: v, extended_paths: {{{paths}}}}}}}}}"
        ),
    )
    .replace("target_url: 'http://up:80'", "target_url: '', target_internal: {target: {name: own}, path: /p}");
    let inner = api("inner", "use_keyless: true").replace("namespace: default", "namespace: other");
    let own = api("own", "use_keyless: true, api_id: explicit");
    let followed = follow(&[&outer, &inner, &own]);
    let inner = id("other", "inner");
    expect_members(
        definition(&followed, "outer"),
        &json!({
            "/proxy/target_url": "tyk://explicit/p",
            "/proxy/target_internal": null,
            "/version_data/versions/v/extended_paths/url_rewrites/0/rewrite_to": format!("tyk://{inner}/x/$1?a=b"),
            "/version_data/versions/v/extended_paths/url_rewrites/0/rewrite_to_internal": null,
            "/version_data/versions/v/extended_paths/url_rewrites/0/triggers/0/rewrite_to": "tyk://explicit",
            "/version_data/versions/v/extended_paths/url_rewrites/0/triggers/1/rewrite_to": "http://plain",
            "/version_data/versions/v/extended_paths/circuit_breakers/0/threshold_percent": 0.5,
        }),
    );
    let target = |namespace: &str, name: &str| json!({"name": name, "namespace": namespace});
    let status = |name: &str| &followed.statuses[&format!("ApiDefinition {name}")];
    assert_eq!(status("default/outer")["linked_to_apis"], json!([target("default", "own"), target("other", "inner")]));
    assert_eq!(status("other/inner")["linked_by_apis"], json!([target("default", "outer")]));
}

#[test]
fn an_id_belongs_to_the_oldest_object_and_to_routes_first() {
    let of_age = |name: &str, created: &str, id: &str| {
        api(name, &format!("use_keyless: true, api_id: {id}")).replace("generation: 1", &format!("creationTimestamp: '{created}'"))
    };
    let (first, second) = (of_age("second", "2025-01-02", "same"), of_age("first", "2025-01-01", "same"));
    let route = "kind: HTTPRoute\nmetadata: {name: r, namespace: default}\nspec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: echo, port: 8080}]}]}";
    let thief = of_age("thief", "2025-01-03", "k8s-httproute-default.r");
    let followed = follow(&[super::BASE, route, &first, &second, &thief]);
    assert_eq!(followed.documents.definitions["same"]["name"], "first");
    let error = |name: &str| followed.statuses[&format!("ApiDefinition default/{name}")]["latestTransaction"]["error"].clone();
    assert_eq!(error("second"), "the id same is that of the older ApiDefinition default/first");
    assert_eq!(error("thief"), "the id k8s-httproute-default.r is that of a route");
    assert!(followed.documents.definitions["k8s-httproute-default.r"].get("tollgate").is_some());
}
