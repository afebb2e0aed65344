use super::{api, assert_valid, imported, outcomes, rule, version};
use serde_json::{Value, json};

#[test]
fn frontends_of_haproxy_choose_backends_by_conditions() {
    let text = "global\n  maxconn 100\ndefaults\n  mode http\n  timeout server 5s\nfrontend web\n  bind :8082\n  acl is_api path_beg /api\n  acl inside src 10.0.0.0/8\n  http-request deny if !inside\n  http-request set-header X-A b\n  use_backend api if is_api\n  default_backend rest\nbackend api\n  balance leastconn\n  option httpchk GET /health\n  server a 10.0.0.1:80 check\n  server b 10.0.0.2:80 check weight 2\nbackend rest\n  server c 10.0.0.3:80\n";
    let moved = imported("haproxy.cfg", text);
    assert_valid(&moved);
    let first = api(&moved, "web api");
    assert_eq!(rule(&first)["matches"], json!([{"path": {"regex": "/api.*"}}]));
    assert_eq!(first["tollgate"]["upstream"]["checks"]["path"], "/health");
    assert_eq!(first["allowed_ips"], json!(["10.0.0.0/8"]));
    assert_eq!(version(&first)["global_headers"], json!({"X-A": "b"}));
    assert_eq!(api(&moved, "web rest")["proxy"]["target_url"], "http://10.0.0.3:80");
}

#[test]
fn requests_of_a_backend_whose_condition_is_left_out_reach_no_other() {
    let text = "frontend web\n  bind :8082\n  use_backend first if { path_beg /first }\n  use_backend guarded if { req.body_len gt 5 }\n  use_backend second if { path_beg /second }\n  default_backend rest\nbackend first\n  server a a:80\nbackend guarded\n  server b b:80\nbackend second\n  server c c:80\nbackend rest\n  server d d:80\n";
    let moved = imported("haproxy.cfg", text);
    assert_valid(&moved);
    let closed = |name: &str| version(&api(&moved, name))["extended_paths"].get("black_list").is_some();
    assert!(!closed("web first"), "it comes before");
    assert!(closed("web second") && closed("web rest"));
}

#[test]
fn addresses_must_be_in_all_lists() {
    let text = "http:\n  routers:\n    shop: {rule: \"Path(`/`)\", service: b, middlewares: [wide, narrow]}\n    none: {rule: \"Path(`/n`)\", service: b, middlewares: [narrow, other]}\n  middlewares:\n    wide: {ipAllowList: {sourceRange: [10.0.0.0/8, 192.168.0.1]}}\n    narrow: {ipAllowList: {sourceRange: [10.1.0.0/16, 172.16.0.1]}}\n    other: {ipAllowList: {sourceRange: [11.0.0.0/8]}}\n  services:\n    b: {loadBalancer: {servers: [{url: 'http://c'}]}}\n";
    let moved = imported("dynamic.yml", text);
    assert_eq!(api(&moved, "shop")["allowed_ips"], json!(["10.1.0.0/16"]));
    assert_eq!(version(&api(&moved, "none"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]));
}

#[test]
fn rates_of_traefik_are_of_addresses_and_their_period() {
    let text = "http:\n  routers:\n    a: {rule: \"Path(`/`)\", service: b, middlewares: [slow]}\n  middlewares:\n    slow: {rateLimit: {average: 6, period: 1m, burst: 3}}\n  services:\n    b: {loadBalancer: {servers: [{url: 'http://c'}]}}\n";
    let limits = api(&imported("dynamic.yml", text), "a")["tollgate"]["request_limits"].clone();
    assert_eq!((limits[0]["requests"].as_f64(), limits[0]["window_s"].as_f64()), (Some(3.0), Some(30.0)));
}

