use super::{BASE, ListenerStates, conditions, documents, expect, with};

fn gateway(name: &str, day: &str, rest: &str) -> String {
    format!(
        "kind: Gateway\nmetadata: {{name: {name}, namespace: default, creationTimestamp: '2026-01-{day}T00:00:00Z'}}\nspec:\n  gatewayClassName: tollgate\n{rest}"
    )
}

const HTTP: &str = "  listeners: [{name: http, port: 80, protocol: HTTP}]\n";

#[test]
fn listeners_that_can_not_be_told_apart_are_not_served() {
    let cases = [
        (
            "  - {name: a, port: 80, protocol: HTTP}\n  - {name: b, port: 80, protocol: HTTP}\n  - {name: c, port: 81, protocol: HTTP}",
            "
            Gateway default/gw +Accepted:ListenersNotValid +Programmed +ResolvedRefs
              a routes=0 -Accepted:HostnameConflict -Programmed:HostnameConflict +ResolvedRefs +Conflicted:HostnameConflict
              b routes=0 -Accepted:HostnameConflict -Programmed:HostnameConflict +ResolvedRefs +Conflicted:HostnameConflict
              c routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
            ",
        ),
        (
            "  - {name: a, port: 80, protocol: HTTP}\n  - {name: b, port: 80, protocol: TCP}",
            "
            Gateway default/gw -Accepted:ListenersNotValid -Programmed:Invalid +ResolvedRefs
              a routes=0 -Accepted:ProtocolConflict -Programmed:ProtocolConflict +ResolvedRefs +Conflicted:ProtocolConflict
              b routes=0 -Accepted:ProtocolConflict -Programmed:ProtocolConflict +ResolvedRefs +Conflicted:ProtocolConflict
            ",
        ),
        (
            "  - {name: a, port: 53, protocol: TCP}\n  - {name: b, port: 53, protocol: UDP}\n  - {name: c, port: 80, protocol: HTTP, hostname: a.test}\n  - {name: d, port: 80, protocol: HTTP}\n  - {name: e, port: 82, protocol: example.com/odd}",
            "
            Gateway default/gw +Accepted:ListenersNotValid +Programmed +ResolvedRefs
              a routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
              b routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
              c routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
              d routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
              e routes=0 -Accepted:UnsupportedProtocol -Programmed:Invalid +ResolvedRefs -Conflicted:NoConflicts
            ",
        ),
        (
            "  - {name: a, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: Nope}]}}\n  - {name: b, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: Nope}, {kind: HTTPRoute}]}}",
            "
            Gateway default/gw +Accepted +Programmed -ResolvedRefs:ListenersNotResolved
              a routes=0 +Accepted -Programmed:Invalid -ResolvedRefs:InvalidRouteKinds -Conflicted:NoConflicts
              b routes=0 +Accepted +Programmed -ResolvedRefs:InvalidRouteKinds -Conflicted:NoConflicts
            ",
        ),
        (
            "  - {name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: nope}]}}\n  - {name: b, port: 444, protocol: HTTPS, tls: {certificateRefs: [{name: nope, namespace: elsewhere}]}}",
            "
            Gateway default/gw +Accepted -Programmed:Invalid -ResolvedRefs:ListenersNotResolved
              a routes=0 +Accepted -Programmed:Invalid -ResolvedRefs:InvalidCertificateRef -Conflicted:NoConflicts
              b routes=0 +Accepted -Programmed:Invalid -ResolvedRefs:RefNotPermitted -Conflicted:NoConflicts
            ",
        ),
    ];
    for (listeners, expected) in cases {
        expect(&conditions(&[BASE, &gateway("gw", "01", &format!("  listeners:\n{listeners}"))]), expected);
    }
}

