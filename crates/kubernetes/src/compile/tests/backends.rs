use super::{BASE, conditions, documents};

fn route(kind: &str, backends: &str) -> String {
    format!(
        "kind: {kind}\nmetadata: {{name: r, namespace: default}}\nspec: {{parentRefs: [{{name: gw}}], rules: [{{backendRefs: [{backends}]}}]}}"
    )
}

#[test]
fn references_say_why_they_lead_nowhere() {
    let elsewhere = "kind: Service\nmetadata: {name: echo, namespace: elsewhere}\nspec: {ports: [{port: 8080}]}";
    let odd = "kind: Service\nmetadata: {name: odd, namespace: default}\nspec: {ports: [{port: 80, appProtocol: kubernetes.io/wss}, {port: 53, protocol: UDP}]}";
    let grant = |kind: &str, name: &str| {
        format!(
            "kind: ReferenceGrant\nmetadata: {{name: g, namespace: elsewhere}}\nspec: {{from: [{{group: gateway.networking.k8s.io, kind: {kind}, namespace: default}}], to: [{{group: '', kind: Service{name}}}]}}"
        )
    };
    let (all, named, other) = (grant("HTTPRoute", ""), grant("HTTPRoute", ", name: echo"), grant("HTTPRoute", ", name: nope"));
    let of_grpc = grant("GRPCRoute", "");
    let cases = [
        ("{name: echo, port: 8080}", "", "+ResolvedRefs"),
        ("{name: nope, port: 8080}", "", "-ResolvedRefs:BackendNotFound"),
        ("{name: echo, port: 81}", "", "-ResolvedRefs:BackendNotFound"),
        ("{name: echo, port: 8080, kind: Nope}", "", "-ResolvedRefs:InvalidKind"),
        ("{name: echo, port: 8080, group: example.com}", "", "-ResolvedRefs:InvalidKind"),
        ("{name: odd, port: 80}", "", "-ResolvedRefs:UnsupportedProtocol"),
        ("{name: odd, port: 53}", "", "-ResolvedRefs:UnsupportedProtocol"),
        ("{name: echo, namespace: elsewhere, port: 8080}", "", "-ResolvedRefs:RefNotPermitted"),
        ("{name: nope, namespace: elsewhere, port: 8080}", "", "-ResolvedRefs:RefNotPermitted"),
        ("{name: echo, namespace: elsewhere, port: 8080}", all.as_str(), "+ResolvedRefs"),
        ("{name: echo, namespace: elsewhere, port: 8080}", named.as_str(), "+ResolvedRefs"),
        ("{name: echo, namespace: elsewhere, port: 8080}", other.as_str(), "-ResolvedRefs:RefNotPermitted"),
        ("{name: echo, namespace: elsewhere, port: 8080}", of_grpc.as_str(), "-ResolvedRefs:RefNotPermitted"),
    ];
    for (backend, grant, expected) in cases {
        let route = route("HTTPRoute", backend);
        let manifests: Vec<&str> = [BASE, elsewhere, odd, &route, grant].into_iter().filter(|text| !text.is_empty()).collect();
        let conditions = conditions(&manifests);
        assert!(conditions.ends_with(&format!("  gw +Accepted {expected}\n")), "{backend} {grant}: {conditions}");
        let documents = documents(&manifests);
        let is_valid = expected == "+ResolvedRefs";
        assert_eq!(documents.contains("\"invalid:"), !is_valid, "{documents}");
        assert_eq!(documents.contains("\nbackend "), is_valid, "{documents}");
    }
}