#[test]
fn routers_of_traefik_have_rules_and_middlewares() {
    let text = "http:\n  routers:\n    shop:\n      rule: \"Host(`shop.test`) && (PathPrefix(`/a`) || PathPrefix(`/b`))\"\n      service: shop\n      middlewares: [strip, users@file]\n  middlewares:\n    strip: {stripPrefix: {prefixes: [/a]}}\n    users: {basicAuth: {users: ['anna:$2y$05$abcdefghijklmnopqrstuuxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx']}}\n  services:\n    shop: {loadBalancer: {servers: [{url: 'http://10.0.0.1:80'}]}}\n";
    let moved = imported("dynamic.yml", text);
    assert_valid(&moved);
    let shop = api(&moved, "shop");
    assert_eq!(shop["tollgate"]["route"]["attached"][0]["hosts"], json!(["shop.test"]));
    assert_eq!(shop["use_basic_auth"], true);
    assert_eq!(moved.consumers[0].session["basic_auth_data"]["hash_type"], "bcrypt");
    let toml = "[http.routers.a]\nrule = \"Path(`/x`)\"\nservice = \"b\"\n[[http.services.b.loadBalancer.servers]]\nurl = \"http://c:1\"\n";
    assert_eq!(api(&imported("dynamic.toml", toml), "a")["proxy"]["target_url"], "http://c:1");
}

#[test]
fn a_middleware_that_is_elsewhere_closes_the_router() {
    let text = "http:\n  routers:\n    a: {rule: \"Path(`/`)\", service: b, middlewares: [guard@docker]}\n  services:\n    b: {loadBalancer: {servers: [{url: 'http://c'}]}}\n";
    let moved = imported("dynamic.yml", text);
    assert_eq!(version(&api(&moved, "a"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]));
}

#[test]
fn sites_of_caddy_have_routes_by_path() {
    let text = "{\n  admin off\n}\napi.test:8083 {\n  header X-A b\n  handle_path /api/* {\n    reverse_proxy 10.0.0.1:80 10.0.0.2:80\n  }\n  respond /status 204\n  reverse_proxy localhost:9000\n}\nold.test {\n  redir https://api.test{uri} permanent\n}\n";
    let moved = imported("Caddyfile", text);
    assert_valid(&moved);
    let below = api(&moved, "api.test:8083 /api/*");
    assert_eq!(below["tollgate"]["upstream"]["targets"].as_array().unwrap().len(), 2);
    assert_eq!(version(&below)["extended_paths"]["url_rewrites"][0]["rewrite_to"], "/$1");
    assert_eq!(rule(&api(&moved, "old.test"))["redirect"], json!({"location": "https://api.test{uri}", "status": 301}));
}

#[test]
fn what_may_protect_closes_a_site_of_caddy() {
    let moved = imported("Caddyfile", "a.test {\n  authorize with policy\n  reverse_proxy b:1\n}\n");
    assert_eq!(version(&api(&moved, "a.test"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]));
}

#[test]
fn no_request_has_two_methods() {
    let text = "frontend web\n  bind :8082\n  acl get method GET\n  acl put method PUT\n  http-request deny if get put\n  use_backend a if get put\n  use_backend b if get !{ ssl_fc }\n  default_backend c\nbackend a\n  server a a:80\nbackend b\n  server b b:80\nbackend c\n  server c c:80\n";
    let moved = imported("haproxy.cfg", text);
    assert_valid(&moved);
    let names: Vec<String> = moved.files.iter().map(|file| file.path.clone()).filter(|path| path.starts_with("apis/")).collect();
    assert_eq!(names, ["apis/web-b.json", "apis/web-c.json"]);
    assert_eq!(rule(&api(&moved, "web b"))["matches"][0]["method"], "GET");
    let text = "http:\n  routers:\n    none: {rule: \"Method(`GET`) && Method(`PUT`)\", service: b}\n    some: {rule: \"Method(`GET`) && Method(`GET`)\", service: b}\n  services:\n    b: {loadBalancer: {servers: [{url: 'http://c'}]}}\n";
    let moved = imported("dynamic.yml", text);
    let names: Vec<&str> = moved.files.iter().map(|file| file.path.as_str()).filter(|path| path.starts_with("apis/")).collect();
    assert_eq!(names, ["apis/some.json"]);
    let text = "server { listen 80; location / { proxy_pass http://a; if ($request_method = PUT) { return 405; } } }";
    let moved = imported("nginx.conf", text);
    assert_eq!(rule(&api(&moved, "server / if"))["matches"][0]["method"], "PUT");
}

#[test]
fn addresses_of_two_conditions_are_not_added_up() {
    let text = "frontend web\n  bind :8082\n  acl wide src 10.0.0.0/8\n  acl narrow src 10.1.0.0/16\n  use_backend a if wide narrow\n  default_backend c\nbackend a\n  server a a:80\nbackend c\n  server c c:80\n";
    let moved = imported("haproxy.cfg", text);
    assert!(moved.report.is_less_protected(), "{}", moved.report.to_text());
}

