use super::{definition, expect_members, follow, id, secret, sha256};
use serde_json::{Value, json};

/// A config map with a document as JSON.
fn config_map(name: &str, extension: &Value) -> String {
    let document = json!({
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "paths": {},
        "components": {"securitySchemes": {
            "tokens": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            "keys": {"type": "apiKey", "in": "header", "name": "X"},
        }},
        "x-tyk-api-gateway": extension,
    });
    let entry = json!(document.to_string());
    format!("kind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {{doc: {entry}, other: text}}")
}

fn extension() -> Value {
    json!({
        "info": {"name": "N", "state": {"active": true}},
        "upstream": {"url": "http://up:80"},
        "server": {"listenPath": {"value": "/n/", "strip": true}},
    })
}

fn resource(kind: &str, member: &str, name: &str, members: &str) -> String {
    format!(
        "kind: {kind}\nmetadata: {{name: {name}, namespace: default, resourceVersion: '1'}}\n\
         spec: {{{member}: {{configmapRef: {{name: d, keyName: doc}}}}, {members}}}"
    )
}

fn oas(name: &str, members: &str) -> String {
    resource("TykOasApiDefinition", "tykOAS", name, members)
}

#[test]
fn documents_come_from_config_maps_with_what_the_resource_adds() {
    let (tls, der, public_key) = secret("tls");
    let text = "kind: Secret\nmetadata: {name: text, namespace: default}\ntype: Opaque\ndata: {secret: c2VjcmV0}";
    let context = "kind: OperatorContext\nmetadata: {name: c, namespace: default}\nspec: {env: {org: acme}}";
    let members = "contextRef: {name: c}, customDomain: {enabled: true, name: example.com, certificates: [other], certificatesRef: [tls]}, \
        clientCertificate: {enabled: true, allowlist: [tls]}, \
        mutualTLS: {enabled: true, domainToCertificateMapping: [{domain: a, certificateRef: tls}, {domain: b, certificateID: known}]}, \
        certificatePinning: {enabled: true, domainToPublicKeysMapping: [{domain: a, publicKeys: [known], publicKeyRefs: [tls]}]}, \
        upstreamRequestSigning: {algorithm: hmac-sha256, keyId: k, secretRef: {name: text, keyName: secret}}, \
        jwtAuth: {defaultPoliciesRef: [{name: p, namespace: other}], \
        scopes: {claimName: scope, scopeToPolicyMapping: [{scope: admin, policyRef: {name: p}}]}}";
    let followed = follow(&[&tls, text, context, &config_map("d", &extension()), &oas("one", members)]);
    let certificate = format!("acme{}", sha256(&der));
    let document = definition(&followed, "one");
    expect_members(
        &document["x-tyk-api-gateway"],
        &json!({
            "/info/id": id("default", "one"),
            "/info/orgId": "acme",
            "/info/name": "N",
            "/server/listenPath": {"value": "/n/", "strip": true},
            "/server/customDomain": {"enabled": true, "name": "example.com", "certificates": ["other", certificate]},
            "/server/clientCertificates": {"enabled": true, "allowlist": [certificate]},
            "/upstream/mutualTLS": {"enabled": true, "domainToCertificateMapping": [
                {"domain": "a", "certificate": certificate}, {"domain": "b", "certificate": "known"},
            ]},
            "/upstream/certificatePinning": {"enabled": true, "domainToPublicKeysMapping": [
                {"domain": "a", "publicKeys": ["known", sha256(&public_key)]},
            ]},
            "/upstream/authentication/requestSigning": {
                "algorithm": "hmac-sha256", "keyId": "k", "secret": "secret", "enabled": true,
            },
            "/server/authentication/securitySchemes": {"tokens": {
                "defaultPolicies": [id("other", "p")],
                "scopes": {"claimName": "scope", "scopeToPolicyMapping": [{"scope": "admin", "policyId": id("default", "p")}]},
            }},
        }),
    );
    expect_members(
        &followed.statuses["TykOasApiDefinition default/one"],
        &json!({
            "/id": id("default", "one"),
            "/name": "N",
            "/listenPath": "/n/",
            "/targetURL": "http://up:80",
            "/enabled": true,
            "/domain": {"enabled": true, "name": "example.com", "certificates": ["other", certificate]},
            "/latestTransaction/status": "Successful",
        }),
    );
    assert_eq!(followed.documents.certificates.keys().collect::<Vec<_>>(), [&certificate]);
}

