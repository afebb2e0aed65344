use super::{BASE, cluster, documents, expect, settings, with};
use crate::compile::{ListenerStates, ReportOutcome, compile};
use crate::objects::Key;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A class of the controller.
const CLASS: &str = "kind: IngressClass\nmetadata: {name: tollgate}\nspec: {controller: tollgate.dev/ingress-controller}";

/// An Ingress with annotations and the rest of its `spec`.
fn ingress(name: &str, annotations: &str, spec: &str) -> String {
    format!(
        "kind: Ingress\nmetadata:\n  name: {name}\n  namespace: default\n  annotations: {{{annotations}}}\nspec:\n  ingressClassName: tollgate\n{spec}"
    )
}

/// The rules of one with a path.
fn path(path: &str, kind: &str) -> String {
    format!(
        "  rules: [{{host: a.test, http: {{paths: [{{path: {path}, pathType: {kind}, backend: {{service: {{name: echo, port: {{name: web}}}}}}}}]}}}}]"
    )
}

/// The lines that documents have of Ingresses.
fn served(manifests: &[&str]) -> String {
    let all: Vec<&str> = [BASE, CLASS].into_iter().chain(manifests.iter().copied()).collect();
    let lines = documents(&all);
    let mut own = String::new();
    let mut is_own = false;
    for line in lines.lines() {
        is_own = line.starts_with("k8s-ingress") || line.starts_with("listener ingress:") || (is_own && line.starts_with("  "));
        if is_own {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// What is said of an Ingress: outcome, subject, reason.
fn report(manifests: &[&str], name: &str) -> Vec<(ReportOutcome, String, String)> {
    let all: Vec<&str> = [BASE, CLASS].into_iter().chain(manifests.iter().copied()).collect();
    with(&all, &ListenerStates::new(), |compiled, _| {
        let lines = compiled.ingress_reports().get(&Key::new("default", name)).cloned().unwrap_or_default();
        lines.into_iter().map(|line| (line.outcome, line.subject, line.reason)).collect()
    })
}

/// The only rule that serves.
fn rule(annotations: &str, written: &str, kind: &str) -> String {
    let lines = served(&[&ingress("i", annotations, &path(written, kind))]);
    let mut serving = lines.lines().skip_while(|line| !line.starts_with("k8s-ingress-default.i http"));
    serving.find(|line| line.starts_with("  {")).unwrap_or_default().trim().to_owned()
}

#[test]
fn an_ingress_is_served_beside_gateways() {
    expect(
        &served(&[&ingress("i", "", &path("/", "Prefix"))]),
        r#"
        listener ingress:http {"addresses":["10.0.0.2"],"port":80,"protocol":"http"}
        k8s-ingress-default.i http ~/default/i/1
          at ingress:http null
          {"backends":[{"backend":"default/echo:8080"}],"hosts":["a.test"],"matches":[{"path":{"prefix":"/"}}]}
        k8s-ingress-rest http ~~
          at ingress:http ["a.test"]
          {"answer":{"status":404,"message":"No Ingress has this path"}}
        "#,
    );
}

#[test]
fn paths_match_as_their_type_says() {
    let cases = [
        ("/a", "Exact", r#"{"exact":"/a"}"#),
        ("/a", "Prefix", r#"{"prefix":"/a"}"#),
        ("/a/", "Prefix", r#"{"prefix":"/a"}"#),
        ("/a", "ImplementationSpecific", r#"{"starts_with":"/a"}"#),
        ("/", "ImplementationSpecific", r#"{"prefix":"/"}"#),
    ];
    for (written, kind, expected) in cases {
        let rule = rule("", written, kind);
        assert!(rule.contains(&format!(r#""matches":[{{"path":{expected}}}]"#)), "{written} {kind}: {rule}");
    }
    let expression = r#"{"regex":"(?i:/a/(x|y))(?s:.*)"}"#;
    for annotation in ["use-regex: 'true'", "rewrite-target: /$1"] {
        let annotation = format!("nginx.ingress.kubernetes.io/{annotation}");
        assert!(rule(&annotation, "/a/(x|y)", "Prefix").contains(expression), "{annotation}");
        // Without a host, and for another Ingress of the host.
        for host in ["", "host: a.test, "] {
            let path = |written: &str| path(written, "Exact").replace("host: a.test, ", host);
            let lines = served(&[&ingress("i", &annotation, &path("/a/(x|y)")), &ingress("j", "", &path("/b"))]);
            assert!(lines.contains(expression) && lines.contains(r#"{"regex":"(?i:/b)(?s:.*)"}"#), "{lines}");
        }
    }
}

#[test]
fn a_path_that_is_no_expression_answers_503() {
    let rule = rule("nginx.ingress.kubernetes.io/use-regex: 'true'", "/a/b(?!c)", "ImplementationSpecific");
    assert!(rule.contains(r#""answer":{"status":503,"#) && rule.contains(r#"{"path":{"starts_with":"/a/"}}"#), "{rule}");
}

#[test]
fn annotations_become_members_of_rules() {
    let cases = [
        ("rewrite-target: /$2", r#""rewrite":{"path":{"replace":{"regex":"(?i)/a","path":"/$2"}}}"#),
        ("upstream-vhost: b.test", r#""rewrite":{"host":"b.test"}"#),
        ("permanent-redirect: 'https://b.test$request_uri'", r#""redirect":{"location":"https://b.test{uri}","status":301}"#),
        ("temporal-redirect: 'https://b.test/x'", r#""redirect":{"location":"https://b.test/x","status":302}"#),
        ("proxy-read-timeout: '30'", r#""timeouts":{"backend_request_ms":30000}"#),
        ("x-forwarded-prefix: /p", r#""request_headers":{"set":[{"name":"X-Forwarded-Prefix","value":"/p"}]}"#),
        ("affinity: cookie", r#""sticky":{"cookie":"INGRESSCOOKIE","absolute_timeout_s":0}"#),
        ("upstream-hash-by: $http_x_user", r#""hash":{"by":"header","name":"x-user"}"#),
        (
            "affinity: cookie, nginx.ingress.kubernetes.io/session-cookie-path: /a, nginx.ingress.kubernetes.io/session-cookie-samesite: None, nginx.ingress.kubernetes.io/session-cookie-secure: 'true'",
            r#""sticky":{"cookie":"INGRESSCOOKIE","absolute_timeout_s":0,"path":"/a","same_site":"none","secure":true}"#,
        ),
        (
            "proxy-redirect-from: http://b.test/, nginx.ingress.kubernetes.io/proxy-redirect-to: https://a.test/",
            r#""response_rewrites":{"locations":[{"from":"http://b.test/","to":"https://a.test/"}]}"#,
        ),
        (
            "proxy-cookie-path: /one /two; Secure, nginx.ingress.kubernetes.io/proxy-cookie-domain: b.test a.test",
            r#""response_rewrites":{"cookie_paths":[{"from":"/one","to":"/two; Secure"}],"cookie_domains":[{"from":"b.test","to":"a.test"}]}"#,
        ),
        ("mirror-target: 'https://m.test$request_uri'", r#""mirrors":[{"url":"https://m.test"}]"#),
        ("backend-protocol: GRPC", r#""backends":[{"backend":"default/echo:8080/h2c"}]"#),
        ("backend-protocol: HTTPS", r#""backends":[{"backend":"default/echo:8080/https@ingress:default.i"}]"#),
        (
            "proxy-next-upstream: error http_502",
            r#""retries":{"statuses":[502],"connection_errors":true,"methods":["GET","HEAD","OPTIONS","PUT","DELETE","TRACE"],"attempts":2}"#,
        ),
    ];
    for (annotation, expected) in cases {
        let rule = rule(&format!("nginx.ingress.kubernetes.io/{annotation}"), "/a", "Prefix");
        assert!(rule.contains(expected), "{annotation}: {rule}");
    }
}

#[test]
fn what_protects_and_can_not_be_carried_over_closes_the_paths() {
    let cases = [
        "whitelist-source-range: everybody",
        "auth-type: digest",
        "auth-type: basic",
        "auth-url: 'https://auth.test/$unknown'",
        "auth-tls-secret: default/none",
        "limit-connections: many",
        "limit-rps: many",
        "configuration-snippet: 'auth_basic x;'",
        "configuration-snippet: 'if ($bad) { return 403; }'",
        "configuration-snippet: 'add_header X-Id $request_id;'",
        "configuration-snippet: 'deny all'",
        "server-snippet: 'deny all;'",
        "enable-modsecurity: maybe",
        "ssl-passthrough: maybe",
        "satisfy: any",
    ];
    for annotation in cases {
        let annotation = format!("nginx.ingress.kubernetes.io/{annotation}");
        let rule = rule(&annotation, "/a", "Prefix");
        assert!(rule.starts_with(r#"{"answer":{"status":503,"message":"not served: "#), "{annotation}: {rule}");
        let name = annotation.split([':', '/']).nth(1).unwrap_or_default();
        let open = format!("{annotation}, tollgate.dev/serve-without: {name}");
        // The annotation that refers to what is missing is another one.
        let open = open.replace("serve-without: auth-type", "serve-without: 'auth-type,auth-secret'");
        assert!(rule_serves(&open), "{open}");
    }
}

fn rule_serves(annotations: &str) -> bool {
    rule(annotations, "/a", "Prefix").contains(r#""backends":[{"backend":"default/echo:8080"}]"#)
}

#[test]
fn what_does_not_protect_is_told_and_the_rest_is_served() {
    let cases = [
        ("unheard-of: x", "it is unknown"),
        ("proxy-redirect-from: http://a.test/", "proxy-redirect-to is missing"),
        ("proxy-cookie-path: '~^/(.*) /$1'", "expressions and variables are not supported: what is replaced is a text"),
        ("session-cookie-samesite: Often", "\"Often\" is none of Strict, Lax and None"),
        ("enable-modsecurity: 'true'", "it has no rules: enable-owasp-core-rules is missing, and the snippet has none"),
        ("custom-http-errors: '404'", "error pages come from the gateway (`error_overrides`), not from a backend"),
        ("proxy-body-size: huge", "\"huge\" is no size"),
        ("affinity: ip", "clients can't be kept by ip"),
        ("permanent-redirect-code: '200'", "\"200\" is no status of a redirect with a location"),
    ];
    for (annotation, reason) in cases {
        let annotation = format!("nginx.ingress.kubernetes.io/{annotation}");
        assert!(rule_serves(&annotation), "{annotation}");
        let report = report(&[&ingress("i", &annotation, &path("/a", "Prefix"))], "i");
        assert!(
            report.iter().any(|(outcome, _, why)| *outcome == ReportOutcome::NotCarried && why == reason),
            "{annotation}: {report:?}"
        );
    }
}

#[test]
fn which_ingresses_are_served() {
    let with_class =
        |class: &str| format!("kind: Ingress\nmetadata: {{name: i, namespace: default}}\nspec:\n{class}{}", path("/", "Prefix"));
    let old = |class: &str| {
        format!(
            "kind: Ingress\nmetadata: {{name: i, namespace: default, annotations: {{kubernetes.io/ingress.class: {class}}}}}\nspec:\n{}",
            path("/", "Prefix")
        )
    };
    let default = format!(
        "{}\n---\nkind: IngressClass\nmetadata: {{name: tollgate, annotations: {{ingressclass.kubernetes.io/is-default-class: 'true'}}}}\nspec: {{controller: tollgate.dev/ingress-controller}}",
        with_class("")
    );
    let cases = [
        (with_class("  ingressClassName: tollgate\n"), true),
        (with_class("  ingressClassName: nginx\n"), false),
        (with_class(""), false),
        (default, true),
        (old("tollgate"), true),
        (old("nginx"), false),
    ];
    for (manifest, is_served) in cases {
        assert_eq!(served(&[&manifest]).contains("k8s-ingress-default.i "), is_served, "{manifest}");
    }
}

#[test]
fn canaries_get_their_share() {
    let main = ingress("i", "", &path("/a", "Prefix"));
    let other = "kind: Service\nmetadata: {name: other, namespace: default}\nspec: {ports: [{name: web, port: 8080}]}";
    let canary = |annotations: &str| {
        ingress(
            "c",
            &format!("nginx.ingress.kubernetes.io/canary: 'true', {annotations}"),
            &path("/a", "Prefix").replace("name: echo", "name: other"),
        )
    };
    let rules = |annotations: &str| {
        let lines = served(&[other, &main, &canary(annotations)]);
        let of_main = lines.lines().skip_while(|line| !line.starts_with("k8s-ingress-default.i ")).skip(1);
        let rules: Vec<String> =
            of_main.take_while(|line| line.starts_with("  ")).filter(|line| line.starts_with("  {")).map(str::to_owned).collect();
        rules.join("\n")
    };
    let weight = rules("nginx.ingress.kubernetes.io/canary-weight: '20'");
    assert!(
        weight.contains(r#"[{"backend":"default/echo:8080","weight":80},{"backend":"default/other:8080","weight":20}]"#),
        "{weight}"
    );
    let header = rules("nginx.ingress.kubernetes.io/canary-by-header: X-Canary, nginx.ingress.kubernetes.io/canary-by-cookie: c");
    assert_eq!(header.lines().count(), 5, "{header}");
    assert!(header.starts_with(r#"  {"backends":[{"backend":"default/other:8080"}],"hosts":["a.test"],"matches":[{"path":{"prefix":"/a"},"headers":[{"name":"X-Canary","exact":"always"}]}]"#), "{header}");
    // Alone it gets nothing.
    let alone = served(&[other, &canary("nginx.ingress.kubernetes.io/canary-weight: '20'")]);
    assert!(!alone.contains("k8s-ingress"), "{alone}");
}

#[test]
fn hosts_with_tls_are_redirected() {
    let spec = format!("  tls: [{{hosts: [a.test], secretName: none}}]\n{}", path("/", "Prefix"));
    let redirect = r#"{"redirect":{"scheme":"https","status":308},"hosts":["a.test"],"matches":[{"path":{"prefix":"/"}}]}"#;
    let cases = [("", true), ("nginx.ingress.kubernetes.io/ssl-redirect: 'false'", false)];
    for (annotations, is_redirected) in cases {
        let lines = served(&[&ingress("i", annotations, &spec)]);
        assert_eq!(
            lines.contains("k8s-ingress-default.i~https http ~/default/i/0\n") && lines.contains(redirect),
            is_redirected,
            "{lines}"
        );
    }
    let lines = served(&[&ingress("i", "nginx.ingress.kubernetes.io/force-ssl-redirect: 'true'", &path("/", "Prefix"))]);
    assert!(lines.contains(redirect), "{lines}");
}

#[test]
fn a_wildcard_stands_for_one_label() {
    let lines = served(&[&ingress("i", "", &path("/", "Prefix").replace("a.test", "'*.a.test'"))]);
    assert!(lines.contains(r#""hosts":["?.a.test"]"#), "{lines}");
}

#[test]
fn ingresses_and_gateways_share_an_address() {
    let gateway = |namespace: &str, listeners: &str| {
        format!(
            "kind: Gateway\nmetadata: {{name: gw, namespace: {namespace}}}\nspec: {{gatewayClassName: tollgate, addresses: [{{value: 10.0.0.2}}], listeners: [{listeners}]}}"
        )
    };
    // The address that the status has is the gateway's too.
    let status = "\nstatus: {loadBalancer: {ingress: [{ip: 10.0.0.2}]}}";
    let own = format!("{}{status}", ingress("i", "", &path("/", "Prefix")));
    let lines = |listeners: &str| served(&[&gateway("ingress", listeners), &own]);
    // At one with the same host, rules of both are compared.
    let any = lines("{name: http, port: 80, protocol: HTTP}");
    assert!(any.contains("  at ingress/gw/http null\n") && !any.contains("listener ingress:http"), "{any}");
    // One with another host gets no request of the Ingress, one with a wider host gets those that it claims.
    let other = lines("{name: http, port: 80, protocol: HTTP, hostname: b.test}");
    assert!(other.contains("listener ingress:http") && !other.contains("at ingress/gw/http"), "{other}");
    let wider = lines("{name: http, port: 80, protocol: HTTP, hostname: '*.test'}");
    assert!(wider.contains("at ingress:http null\n  at ingress/gw/http null\n"), "{wider}");
    // Another protocol at the port.
    let manifests = [gateway("ingress", "{name: tcp, port: 80, protocol: TCP}"), own.clone()];
    let manifests: Vec<&str> = manifests.iter().map(String::as_str).collect();
    assert!(!served(&manifests).contains("listener ingress:http"));
    let told = report(&manifests, "i");
    assert!(
        told.iter().any(|(outcome, _, why)| *outcome == ReportOutcome::NotCarried && why.contains("another protocol")),
        "{told:?}"
    );
}

#[test]
fn what_protects_becomes_members_of_the_definition() {
    let secret = "kind: Secret\nmetadata: {name: users, namespace: default}\ndata: {auth: am9lOntTSEF9eAojIG5vdGUK}";
    let annotations = [
        "auth-type: basic",
        "auth-secret: users",
        "auth-url: 'https://$host/check'",
        "auth-signin: 'https://login.test/start'",
        "auth-response-headers: 'X-User, X-Mail'",
        "whitelist-source-range: '10.0.0.0/8, 192.0.2.1'",
        "limit-rps: '5'",
        "limit-whitelist: 10.0.0.0/8",
        "proxy-body-size: 8m",
    ];
    let annotations: Vec<String> =
        annotations.iter().map(|annotation| format!("nginx.ingress.kubernetes.io/{annotation}")).collect();
    let manifest = ingress("i", &annotations.join(", "), &path("/", "Prefix"));
    let definition = with(&[BASE, CLASS, secret, &manifest], &ListenerStates::new(), |compiled, _| {
        compiled.documents.definitions.get("k8s-ingress-default.i").cloned().unwrap_or_default()
    });
    let own = &definition["tollgate"];
    assert_eq!(own["user_passwords"].to_string(), r#"["joe:{SHA}x"]"#);
    let limit = serde_json::json!({"by": "address", "requests": 25, "window_s": 5, "exempt": ["10.0.0.0/8"]});
    assert_eq!(own["request_limits"], serde_json::json!([limit]));
    assert_eq!(own["forward_auth"]["url"], "https://a.test/check");
    assert_eq!(own["forward_auth"]["signin_url"], "https://login.test/start?rd={escaped_url}");
    assert_eq!(own["forward_auth"]["response_headers"].to_string(), r#"["X-User","X-Mail"]"#);
    assert_eq!(definition["use_keyless"], false);
    assert_eq!(definition["allowed_ips"].to_string(), r#"["10.0.0.0/8","192.0.2.1"]"#);
    assert_eq!(definition["version_data"]["versions"]["Default"]["global_size_limit"], 8 << 20);
}

#[test]
fn the_older_of_two_with_one_path_comes_first_and_routes_before_both() {
    let dated = |name: &str, day: &str| {
        ingress(name, "", &path("/", "Prefix"))
            .replace("  namespace: default", &format!("  namespace: default\n  creationTimestamp: '2026-01-{day}T00:00:00Z'"))
    };
    let lines = served(&[&dated("newer", "02"), &dated("older", "01")]);
    let order: Vec<&str> = lines
        .lines()
        .filter_map(|line| line.strip_prefix("k8s-ingress-default.")?.split_once(" http ").map(|(_, order)| order))
        .collect();
    assert_eq!(order, ["~2026-01-02T00:00:00Z/default/newer/1", "~2026-01-01T00:00:00Z/default/older/1"]);
}

#[test]
fn the_status_has_the_address() {
    let manifest = ingress("i", "", &path("/", "Prefix"));
    let status = |manifest: &str| {
        with(&[BASE, CLASS, manifest], &ListenerStates::new(), |_, statuses| {
            statuses.into_iter().find(|(object, _)| object == "Ingress default/i").map(|(_, status)| status.to_string())
        })
    };
    assert_eq!(status(&manifest).as_deref(), Some(r#"{"loadBalancer":{"ingress":[{"ip":"10.0.0.2"}]}}"#));
    assert_eq!(status(&format!("{manifest}\nstatus: {{loadBalancer: {{ingress: [{{ip: 10.0.0.2}}]}}}}")), None);
}

/// An Ingress with a snippet of several lines.
fn with_snippet(annotation: &str, lines: &[&str]) -> String {
    let text = serde_json::to_string(&lines.join("\n")).unwrap();
    format!("nginx.ingress.kubernetes.io/{annotation}: {text}")
}

#[test]
fn snippets_that_only_change_headers_or_answer_are_carried_out() {
    let cases: [(&[&str], &str); 9] = [
        (
            &["# as audited", "more_set_headers \"X-Frame-Options: DENY\" 'X-Empty:';", "more_clear_headers Server;"],
            r#""response_headers":{"set":[{"name":"X-Frame-Options","value":"DENY"}],"remove":["X-Empty","Server"]}"#,
        ),
        (
            &["add_header Strict-Transport-Security \"max-age=1; includeSubDomains\" always;"],
            r#""response_headers":{"add":[{"name":"Strict-Transport-Security","value":"max-age=1; includeSubDomains"}]}"#,
        ),
        (
            &["proxy_set_header X-Real-IP $remote_addr;", "proxy_set_header Host $host;", "proxy_set_header X-A b;", "gzip on;"],
            r#""request_headers":{"set":[{"name":"X-A","value":"b"}]}"#,
        ),
        (&["proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection \"upgrade\";"], r#"{"backends":[{"#),
        (&["proxy_set_header Host b.test;"], r#""rewrite":{"host":"b.test"}"#),
        (&["proxy_cookie_path / \"/; Secure\";"], r#""response_rewrites":{"cookie_paths":[{"from":"/","to":"/; Secure"}]}"#),
        (&["return 301 https://b.test$request_uri;"], r#""redirect":{"location":"https://b.test{uri}","status":301}"#),
        (&["return 404;"], r#""answer":{"status":404,"#),
        (&["deny all;"], r#""answer":{"status":403,"#),
    ];
    for (lines, expected) in cases {
        let rule = rule(&with_snippet("configuration-snippet", lines), "/a", "Prefix");
        assert!(rule.contains(expected) && !rule.contains("not served"), "{lines:?}: {rule}");
    }
}

/// The definition that serves an Ingress.
fn definition(annotations: &str) -> serde_json::Value {
    let manifest = ingress("i", annotations, &path("/", "Prefix"));
    with(&[BASE, CLASS, &manifest], &ListenerStates::new(), |compiled, _| {
        compiled.documents.definitions.get("k8s-ingress-default.i").cloned().unwrap_or_default()
    })
}

#[test]
fn addresses_in_snippets_are_those_that_may_come() {
    let allowed = ["allow 10.0.0.0/8;", "allow 192.0.2.1;", "deny all;"];
    assert_eq!(
        definition(&with_snippet("configuration-snippet", &allowed))["allowed_ips"].to_string(),
        r#"["10.0.0.0/8","192.0.2.1"]"#
    );
    let denied = definition(&with_snippet("configuration-snippet", &["deny 192.0.2.1;"]));
    assert_eq!(denied["blacklisted_ips"].to_string(), r#"["192.0.2.1"]"#);
    let both = format!(
        "{}, nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8",
        with_snippet("configuration-snippet", &allowed)
    );
    for annotations in [both, with_snippet("configuration-snippet", &["deny 192.0.2.1;", "allow 10.0.0.0/8;", "deny all;"])] {
        assert!(rule(&annotations, "/", "Prefix").contains("not served"), "{annotations}");
    }
}

#[test]
fn modsecurity_becomes_the_firewall() {
    let on = "nginx.ingress.kubernetes.io/enable-modsecurity: 'true', nginx.ingress.kubernetes.io/enable-owasp-core-rules: 'true'";
    let with_lines = |lines: &[&str]| format!("{on}, {}", with_snippet("modsecurity-snippet", lines));
    let rule = "SecRule ARGS:a \"@rx b\" \\\n  \"id:1,deny\"";
    let cases = [
        (on.to_owned(), serde_json::json!({"mode": "detection", "core_rules": true, "rules": ""})),
        (
            with_lines(&["SecRuleEngine On", "SecAuditLog /dev/stdout", "SecRequestBodyLimit 1000", "SecRuleRemoveById 942100"]),
            serde_json::json!({"mode": "enforcing", "core_rules": true, "body_max": 1000, "rules": "SecRuleRemoveById 942100\n"}),
        ),
        (
            with_lines(&[
                "SecAction \"id:900000,phase:1,pass,setvar:tx.blocking_paranoia_level=2,setvar:tx.inbound_anomaly_score_threshold=10\"",
            ]),
            serde_json::json!({"paranoia_level": 2, "inbound_threshold": 10}),
        ),
        (
            format!(
                "nginx.ingress.kubernetes.io/enable-modsecurity: 'true', {}",
                with_snippet("modsecurity-snippet", &["SecRuleEngine On", rule])
            ),
            serde_json::json!({"mode": "enforcing", "core_rules": false, "rules": "SecRule ARGS:a \"@rx b\"  \"id:1,deny\"\n"}),
        ),
        (
            format!(
                "nginx.ingress.kubernetes.io/enable-modsecurity: 'true', {}",
                with_snippet("modsecurity-snippet", &["Include /etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"])
            ),
            serde_json::json!({"core_rules": true}),
        ),
    ];
    for (annotations, expected) in cases {
        let waf = definition(&annotations)["tollgate"]["waf"].clone();
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&waf[name], value, "{annotations}: {waf}");
        }
    }
    let off =
        "nginx.ingress.kubernetes.io/enable-modsecurity: 'false', nginx.ingress.kubernetes.io/enable-owasp-core-rules: 'true'";
    for annotations in [off.to_owned(), with_lines(&["SecRuleEngine Off"])] {
        assert!(definition(&annotations)["tollgate"].get("waf").is_none(), "{annotations}");
    }
    assert!(super::ingress::rule(&with_lines(&["SecUploadDir /tmp"]), "/", "Prefix").contains("not served: modsecurity-snippet"));
    // Rules that the gateway does not take must not leave the paths open.
    let manifest = ingress("i", on, &path("/", "Prefix"));
    let refusing = with(&[BASE, CLASS, &manifest], &ListenerStates::new(), |compiled, _| {
        compiled.documents.refusing.get("k8s-ingress-default.i").cloned().unwrap_or_default()
    });
    let rules = &refusing["tollgate"]["route"]["rules"];
    assert_eq!((&rules[0]["answer"]["status"], &rules[0]["hosts"]), (&serde_json::json!(503), &serde_json::json!(["a.test"])));
    assert!(refusing["tollgate"].get("waf").is_none());
}

#[test]
fn connections_of_an_address_are_its_requests_in_progress() {
    let annotations = "nginx.ingress.kubernetes.io/limit-connections: '5', nginx.ingress.kubernetes.io/limit-whitelist: 10.0.0.0/8";
    assert_eq!(definition(annotations)["tollgate"]["concurrency"].to_string(), r#"{"per_address":5,"exempt":["10.0.0.0/8"]}"#);
    assert!(definition("nginx.ingress.kubernetes.io/limit-connections: '0'")["tollgate"].get("concurrency").is_none());
}

#[test]
fn tls_passes_to_the_backend_of_a_host() {
    let lines = served(&[&ingress("i", "nginx.ingress.kubernetes.io/ssl-passthrough: 'true'", &path("/", "Prefix"))]);
    expect(
        &lines,
        r#"
        listener ingress:http {"addresses":["10.0.0.2"],"port":80,"protocol":"http"}
        listener ingress:tls/a.test {"addresses":["10.0.0.2"],"port":443,"protocol":"tls","host":"a.test","tls":{"passthrough":true}}
        k8s-ingress-default.i http ~/default/i/1
          at ingress:http null
          {"backends":[{"backend":"default/echo:8080"}],"hosts":["a.test"],"matches":[{"path":{"prefix":"/"}}]}
        k8s-ingress-default.i~https http ~/default/i/0
          at ingress:http null
          {"redirect":{"scheme":"https","status":308},"hosts":["a.test"],"matches":[{"path":{"prefix":"/"}}]}
        k8s-ingress-default.i~tls stream ~/default/i/1
          at ingress:tls/a.test null
          {"backends":[{"backend":"default/echo:8080/tcp"}]}
        k8s-ingress-rest http ~~
          at ingress:http ["a.test"]
          {"answer":{"status":404,"message":"No Ingress has this path"}}
        "#,
    );
}

#[test]
fn external_names_are_served_if_that_is_allowed() {
    let external = "kind: Service\nmetadata: {name: echo, namespace: default}\nspec: {type: ExternalName, externalName: api.example, ports: [{name: web, port: 8443}]}";
    let backends = |annotations: &str, is_allowed: bool, external: &str| {
        let manifest = ingress("i", annotations, &path("/", "Prefix"));
        let cluster = cluster(&[BASE, CLASS, external, &manifest]);
        let mut settings = settings();
        settings.ingress.serves_external_names = is_allowed;
        let compiled = compile(&cluster, &settings);
        let definition = &compiled.documents.definitions["k8s-ingress-default.i"];
        let rule = &definition["tollgate"]["route"]["rules"][0];
        (rule.get("backends").unwrap_or(&rule["answer"]).to_string(), definition["proxy"]["transport"].to_string())
    };
    assert!(backends("", false, external).0.contains("--ingress-external-names"));
    let secure = "nginx.ingress.kubernetes.io/backend-protocol: HTTPS";
    let verified = format!("{secure}, nginx.ingress.kubernetes.io/proxy-ssl-verify: 'on'");
    assert_eq!(backends("", true, external), (r#"[{"url":"http://api.example:8443"}]"#.to_owned(), "null".to_owned()));
    assert_eq!(
        backends(secure, true, external),
        (r#"[{"url":"https://api.example:8443"}]"#.to_owned(), r#"{"ssl_insecure_skip_verify":true}"#.to_owned())
    );
    assert_eq!(backends(&verified, true, external).1, r#"{"ssl_insecure_skip_verify":false}"#);
    assert!(backends("", true, &external.replace("api.example", "a/../b")).0.contains("has no name of a host"));
}

#[test]
fn thousands_of_hosts_have_their_certificates_at_one_address() {
    let certified = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let (chain, private_key) = (STANDARD.encode(certified.cert.pem()), STANDARD.encode(certified.signing_key.serialize_pem()));
    let secret = format!(
        "kind: Secret\nmetadata: {{name: tls, namespace: default}}\ntype: kubernetes.io/tls\ndata: {{tls.crt: {chain}, tls.key: {private_key}}}"
    );
    let many: Vec<String> = (0..2_000)
        .map(|number| {
            let spec =
                format!("  tls: [{{secretName: tls}}]\n{}", path("/", "Prefix").replace("a.test", &format!("h{number}.test")));
            ingress(&format!("i{number}"), "", &spec)
        })
        .collect();
    let manifests: Vec<&str> = [BASE, CLASS, &secret].into_iter().chain(many.iter().map(String::as_str)).collect();
    let listeners = with(&manifests, &ListenerStates::new(), |compiled, _| {
        compiled.documents.listeners.keys().filter(|name| name.starts_with("ingress:https/")).count()
    });
    assert_eq!(listeners, 2_000);
}

const NO_ENDPOINTS: &str = "kind: Service\nmetadata: {name: none, namespace: default}\nspec: {ports: [{name: web, port: 8080}]}";

#[test]
fn the_default_backend_answers_while_a_service_has_no_endpoints() {
    let to = |service: &str, default: &str| {
        let spec = path("/", "Prefix").replace("name: echo", &format!("name: {service}"));
        let annotations = format!("nginx.ingress.kubernetes.io/default-backend: {default}");
        let manifests = [NO_ENDPOINTS.to_owned(), ingress("i", &annotations, &spec)];
        let manifests: Vec<&str> = manifests.iter().map(String::as_str).collect();
        let lines = served(&manifests);
        let backends = lines.lines().find(|line| line.contains("backends")).unwrap_or_default().trim().to_owned();
        (backends, report(&manifests, "i"))
    };
    let (backends, said) = to("none", "echo");
    let headers = r#"{"name":"X-Code","value":"503"},{"name":"X-Namespace","value":"default"},{"name":"X-Ingress-Name","value":"i"},{"name":"X-Service-Name","value":"none"},{"name":"X-Service-Port","value":"web"}"#;
    let expected = format!(r#"{{"backends":[{{"backend":"default/echo:8080","request_headers":{{"set":[{headers}]}}}}]"#);
    assert!(backends.starts_with(&expected), "{backends}");
    assert_eq!(said[0].0, ReportOutcome::Carried, "{said:?}");
    let (backends, said) = to("echo", "none");
    assert!(backends.starts_with(r#"{"backends":[{"backend":"default/echo:8080"}]"#), "{backends}");
    assert_eq!(said[0].0, ReportOutcome::Carried, "{said:?}");
    for (default, why) in
        [("gone", "the Service default/gone does not exist, or has no port"), ("'a b'", "is no name of a service")]
    {
        let (backends, said) = to("none", default);
        assert!(backends.starts_with(r#"{"backends":[{"backend":"default/none:8080"}]"#), "{backends}");
        let [(ReportOutcome::NotCarried, subject, reason)] = said.as_slice() else { panic!("{said:?}") };
        assert!(subject == "default-backend" && reason.contains(why), "{said:?}");
    }
}

#[test]
fn names_that_are_served_without_must_be_known() {
    let annotations = "tollgate.dev/serve-without: 'server-snippet, server-snipet', nginx.ingress.kubernetes.io/server-snippet: x";
    let said = report(&[&ingress("i", annotations, &path("/", "Prefix"))], "i");
    let of = |subject: &str| said.iter().find(|(_, known, _)| known == subject).cloned().unwrap_or_else(|| panic!("{said:?}"));
    assert_eq!(of("server-snippet").0, ReportOutcome::NotCarried);
    let (outcome, _, reason) = of("tollgate.dev/serve-without");
    assert_eq!(
        (outcome, reason.as_str()),
        (ReportOutcome::NotCarried, "\"server-snipet\" is the name of no annotation that is known")
    );
}