#[test]
fn gateways_get_addresses_of_the_pool() {
    let addresses = |manifests: &[&str]| {
        with(manifests, &ListenerStates::new(), |_, statuses| {
            let gateways = statuses.iter().filter(|(object, _)| object.starts_with("Gateway "));
            let of = |(object, status): &(String, serde_json::Value)| {
                let addresses = super::list(status, "addresses").iter().map(|address| super::text(address, "value").to_owned());
                let programmed =
                    super::list(status, "conditions").iter().find(|condition| condition["type"] == "Programmed").cloned();
                let reason = programmed.map(|condition| super::text(&condition, "reason").to_owned()).unwrap_or_default();
                format!("{} {} {reason}", object.trim_start_matches("Gateway default/"), addresses.collect::<Vec<_>>().join(","))
            };
            gateways.map(of).collect::<Vec<_>>()
        })
    };
    let asks = |name: &str, day: &str, address: &str| gateway(name, day, &format!("{HTTP}  addresses: [{address}]"));
    let has = |name: &str, day: &str, address: &str| {
        format!("{}\nstatus: {{addresses: [{{type: IPAddress, value: {address}}}]}}", gateway(name, day, HTTP))
    };
    let cases = [
        // The older one has the first; one that asks for an address gets it all the same.
        (
            vec![gateway("a", "02", HTTP), gateway("b", "01", HTTP), asks("c", "03", "{value: 10.0.0.1}")],
            vec!["a 10.0.0.3 Programmed", "b 10.0.0.2 Programmed", "c 10.0.0.1 Programmed"],
        ),
        (vec![has("a", "02", "10.0.0.1"), gateway("b", "01", HTTP)], vec!["a 10.0.0.1 Programmed", "b 10.0.0.2 Programmed"]),
        (vec![has("a", "02", "10.9.9.9")], vec!["a 10.0.0.1 Programmed"]),
        (vec![asks("a", "01", "{value: 10.9.9.9}, {value: 10.0.0.4}")], vec!["a 10.0.0.4 AddressNotUsable"]),
        (vec![asks("a", "01", "{type: IPAddress}")], vec!["a 10.0.0.1 Programmed"]),
        (vec![asks("a", "01", "{type: example.com/odd, value: x}")], vec!["a  Invalid"]),
        (
            (1..=7).map(|number| gateway(&format!("g{number}"), &format!("0{number}"), HTTP)).collect(),
            vec![
                "g1 10.0.0.1 Programmed",
                "g2 10.0.0.2 Programmed",
                "g3 10.0.0.3 Programmed",
                "g4 10.0.0.4 Programmed",
                "g5 10.0.0.5 Programmed",
                "g6 10.0.0.6 Programmed",
                "g7  AddressNotAssigned",
            ],
        ),
    ];
    let class = BASE.split("\n---\n").next().unwrap_or_default();
    for (gateways, expected) in cases {
        let manifests: Vec<&str> = std::iter::once(class).chain(gateways.iter().map(String::as_str)).collect();
        assert_eq!(addresses(&manifests), expected);
    }
}

#[test]
fn a_listener_that_is_not_bound_is_not_programmed() {
    let states = ListenerStates::from([("default/gw/http".to_owned(), Err("the address is not there".to_owned()))]);
    with(&[BASE], &states, |_, statuses| {
        let gateway = statuses.iter().find(|(object, _)| object == "Gateway default/gw").map(|(_, status)| status).unwrap();
        assert_eq!(gateway["conditions"][1]["reason"], "AddressNotUsable");
        assert_eq!(gateway["listeners"][0]["conditions"][1]["reason"], "PortUnavailable");
        assert_eq!(gateway["listeners"][0]["conditions"][1]["message"], "the address is not there");
    });
}

#[test]
fn listener_sets_add_listeners_to_gateways_that_let_them() {
    let set = |name: &str, day: &str, listeners: &str| {
        format!(
            "kind: ListenerSet\nmetadata: {{name: {name}, namespace: default, creationTimestamp: '2026-01-{day}T00:00:00Z'}}\nspec:\n  parentRef: {{name: gw}}\n  listeners: [{listeners}]"
        )
    };
    let open = gateway("gw", "01", &format!("{HTTP}  allowedListeners: {{namespaces: {{from: Same}}}}"));
    let route = "kind: HTTPRoute\nmetadata: {name: r, namespace: default}\nspec:\n  parentRefs: [{kind: ListenerSet, name: b}]\n  rules: [{backendRefs: [{name: echo, port: 8080}]}]";
    let manifests = [
        BASE,
        &open,
        &set(
            "a",
            "02",
            "{name: http, port: 81, protocol: HTTP}, {name: same, port: 80, protocol: TCP}, {name: beside, port: 80, protocol: HTTP, hostname: a.test}",
        ),
        &set("b", "03", "{name: x, port: 82, protocol: HTTP}"),
        &set("c", "04", "{name: x, port: 82, protocol: TCP}"),
        route,
    ];
    expect(
        &conditions(&manifests),
        "
        Gateway default/gw +Accepted +Programmed +ResolvedRefs
          http routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
        ListenerSet default/a +Accepted:ListenersNotValid +Programmed
          http routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
          same routes=0 -Accepted:ProtocolConflict -Programmed:ProtocolConflict +ResolvedRefs +Conflicted:ProtocolConflict
          beside routes=0 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
        ListenerSet default/b +Accepted +Programmed
          x routes=1 +Accepted +Programmed +ResolvedRefs -Conflicted:NoConflicts
        ListenerSet default/c -Accepted:ListenersNotValid -Programmed:ListenersNotValid
          x routes=0 -Accepted:ProtocolConflict -Programmed:ProtocolConflict +ResolvedRefs +Conflicted:ProtocolConflict
        HTTPRoute default/r
          b +Accepted +ResolvedRefs
        ",
    );
    let documents = documents(&manifests);
    assert!(documents.contains("  at default/gw/default/b/x []\n"), "{documents}");
    let closed = conditions(&[BASE, &set("a", "02", "{name: http, port: 81, protocol: HTTP}")]);
    assert!(closed.ends_with("ListenerSet default/a -Accepted:NotAllowed -Programmed:NotAllowed\n"), "{closed}");
}