#[test]
fn versions_name_their_objects() {
    let versioning = "enabled: true, name: v1, default: v2, key: x-version, location: header, \
        versions: [{name: v2, tykOasApiDefinitionRef: {name: child, namespace: default}}]";
    let base = oas("base", &format!("versioning: {{{versioning}}}"));
    let mut own = extension();
    own["info"]["id"] = json!("written");
    let child = oas("child", "").replace("name: d,", "name: e,");
    let followed = follow(&[&config_map("d", &extension()), &config_map("e", &own), &base, &child]);
    expect_members(
        &definition(&followed, "base")["x-tyk-api-gateway"]["info"]["versioning"],
        &json!({"/name": "v1", "/default": "v2", "/versions": [{"name": "v2", "id": "written"}]}),
    );
    let expected = json!({
        "baseAPIVersionContextRef": {"name": "base", "namespace": "default"}, "isDefaultVersion": true, "isVersionedAPI": true,
    });
    assert_eq!(followed.statuses["TykOasApiDefinition default/child"]["versioningStatus"], expected);
}

#[test]
fn documents_for_the_model_context_protocol_are_marked_and_streams_are_refused() {
    let mcp = resource("TykMcpProxyDefinition", "tykMCP", "m", "");
    let streams = resource("TykStreamsApiDefinition", "tykStreams", "s", "");
    let followed = follow(&[&config_map("d", &extension()), &mcp, &streams]);
    expect_members(definition(&followed, "m"), &json!({"/x-tollgate": {"application_protocol": "mcp"}}));
    assert_eq!(followed.statuses["TykMcpProxyDefinition default/m"]["domain"], "");
    let transaction = &followed.statuses["TykStreamsApiDefinition default/s"]["latestTransaction"];
    assert_eq!((&transaction["status"], &transaction["error"]), (&json!("Failed"), &json!("Tyk Streams is not supported")));
}

#[test]
fn what_is_wrong_with_a_document_is_said() {
    let map = |text: &str| format!("kind: ConfigMap\nmetadata: {{name: d, namespace: default}}\ndata: {{doc: '{text}'}}");
    let (plain, elsewhere) = (oas("one", ""), "kind: Namespace\nmetadata: {name: x}".to_owned());
    let version = oas("one", "versioning: {enabled: true, versions: [{name: v, tykOasApiDefinitionRef: {name: gone}}]}");
    let at = "spec.tykOAS.configmapRef: the ConfigMap default/d";
    let cases = [
        (map("plain"), &plain, format!("{at} has no \"doc\" with the extension x-tyk-api-gateway")),
        (elsewhere, &plain, format!("{at} does not exist")),
        (
            map("{\"x-tyk-api-gateway\": "),
            &plain,
            "the document can't be read: EOF while parsing a value at line 1 column 22".to_owned(),
        ),
        (map("[x-tyk-api-gateway]"), &plain, "the document is no object".to_owned()),
        (map("{\"a\": \"x-tyk-api-gateway\"}"), &plain, "the document has no object x-tyk-api-gateway".to_owned()),
        (
            config_map("d", &extension()),
            &version,
            "spec.versioning.versions: the TykOasApiDefinition default/gone does not exist".to_owned(),
        ),
    ];
    for (map, resource, expected) in cases {
        let followed = follow(&[&map, resource]);
        assert_eq!(followed.statuses["TykOasApiDefinition default/one"]["latestTransaction"]["error"], expected);
        assert_eq!(followed.documents.kept_definitions, [id("default", "one")].into());
    }
}

#[test]
fn documents_may_be_yaml() {
    let text = json!("openapi: 3.0.3\nx-tyk-api-gateway:\n  info: {name: Named}\n");
    let map = format!("kind: ConfigMap\nmetadata: {{name: d, namespace: default}}\ndata: {{doc: {text}}}");
    let followed = follow(&[&map, &oas("one", "")]);
    expect_members(definition(&followed, "one"), &json!({"/openapi": "3.0.3", "/x-tyk-api-gateway/info/name": "Named"}));
    // Its values are those that the gateway reads from a file.
    let written = "\u{feff}openapi: 3.0.3\nx-tyk-api-gateway:\n  info: {name: no}\n  x: [0b11, 012, 1_000, 0x1F, on, ~]\n";
    let text = json!(written);
    let map = format!("kind: ConfigMap\nmetadata: {{name: d, namespace: default}}\ndata: {{doc: {text}}}");
    let followed = follow(&[&map, &oas("one", "")]);
    let values = tollgate_text::yaml::read(written).unwrap()["x-tyk-api-gateway"]["x"].clone();
    assert_eq!(values, json!(["0b11", 12, "1_000", 31, "on", null]));
    expect_members(definition(&followed, "one"), &json!({"/x-tyk-api-gateway/info/name": "no", "/x-tyk-api-gateway/x": values}));
}