#[test]
fn snippets_and_matchers_of_caddy_are_in_their_places() {
    let text = "(headers) {\n  header X-From {args[0]}\n}\na.test {\n  import headers \"a snippet\"\n  @reads {\n    method GET HEAD\n    path /data/*\n  }\n  @inside remote_ip 10.0.0.0/8\n  respond @reads \"read\" 200\n  handle /only/* {\n    reverse_proxy @inside b:1\n  }\n  reverse_proxy c:1\n}\n";
    let moved = imported("Caddyfile", text);
    assert_valid(&moved);
    let reads = api(&moved, "a.test @reads");
    let matches = rule(&reads)["matches"].clone();
    assert_eq!(matches.as_array().unwrap().len(), 2, "{matches}");
    assert_eq!(version(&reads)["global_response_headers"], json!({"X-From": "a snippet"}));
    assert_eq!(api(&moved, "a.test /only/* @inside")["allowed_ips"], json!(["10.0.0.0/8"]));
    assert_eq!(api(&moved, "a.test")["proxy"]["target_url"], "http://c:1");
    assert!(moved.report.to_text().contains("stricter: other addresses are refused"), "{}", moved.report.to_text());
}

#[test]
fn users_of_caddy_may_call_their_site_alone() {
    let hash = "$2a$14$abcdefghijklmnopqrstuuxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    let text = format!(
        "a.test {{\n  basic_auth {{\n    anna {hash}\n  }}\n  reverse_proxy b:1\n}}\nb.test {{\n  basic_auth {{\n    bert {hash}\n  }}\n  reverse_proxy b:1\n}}\n"
    );
    let moved = imported("Caddyfile", &text);
    assert_valid(&moved);
    let rights =
        |index: usize| moved.consumers[index].session["access_rights"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((rights(0), rights(1)), (vec!["a-test".to_owned()], vec!["b-test".to_owned()]));
}

#[test]
fn backslashes_of_haproxy_stay_before_what_they_do_not_escape() {
    let text = "frontend web\n  bind :8082\n  acl img path_reg \\.png$\n  use_backend a if img\n  default_backend b\nbackend a\n  http-request replace-path /v1/(.*) /\\1\n  server a a:80\nbackend b\n  http-request return status 404 content-type text/plain string \"no \\\"such\\\" host\"\n";
    let moved = imported("haproxy.cfg", text);
    assert_valid(&moved);
    let images = api(&moved, "web a");
    assert_eq!(rule(&images)["matches"][0]["path"]["regex"], ".*(?:\\.png$).*");
    let rewrite = version(&images)["extended_paths"]["url_rewrites"][0].clone();
    assert!(rewrite["rewrite_to"].as_str().unwrap().starts_with("/$1"), "{rewrite}");
    let answer = version(&api(&moved, "web b"))["extended_paths"]["mock_response"][0].clone();
    assert_eq!((&answer["code"], &answer["body"]), (&json!(404), &json!("no \"such\" host")));
}

#[test]
fn locations_stay_as_they_are_written() {
    let text = "frontend web\n  bind :8082\n  http-request redirect code 301 location /new if { path /old }\n  redirect prefix https://b.test code 302 if { path_beg /b/ }\n  default_backend a\nbackend a\n  server a a:80\n";
    let moved = imported("haproxy.cfg", text);
    let found = |name: &str| rule(&api(&moved, name))["redirect"].clone();
    assert_eq!(found("http-request redirect"), json!({"location": "/new", "status": 301}));
    assert_eq!(found("redirect redirect"), json!({"location": "https://b.test{uri}", "status": 302}));
}

/// What the first definition compresses, and what becomes of the items with this name.
fn compression(file: &str, text: &str, name: &str) -> (Value, Vec<&'static str>) {
    let moved = imported(file, text);
    assert_valid(&moved);
    let first = moved.files.iter().find(|file| file.path.starts_with("apis/")).expect("a definition");
    let api: Value = serde_json::from_str(&first.text).unwrap();
    (api["tollgate"]["compression"].clone(), outcomes(&moved, name))
}