#[test]
fn a_backend_speaks_what_its_port_and_its_policy_say() {
    let service = "kind: Service\nmetadata: {name: s, namespace: default}\nspec: {ports: [{name: plain, port: 80}, {name: h2c, port: 81, appProtocol: kubernetes.io/h2c}, {name: ws, port: 82, appProtocol: kubernetes.io/ws}, {name: tls, port: 443}]}";
    let policy = "kind: BackendTLSPolicy\nmetadata: {name: p, namespace: default}\nspec: {targetRefs: [{group: '', kind: Service, name: s, sectionName: tls}], validation: {wellKnownCACertificates: System, hostname: s.example.com, subjectAltNames: [{type: URI, uri: 'spiffe://a/b'}]}}";
    let cases = [
        ("HTTPRoute", 80, r#"backend default/s:80 {"protocol":"http","endpoints":[]}"#),
        ("HTTPRoute", 81, r#"backend default/s:81/h2c {"protocol":"h2c","endpoints":[]}"#),
        ("HTTPRoute", 82, r#"backend default/s:82 {"protocol":"http","endpoints":[]}"#),
        ("GRPCRoute", 80, r#"backend default/s:80/h2c {"protocol":"h2c","endpoints":[]}"#),
        (
            "HTTPRoute",
            443,
            r#"backend default/s:443/https {"protocol":"https","endpoints":[],"tls":{"host":"s.example.com","authorities":[],"names":["uri:spiffe://a/b"]}}"#,
        ),
    ];
    for (kind, port, expected) in cases {
        let documents = documents(&[BASE, service, policy, &route(kind, &format!("{{name: s, port: {port}}}"))]);
        assert_eq!(documents.lines().last(), Some(expected), "{kind} {port}");
    }
}

#[test]
fn the_older_of_two_policies_applies() {
    let policy = |name: &str, day: &str, section: &str, authority: &str| {
        format!(
            "kind: BackendTLSPolicy\nmetadata: {{name: {name}, namespace: default, creationTimestamp: '2026-01-{day}T00:00:00Z'}}\nspec: {{targetRefs: [{{group: '', kind: Service, name: echo{section}}}], validation: {{hostname: {name}.example.com, {authority}}}}}"
        )
    };
    let system = "wellKnownCACertificates: System";
    let missing = "caCertificateRefs: [{group: '', kind: ConfigMap, name: nope}]";
    let wrong = "caCertificateRefs: [{group: example.com, kind: Nope, name: nope}]";
    let cases = [
        (
            vec![policy("a", "02", "", system), policy("b", "01", "", system)],
            "b",
            [("a", "-Accepted:Conflicted +ResolvedRefs"), ("b", "+Accepted +ResolvedRefs")],
        ),
        (
            vec![policy("a", "01", "", system), policy("b", "02", ", sectionName: web", system)],
            "b",
            [("a", "+Accepted +ResolvedRefs"), ("b", "+Accepted +ResolvedRefs")],
        ),
        (
            vec![policy("a", "01", "", missing), policy("b", "02", ", sectionName: other", wrong)],
            "a",
            [
                ("a", "-Accepted:NoValidCACertificate -ResolvedRefs:InvalidCACertificateRef"),
                ("b", "-Accepted:NoValidCACertificate -ResolvedRefs:InvalidKind"),
            ],
        ),
    ];
    for (policies, applied, expected) in cases {
        let route = route("HTTPRoute", "{name: echo, port: 8080}");
        let manifests: Vec<&str> = [BASE, &route].into_iter().chain(policies.iter().map(String::as_str)).collect();
        let documents = documents(&manifests);
        assert!(documents.contains(&format!(r#""host":"{applied}.example.com""#)), "{documents}");
        let conditions = conditions(&manifests);
        for (name, expected) in expected {
            assert!(conditions.contains(&format!("BackendTLSPolicy default/{name}\n  gw {expected}\n")), "{conditions}");
            assert_eq!(documents.contains("\"broken\""), applied == "a", "{documents}");
        }
    }
}

#[test]
fn endpoints_are_of_one_family_and_ready() {
    let slice = |name: &str, family: &str, endpoints: &str| {
        format!(
            "kind: EndpointSlice\nmetadata: {{name: {name}, namespace: default, labels: {{kubernetes.io/service-name: echo}}}}\naddressType: {family}\nports: [{{name: web, port: 3000}}]\nendpoints: [{endpoints}]"
        )
    };
    let ending = "{addresses: [10.1.0.9], conditions: {ready: false, serving: true, terminating: true}}";
    let cases = [
        (vec![slice("echo-2", "IPv6", "{addresses: ['fd00::1']}")], vec!["10.1.0.1", "10.1.0.2"]),
        (vec![slice("echo-1", "IPv4", ""), slice("echo-2", "IPv6", "{addresses: ['fd00::1']}")], vec!["fd00::1"]),
        (vec![slice("echo-1", "IPv4", "").replace("[]", "null")], vec![]),
        (vec![slice("echo-1", "IPv4", ending)], vec!["10.1.0.9"]),
        (vec![slice("echo-1", "IPv4", ""), slice("echo-2", "FQDN", "{addresses: [example.com]}")], vec![]),
    ];
    for (slices, expected) in cases {
        let route = route("HTTPRoute", "{name: echo, port: 8080}");
        let manifests: Vec<&str> = [BASE, &route].into_iter().chain(slices.iter().map(String::as_str)).collect();
        super::with(&manifests, &super::ListenerStates::new(), |compiled, _| {
            let endpoints = super::list(&compiled.documents.backends["default/echo:8080"], "endpoints").to_vec();
            let addresses: Vec<&str> = endpoints.iter().map(|endpoint| super::text(endpoint, "address")).collect();
            assert_eq!(addresses, expected, "{slices:?}");
        });
    }
}
