use super::{BASE, conditions, documents, expect};

fn route(parent: &str, rest: &str) -> String {
    format!(
        "kind: HTTPRoute\nmetadata: {{name: r, namespace: default}}\nspec:\n  parentRefs: [{parent}]\n  rules: [{{backendRefs: [{{name: echo, port: 8080}}]}}]\n{rest}"
    )
}

#[test]
fn a_route_is_served_at_its_gateway() {
    let manifests = [BASE, &route("{name: gw}", "")];
    expect(
        &documents(&manifests),
        r#"
        listener default/gw/http {"addresses":["10.0.0.1"],"port":80,"protocol":"http"}
        k8s-httproute-default.r http /default/r
          at default/gw/http []
          {"matches":[],"backends":[{"backend":"default/echo:8080","weight":1}]}
        backend default/echo:8080 {"protocol":"http","endpoints":[{"address":"10.1.0.1","port":3000},{"address":"10.1.0.2","port":3000}]}
        "#,
    );
    expect(
        &conditions(&manifests),
        "
        Gateway default/gw +Accepted +Programmed +ResolvedRefs
          http routes=1 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
        HTTPRoute default/r
          gw +Accepted +ResolvedRefs
        ",
    );
}

#[test]
fn parents_say_why_they_do_not_take_a_route() {
    let two = "kind: Gateway\nmetadata: {name: gw, namespace: default}\nspec:\n  gatewayClassName: tollgate\n  listeners:\n  - {name: a, port: 80, protocol: HTTP, hostname: a.example.com}\n  - {name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}}";
    let cases = [
        ("{name: gw, sectionName: nope}", "", "-Accepted:NoMatchingParent"),
        ("{name: gw, sectionName: a, port: 81}", "", "-Accepted:NoMatchingParent"),
        ("{name: gw, sectionName: a, port: 80}", "", "+Accepted"),
        ("{name: gw, sectionName: tls}", "", "-Accepted:NotAllowedByListeners"),
        ("{name: gw}", "  hostnames: [b.example.com]", "-Accepted:NoMatchingListenerHostname"),
        ("{name: gw}", "  hostnames: ['*.example.com']", "+Accepted"),
    ];
    for (parent, rest, expected) in cases {
        let conditions = conditions(&[BASE, two, &route(parent, rest)]);
        let last = conditions.lines().last().unwrap_or_default();
        assert!(last.contains(&format!(" {expected} ")), "{parent} {rest}: {conditions}");
    }
}

#[test]
fn nothing_is_said_of_parents_that_are_not_there_or_somebody_elses() {
    let others = "kind: Gateway\nmetadata: {name: other, namespace: default}\nspec: {gatewayClassName: others, listeners: [{name: http, port: 80, protocol: HTTP}]}";
    for parent in ["{name: nope}", "{name: other}", "{name: gw, kind: Service, group: ''}", "{name: gw, namespace: elsewhere}"] {
        let conditions = conditions(&[BASE, others, &route(parent, "")]);
        assert!(!conditions.contains("HTTPRoute"), "{parent}: {conditions}");
    }
}

#[test]
fn listeners_let_in_namespaces() {
    let gateway = |namespaces: &str| {
        format!(
            "kind: Gateway\nmetadata: {{name: gw, namespace: infra}}\nspec:\n  gatewayClassName: tollgate\n  listeners: [{{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {namespaces}}}}}]"
        )
    };
    let namespace = "kind: Namespace\nmetadata: {name: default, labels: {team: a}}";
    let cases = [
        ("{from: Same}", false),
        ("{from: All}", true),
        ("{from: Selector, selector: {matchLabels: {team: a}}}", true),
        ("{from: Selector, selector: {matchLabels: {team: b}}}", false),
        ("{from: Selector, selector: {matchExpressions: [{key: team, operator: In, values: [a, c]}]}}", true),
        ("{from: Selector, selector: {matchExpressions: [{key: team, operator: DoesNotExist}]}}", false),
    ];
    for (namespaces, is_let_in) in cases {
        let conditions = conditions(&[BASE, namespace, &gateway(namespaces), &route("{name: gw, namespace: infra}", "")]);
        let expected = if is_let_in { "  gw +Accepted " } else { "  gw -Accepted:NotAllowedByListeners " };
        assert!(conditions.contains(expected), "{namespaces}: {conditions}");
    }
}

#[test]
fn a_route_has_other_hosts_at_other_listeners() {
    let gateway = "kind: Gateway\nmetadata: {name: gw, namespace: default}\nspec:\n  gatewayClassName: tollgate\n  listeners:\n  - {name: any, port: 80, protocol: HTTP}\n  - {name: wild, port: 80, protocol: HTTP, hostname: '*.example.com'}\n  - {name: one, port: 80, protocol: HTTP, hostname: a.example.com}";
    let manifests = [BASE, gateway, &route("{name: gw}", "  hostnames: [a.example.com, b.example.com, c.test]")];
    let documents = documents(&manifests);
    let attached: Vec<&str> = documents.lines().filter(|line| line.starts_with("  at ")).collect();
    assert_eq!(
        attached,
        [
            r#"  at default/gw/any ["a.example.com","b.example.com","c.test"]"#,
            "  at default/gw/one [\"a.example.com\"]",
            r#"  at default/gw/wild ["a.example.com","b.example.com"]"#,
        ]
    );
}

#[test]
fn the_older_of_two_kinds_with_one_host_is_served() {
    let at = |kind: &str, name: &str, day: &str, hosts: &str| {
        format!(
            "kind: {kind}\nmetadata: {{name: {name}, namespace: default, creationTimestamp: '2026-01-{day}T00:00:00Z'}}\nspec: {{parentRefs: [{{name: gw}}], hostnames: {hosts}, rules: [{{backendRefs: [{{name: echo, port: 8080}}]}}]}}"
        )
    };
    let manifests = [
        BASE,
        &at("HTTPRoute", "newer", "02", "[a.example.com]"),
        &at("GRPCRoute", "older", "01", "['*.example.com']"),
        &at("HTTPRoute", "beside", "03", "[b.test]"),
    ];
    expect(
        &conditions(&manifests),
        "
        Gateway default/gw +Accepted +Programmed +ResolvedRefs
          http routes=2 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
        GRPCRoute default/older
          gw +Accepted +ResolvedRefs
        HTTPRoute default/newer
          gw -Accepted:Conflicted +ResolvedRefs
        HTTPRoute default/beside
          gw +Accepted +ResolvedRefs
        ",
    );
}