#[test]
fn caddys_encode_is_compression() {
    let site = |encode: &str| format!(":80 {{\n{encode}\nreverse_proxy a:1\n}}\n");
    let (gzip, outcome) = compression("Caddyfile", &site("encode gzip"), "encode");
    assert_eq!((&gzip["encodings"], &gzip["bytes_min"], &gzip["gzip_level"]), (&json!(["gzip"]), &json!(512), &json!(5)));
    assert_eq!((outcome, &gzip["event_streams"]), (vec!["carried"], &json!(true)));
    let (both, outcome) = compression("Caddyfile", &site("encode zstd gzip"), "encode");
    assert_eq!((both, outcome), (gzip.clone(), vec!["approximated"]));
    let (usual, outcome) = compression("Caddyfile", &site("encode"), "encode");
    assert_eq!((usual, outcome), (gzip, vec!["approximated"]));
    let block = "encode {\ngzip 6\nminimum_length 1kib\nmatch {\nheader Content-Type text/html*\nheader Content-Type application/json\nstatus 200\n}\n}";
    let (own, outcome) = compression("Caddyfile", &site(block), "encode");
    let all = json!({"encodings": ["gzip"], "types": ["text/html*", "application/json"], "bytes_min": 1024, "statuses": [200], "gzip_level": 6});
    assert_eq!((own, outcome), (all, vec!["carried"]));
    let (_, outcome) = compression("Caddyfile", &site("encode {\ngzip 9\n}"), "encode.gzip");
    assert_eq!(outcome, ["approximated"]);
    assert_eq!(compression("Caddyfile", &site("encode /a* gzip"), "encode"), (Value::Null, vec!["not"]));
}

#[test]
fn traefiks_compress_is_compression() {
    let file = |options: &str| {
        format!(
            "http:\n  routers:\n    r:\n      rule: PathPrefix(`/`)\n      service: s\n      middlewares: [c]\n  services:\n    s: {{loadBalancer: {{servers: [{{url: 'http://a:1'}}]}}}}\n  middlewares:\n    c: {{compress: {options}}}\n"
        )
    };
    let of = |options: &str| compression("a.yaml", &file(options), "http.middlewares.compress");
    let usual = json!({"encodings": ["gzip", "br"], "types": ["*"], "bytes_min": 1024, "event_streams": true});
    assert_eq!(of("{}"), (usual, vec!["carried"]));
    let own = json!({"encodings": ["br"], "types": ["text/html"], "bytes_min": 9});
    assert_eq!(of("{encodings: [br], includedContentTypes: [text/html], minResponseBodyBytes: 9}"), (own, vec!["carried"]));
    let (some, outcome) = of("{encodings: [zstd, gzip], excludedContentTypes: [image/png]}");
    assert_eq!((some, outcome), (json!({"encodings": ["gzip"], "bytes_min": 1024}), vec!["approximated"]));
    let (without_events, outcome) = of("{excludedContentTypes: [text/event-stream]}");
    assert_eq!(
        (&without_events["types"], &without_events["event_streams"], outcome),
        (&json!(["*"]), &Value::Null, vec!["carried"])
    );
}

#[test]
fn haproxys_compression_holds_for_a_frontend_a_backend_or_all() {
    let of = |defaults: &str, front: &str, back: &str, name: &str| {
        let text = format!(
            "defaults\n  mode http\n{defaults}frontend f\n  bind :80\n{front}  default_backend b\nbackend b\n{back}  server s 10.0.0.1:1\n"
        );
        compression("haproxy.cfg", &text, name)
    };
    let algo = "  compression algo gzip\n  compression type text/html text/plain\n";
    let all = json!({"encodings": ["gzip"], "types": ["text/html", "text/plain"], "bytes_min": 1, "statuses": [200, 201, 202, 203], "gzip_level": 1});
    assert_eq!(of(algo, "", "", "compression algo"), (all.clone(), vec!["carried"]));
    assert_eq!(of("", algo, "", "compression type"), (all.clone(), vec!["carried"]));
    assert_eq!(of("", "", algo, "compression algo"), (all, vec!["carried"]));
    let (any, outcome) = of("", "  compression algo deflate gzip\n  compression minsize-res 100\n", "", "compression algo");
    assert_eq!((&any["types"], &any["bytes_min"], outcome), (&json!(["*"]), &json!(100), vec!["approximated"]));
    assert_eq!(of("", "  compression algo raw-deflate\n", "", "compression algo"), (Value::Null, vec!["not"]));
    assert_eq!(of("", "", "", "compression algo"), (Value::Null, vec![]));
}
