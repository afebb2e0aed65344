use super::{BASE, conditions, documents};

fn rule_of(kind: &str, rule: &str) -> String {
    let route =
        format!("kind: {kind}\nmetadata: {{name: r, namespace: default}}\nspec:\n  parentRefs: [{{name: gw}}]\n  rules: [{rule}]");
    let documents = documents(&[BASE, &route]);
    documents.lines().find_map(|line| line.strip_prefix("  {")).map(|rule| format!("{{{rule}")).unwrap_or(documents)
}

const ECHO: &str = "backendRefs: [{name: echo, port: 8080}]";

#[test]
fn rules_of_http_become_rules_of_the_document() {
    let to = r#""backends":[{"backend":"default/echo:8080","weight":1}]"#;
    let cases = [
        (
            "{name: reads, matches: [{path: {type: Exact, value: /a}, method: GET, headers: [{name: V, value: one}, {name: v, value: two}], queryParams: [{name: q, type: RegularExpression, value: 'x.*'}]}, {path: {value: /b}}], BACKENDS}",
            format!(r#"{{"name":"reads","matches":[{{"path":{{"exact":"/a"}},"method":"GET","headers":[{{"name":"V","exact":"one"}}],"query":[{{"name":"q","regex":"x.*"}}]}},{{"path":{{"prefix":"/b"}}}}],{to}}}"#),
        ),
        (
            "{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: b}], remove: [c]}}, {type: URLRewrite, urlRewrite: {hostname: h, path: {type: ReplacePrefixMatch, replacePrefixMatch: /p}}}], BACKENDS}",
            format!(r#"{{"matches":[],"request_headers":{{"set":[{{"name":"a","value":"b"}}],"add":[],"remove":["c"]}},"rewrite":{{"host":"h","path":{{"prefix":"/p"}}}},{to}}}"#),
        ),
        (
            "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, port: 8443, statusCode: 308, path: {type: ReplaceFullPath, replaceFullPath: /f}}}]}",
            r#"{"matches":[],"redirect":{"scheme":"https","port":8443,"status":308,"path":{"full":"/f"}},"backends":[]}"#.to_owned(),
        ),
        (
            "{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: echo, port: 8080}, percent: 20}}, {type: RequestMirror, requestMirror: {backendRef: {name: echo, port: 8080}, fraction: {numerator: 1, denominator: 3}}}], BACKENDS}",
            format!(r#"{{"matches":[],"mirrors":[{{"backend":"default/echo:8080","numerator":20,"denominator":100}},{{"backend":"default/echo:8080","numerator":1,"denominator":3}}],{to}}}"#),
        ),
        (
            "{timeouts: {request: 1s, backendRequest: 500ms}, retry: {codes: [500], attempts: 3, backoff: 100ms}, BACKENDS}",
            format!(r#"{{"matches":[],"timeouts":{{"request_ms":1000,"backend_request_ms":500}},"retries":{{"attempts":3,"statuses":[500],"backoff_ms":100}},{to}}}"#),
        ),
        (
            "{filters: [{type: CORS, cors: {allowOrigins: ['https://a.test'], allowCredentials: true, maxAge: 10}}], BACKENDS}",
            format!(r#"{{"matches":[],"cors":{{"allow_origins":["https://a.test"],"allow_methods":[],"allow_headers":[],"expose_headers":[],"allow_credentials":true,"max_age_s":10}},{to}}}"#),
        ),
        (
            "{backendRefs: [{name: echo, port: 8080, weight: 3, filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {add: [{name: a, value: b}]}}]}, {name: nope, port: 1, weight: 0}]}",
            r#"{"matches":[],"backends":[{"response_headers":{"set":[],"add":[{"name":"a","value":"b"}],"remove":[]},"backend":"default/echo:8080","weight":3},{"backend":"invalid:default/nope:1","weight":0}]}"#.to_owned(),
        ),
        // Requests are refused: there is no such filter, and they must not go on without it.
        ("{filters: [{type: ExtensionRef, extensionRef: {group: a, kind: B, name: c}}], BACKENDS}", r#"{"matches":[]}"#.to_owned()),
    ];
    for (rule, expected) in cases {
        assert_eq!(rule_of("HTTPRoute", &rule.replace("BACKENDS", ECHO)), expected, "{rule}");
    }
}

#[test]
fn methods_of_grpc_become_paths() {
    let cases = [
        ("{service: a.B, method: C}", r#"{"path":{"exact":"/a.B/C"}}"#),
        ("{service: a.B}", r#"{"path":{"prefix":"/a.B/"}}"#),
        ("{method: C}", r#"{"path":{"regex":"/[^/]+/C"}}"#),
        ("{type: RegularExpression, service: 'a|b', method: 'C.*'}", r#"{"path":{"regex":"/(?:a|b)/(?:C.*)"}}"#),
    ];
    for (method, expected) in cases {
        let rule = rule_of("GRPCRoute", &format!("{{matches: [{{method: {method}}}], {ECHO}}}"));
        assert!(rule.starts_with(&format!(r#"{{"matches":[{expected}],"#)), "{method}: {rule}");
    }
}

#[test]
fn a_rule_that_can_not_act_is_left_out() {
    let odd = "{filters: [{type: Odd}], BACKENDS}".replace("BACKENDS", ECHO);
    let both = format!("{odd}, {{{ECHO}}}");
    let cases = [
        (odd.as_str(), "-Accepted:UnsupportedValue +ResolvedRefs", 0),
        (both.as_str(), "+Accepted +ResolvedRefs +PartiallyInvalid:UnsupportedValue", 1),
    ];
    for (rules, expected, routes) in cases {
        let route = format!(
            "kind: HTTPRoute\nmetadata: {{name: r, namespace: default}}\nspec:\n  parentRefs: [{{name: gw}}]\n  rules: [{rules}]"
        );
        let conditions = conditions(&[BASE, &route]);
        assert!(conditions.ends_with(&format!("  gw {expected}\n")), "{conditions}");
        assert!(conditions.contains(&format!("  http routes={routes} ")), "{conditions}");
        assert_eq!(documents(&[BASE, &route]).contains("k8s-httproute-default.r"), routes == 1);
    }
}

#[test]
fn connections_have_one_rule() {
    let gateway = "kind: Gateway\nmetadata: {name: gw, namespace: default}\nspec: {gatewayClassName: tollgate, listeners: [{name: tcp, port: 80, protocol: TCP}]}";
    let route = format!(
        "kind: TCPRoute\nmetadata: {{name: r, namespace: default}}\nspec: {{parentRefs: [{{name: gw}}], rules: [{{{ECHO}}}, {{{ECHO}}}]}}"
    );
    let documents = documents(&[BASE, gateway, &route]);
    let to = r#"{"backends":[{"backend":"default/echo:8080/tcp","weight":1}]}"#;
    assert!(
        documents.contains(&format!("k8s-tcproute-default.r stream /default/r\n  at default/gw/tcp []\n  {to}\nbackend ")),
        "{documents}"
    );
    assert!(conditions(&[BASE, gateway, &route]).ends_with("  gw +Accepted +ResolvedRefs +PartiallyInvalid:UnsupportedValue\n"));
}
