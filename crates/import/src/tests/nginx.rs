use super::{api, assert_valid, imported, imported_in, outcomes, rule, version};
use serde_json::{Value, json};
use std::fs;

const SHOP: &str = r#"
user www;
events { worker_connections 1024; }
http {
    limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;
    upstream shop {
        least_conn;
        server 10.0.0.1:8080 weight=3;
        server 10.0.0.2:8080;
        server 10.0.0.3:8080 backup;
        keepalive 16;
    }
    server {
        listen 8081 default_server;
        server_name shop.example.com *.shop.example.com;
        client_max_body_size 2m;
        location = /status { return 200 "fine"; }
        location /api/ {
            limit_req zone=one burst=20 nodelay;
            proxy_pass http://shop/v1/;
            proxy_set_header Host $host;
            proxy_set_header X-Real-IP $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_read_timeout 5s;
            add_header X-Served-By edge always;
        }
        location ~* \.(png|jpg)$ { proxy_pass http://10.0.0.9; }
        location ^~ /fixed/ { proxy_pass http://10.0.0.8:81; }
        location /admin/ { allow 10.0.0.0/8; deny all; auth_basic "x"; auth_basic_user_file users; proxy_pass http://10.0.0.7; }
        location /moved { rewrite ^/moved/(.*)$ /there/$1 break; proxy_pass http://10.0.0.6; }
        location / { proxy_pass http://shop; gzip on; }
    }
    server { listen 8081; server_name old.example.com; return 301 https://shop.example.com$request_uri; }
}
"#;

#[test]
fn locations_become_routes_with_what_holds_for_them() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("users"), "anna:{PLAIN}secret\nbert:$apr1$x$y\n").unwrap();
    let moved = imported_in(directory.path(), "nginx.conf", SHOP);
    assert_valid(&moved);
    let shop = api(&moved, "shop.example.com /api/");
    assert_eq!(
        shop["tollgate"]["upstream"]["targets"],
        json!([{"url": "http://10.0.0.1:8080", "weight": 3}, {"url": "http://10.0.0.2:8080", "weight": 1}])
    );
    assert_eq!(shop["tollgate"]["upstream"]["balance"], "least_requests");
    let rewrites = version(&shop)["extended_paths"]["url_rewrites"].as_array().unwrap();
    assert!(rewrites.iter().all(|rewrite| rewrite["rewrite_to"] == "/v1/$1"));
    assert!(rewrites.iter().any(|rewrite| rewrite["method"] == "POST"), "rewrites name their methods");
    assert_eq!(
        rule(&api(&moved, "shop.example.com /api/ without slash"))["redirect"],
        json!({"path": {"full": "/api/"}, "status": 301})
    );
    assert_eq!(version(&shop)["global_headers"], json!({"X-Real-IP": "$tyk_context.remote_addr", "X-Forwarded-Proto": "http"}));
    assert_eq!(version(&shop)["global_size_limit"], Value::Null, "the limit is that of the gateway");
    assert_eq!(version(&shop)["global_enforce_timeout"], 5);
    assert_eq!(rule(&shop)["rewrite"], Value::Null, "the client's host");
    assert_eq!(rule(&shop)["status_headers"], json!([{"headers": {"add": [{"name": "X-Served-By", "value": "edge"}]}}]));
    assert_eq!(rule(&shop)["response_rewrites"], json!({"locations": [{"from": "http://shop/v1/", "to": "/api/"}]}));
    let admin = api(&moved, "shop.example.com /admin/");
    assert_eq!(admin["allowed_ips"], json!(["10.0.0.0/8"]));
    assert_eq!(admin["use_basic_auth"], true);
    assert_eq!(moved.consumers.len(), 1, "the other hash is of another kind");
    assert_eq!(moved.consumers[0].key, "anna");
    let status = api(&moved, "shop.example.com /status");
    assert_eq!(
        version(&status)["extended_paths"]["mock_response"][0],
        json!({"path": "/.*", "code": 200, "body": "fine", "headers": {"Content-Type": "text/plain"}})
    );
    let old = api(&moved, "old.example.com");
    assert_eq!(rule(&old)["redirect"], json!({"scheme": "https", "host": "shop.example.com", "status": 301}));
    assert_eq!(old["tollgate"]["route"]["attached"][0]["hosts"], json!(["old.example.com"]));
    let settings: Value = serde_json::from_str(&moved.files.iter().find(|file| file.path == "tyk.conf").unwrap().text).unwrap();
    assert_eq!(settings["listen_port"], 8081);
    assert_eq!(settings["http_server_options"]["max_request_body_size"], 2 << 20);
    assert_eq!(
        shop["tollgate"]["request_limits"],
        json!([{"requests": 21.0, "window_s": 2.1, "by": "address", "counter": "one, burst 20"}])
    );
    assert_eq!(api(&moved, "shop.example.com /")["tollgate"]["request_limits"], Value::Null, "no limit where there was none");
    assert_eq!(outcomes(&moved, "limit_req"), ["carried"]);
    assert_eq!(outcomes(&moved, "client_max_body_size"), ["carried"]);
    assert_eq!(outcomes(&moved, "gzip"), ["carried"]);
    assert_eq!(
        api(&moved, "shop.example.com /")["tollgate"]["compression"],
        json!({"encodings": ["gzip"], "types": ["text/html"], "bytes_min": 20, "statuses": [200, 403, 404], "gzip_level": 1})
    );
    assert_eq!(shop["tollgate"]["compression"], Value::Null, "only where it is on");
    assert_eq!(outcomes(&moved, "server"), ["carried", "carried", "not", "carried", "carried"]);
}

#[test]
fn every_directive_is_reported() {
    let moved = imported("nginx.conf", SHOP);
    let text = moved.report.to_text();
    for (number, line) in SHOP.lines().enumerate() {
        // Lines that only close a block have none.
        if line.contains(';') || line.contains('{') {
            assert!(text.contains(&format!(":{}: ", number + 1)), "line {}: {line}\n{text}", number + 1);
        }
    }
}

#[test]
fn routes_come_in_the_order_of_locations() {
    let moved = imported("nginx.conf", SHOP);
    let order = |name: &str| {
        api(&moved, &format!("shop.example.com {name}"))["tollgate"]["route"]["precedence"].as_str().unwrap().to_owned()
    };
    assert!(order("/fixed/") < order("\\.(png"), "a firm prefix comes before patterns");
    assert!(order("\\.(png") < order("/admin/"), "patterns come before prefixes");
    assert!(order("/admin/") < order("/api/"), "longer prefixes come first");
    assert!(order("/api/") < order("/"));
    // Here longer expressions come first.
    let length =
        |name: &str| rule(&api(&moved, &format!("shop.example.com {name}")))["matches"][0]["path"]["regex"].as_str().unwrap().len();
    assert!(
        length("/fixed/") >= length("\\.(png") && length("\\.(png") >= length("/admin/") && length("/admin/") >= length("/api/")
    );
    assert_eq!(rule(&api(&moved, "shop.example.com /"))["matches"][0]["path"], json!({"prefix": "/"}));
}

#[test]
fn what_protects_and_is_not_carried_over_closes_its_route() {
    let directives = [
        "limit_except GET { deny all; }",
        "modsecurity on;",
        "limit_req zone=unknown;",
        "allow 10.0.0.1; deny 10.0.0.0/8; allow all;",
        "auth_request /nowhere;",
        "ssl_verify_client on;",
        "if ($cookie_x = a) { return 403; }",
        "if ($cookie_x = \"\") { return 302 /login; }",
        "limit_conn unknown 10;",
        "access_by_lua_block { if x then { } end }",
    ];
    for directive in directives {
        let text = format!(
            "server {{ listen 80; location /a {{ {directive} proxy_pass http://b; }} location / {{ proxy_pass http://b; }} }}"
        );
        let moved = imported("nginx.conf", &text);
        assert_valid(&moved);
        let closed = api(&moved, "server /a");
        assert_eq!(version(&closed)["extended_paths"]["black_list"], json!([{"path": "/.*"}]), "{directive}");
        assert_eq!(
            version(&api(&moved, "server /"))["extended_paths"]["black_list"],
            Value::Null.clone(),
            "{directive}: only this route"
        );
        assert!(moved.report.to_text().starts_with("What protects"), "{directive}");
    }
}

#[test]
fn bodies_have_a_limit_only_where_one_is_written() {
    for (directive, most) in
        [("", Value::Null), ("client_max_body_size 0;", Value::Null), ("client_max_body_size 1k;", json!(1024))]
    {
        let locations = format!("location / {{ {directive} proxy_pass http://b; }} location /b {{ proxy_pass http://b; }}");
        let moved = imported("nginx.conf", &format!("server {{ listen 80; {locations} }}"));
        let limited = api(&moved, "server /");
        assert_eq!(version(&limited)["global_size_limit"], most, "{directive}");
        let status = limited["error_overrides"]["400"][0]["response"]["status_code"].clone();
        assert_eq!(status, if most.is_null() { Value::Null } else { json!(413) }, "{directive}");
    }
}

#[test]
fn conditions_become_matches() {
    let text = "server { listen 80; location / {
        if ($request_method = OPTIONS) { add_header Access-Control-Allow-Origin *; return 204; }
        if ($http_user_agent ~* bot) { return 403; }
        proxy_pass http://b; } }";
    let moved = imported("nginx.conf", text);
    assert_valid(&moved);
    let first = api(&moved, "server / if");
    assert_eq!(rule(&first)["matches"][0]["method"], "OPTIONS");
    let allowed = json!([{"name": "Access-Control-Allow-Origin", "value": "*"}]);
    assert_eq!(rule(&first)["status_headers"][0]["headers"]["add"], allowed);
    assert_eq!(outcomes(&moved, "if"), ["carried", "carried"]);
}

#[test]
fn a_location_that_serves_files_answers_404_and_not_the_upstream_of_another() {
    let moved = imported("nginx.conf", "server { listen 80; location / { proxy_pass http://b; } location /files/ { root /srv; } }");
    assert_eq!(version(&api(&moved, "server /files/"))["extended_paths"]["mock_response"][0]["code"], 404);
}

#[test]
fn folders_from_which_no_location_serves_a_file_have_no_effect() {
    let outcome = |locations: &str| {
        let moved = imported("nginx.conf", &format!("server {{ listen 80; root /srv; index index.html; {locations} }}"));
        let found = outcomes(&moved, "root");
        assert_eq!(found, outcomes(&moved, "index"), "{locations}");
        found
    };
    let proxied = "location / { proxy_pass http://b; }";
    assert_eq!(outcome(proxied), ["built in"]);
    assert_eq!(outcome(&format!("{proxied} location /old {{ return 301 /new; }}")), ["built in"]);
    for served in [
        "location /api { proxy_pass http://b; }",
        "location = / { proxy_pass http://b; }",
        "location / { try_files $uri =404; }",
        "location / { proxy_pass http://b; location /files { expires 1d; } }",
        &format!("{proxied} location /files {{ expires 1d; }}"),
    ] {
        assert_eq!(outcome(served), ["other work"], "{served}");
    }
}

#[test]
fn checks_of_health_are_those_of_the_upstream() {
    let text = "upstream b { server b1:80; server b2:80; } server { listen 80; location / { proxy_pass http://b; \
                health_check interval=10 fails=3 passes=2 uri=/alive match=good; location /inner { proxy_pass http://b; } } }";
    let moved = imported("nginx.conf", text);
    assert_valid(&moved);
    let checks = |name: &str| api(&moved, name)["tollgate"]["upstream"]["checks"].clone();
    assert_eq!(
        (&checks("server /")["path"], &checks("server /")["interval_ms"]),
        (&json!("/alive"), &json!(10_000)),
        "{}",
        checks("server /")
    );
    assert_eq!(checks("server /inner"), Value::Null);
    assert_eq!(outcomes(&moved, "health_check"), ["approximated"]);
}

#[test]
fn included_files_are_read_with_their_places() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("conf.d")).unwrap();
    fs::write(
        directory.path().join("conf.d/a.conf"),
        "server {\n listen 80;\n server_name a.test;\n location / { proxy_pass http://a; } }",
    )
    .unwrap();
    let moved = imported_in(directory.path(), "nginx.conf", "http { include conf.d/*.conf; }");
    assert!(moved.report.to_text().contains("a.conf:4: proxy_pass: carried over"), "{}", moved.report.to_text());
}

#[test]
fn what_must_not_follow_is_written_as_what_may() {
    let text = "server { listen 80; location ~ /\\.(?!well-known) { deny all; } location / { proxy_pass http://a; } }";
    let moved = imported("nginx.conf", text);
    assert_valid(&moved);
    let pattern = rule(&api(&moved, "server /\\."))["matches"][0]["path"]["regex"].as_str().unwrap().to_owned();
    let whole = tollgate_re2::compile(&format!("^(?:{pattern})$")).unwrap();
    for (path, fits) in [
        ("/.git/config", true),
        ("/a/.env", true),
        ("/.", true),
        ("/.well", true),
        ("/.well-knowx", true),
        ("/.well-known/acme", false),
        ("/.well-known", false),
        ("/.well-known/.git", true),
        ("/a.b", false),
    ] {
        assert_eq!(whole.is_match(path), fits, "{path}");
    }
}

#[test]
fn answers_of_nginx_itself_have_their_type_and_lines() {
    let text = "server { listen 80; location = /a { default_type application/json; return 200 '{}\\n'; } location = /b { return 404 b; } location /c { expires 1h; proxy_pass http://a; } }";
    let moved = imported("nginx.conf", text);
    let answer = |name: &str| version(&api(&moved, name))["extended_paths"]["mock_response"][0].clone();
    assert_eq!(answer("server /a")["body"], "{}\n");
    assert_eq!(answer("server /a")["headers"], json!({"Content-Type": "application/json"}));
    assert_eq!(answer("server /b")["headers"], json!({"Content-Type": "text/plain"}));
    let set = json!([{"name": "Cache-Control", "value": "max-age=3600"}]);
    assert_eq!(rule(&api(&moved, "server /c"))["status_headers"][0]["headers"]["set"], set);
}

#[test]
fn headers_are_for_the_statuses_of_nginx_and_for_its_own_answers() {
    let text =
        "server { listen 80; server_name a.test; add_header X-All 1 always; location / { proxy_pass http://b; expires epoch; }
        location /moved { return 301 https://b.test/; } location /gone { return 410 gone; } location /files { root /srv; }
        location /own { add_header X-Own $server_name; add_header X-Addr $upstream_addr; proxy_pass http://b; } }";
    let moved = imported("nginx.conf", text);
    assert_valid(&moved);
    let headers = |name: &str| rule(&api(&moved, name))["status_headers"].clone();
    let always = json!([{"headers": {"add": [{"name": "X-All", "value": "1"}]}}]);
    let with_headers = json!([200, 201, 204, 206, 301, 302, 303, 304, 307, 308]);
    let set =
        json!([{"name": "Expires", "value": "Thu, 01 Jan 1970 00:00:01 GMT"}, {"name": "Cache-Control", "value": "no-cache"}]);
    assert_eq!(headers("a.test /"), json!([{"statuses": with_headers, "headers": {"set": set}}, always[0]]));
    assert_eq!((headers("a.test /moved"), headers("a.test /gone")), (always.clone(), always));
    assert_eq!(
        headers("a.test /own"),
        json!([{"statuses": with_headers, "headers": {"add": [{"name": "X-Own", "value": "a.test"}]}}])
    );
    // One item for each directive, however many locations have it.
    assert_eq!(outcomes(&moved, "add_header"), ["carried", "carried", "not"]);
    assert_eq!(outcomes(&moved, "expires"), ["carried"]);
}

#[test]
fn locations_and_cookies_of_upstreams_are_those_of_clients() {
    let rewrites = |directives: &str| {
        let text = format!("server {{ listen 80; location /app/ {{ proxy_pass http://b/v1/; {directives} }} }}");
        let moved = imported("nginx.conf", &text);
        assert_valid(&moved);
        (rule(&api(&moved, "server /app/"))["response_rewrites"].clone(), moved)
    };
    let own = json!([{"from": "http://b/v1/", "to": "/app/"}]);
    assert_eq!(rewrites("").0, json!({"locations": own}));
    assert_eq!(rewrites("proxy_redirect off;").0, Value::Null);
    assert_eq!(rewrites("proxy_redirect http://c/ /c/;").0, json!({"locations": [{"from": "http://c/", "to": "/c/"}]}));
    let (cookies, moved) = rewrites("proxy_cookie_path / /app/; proxy_cookie_domain b a.test;");
    let expected = json!({
        "locations": own, "cookie_paths": [{"from": "/", "to": "/app/"}], "cookie_domains": [{"from": "b", "to": "a.test"}],
    });
    assert_eq!(cookies, expected);
    assert_eq!(
        (outcomes(&moved, "proxy_cookie_path"), outcomes(&moved, "proxy_cookie_domain")),
        (vec!["carried"], vec!["carried"])
    );
    let (left, moved) = rewrites("proxy_cookie_path ~^/x /y;");
    assert_eq!((left, outcomes(&moved, "proxy_cookie_path")), (json!({"locations": own}), vec!["not"]));
}

#[test]
fn a_time_that_is_the_same_everywhere_is_that_of_the_gateway() {
    let settings = |text: &str| {
        let moved = imported("nginx.conf", text);
        let written = moved.files.iter().find(|file| file.path == "tyk.conf").unwrap();
        (serde_json::from_str::<Value>(&written.text).unwrap()["tollgate"]["timeouts"].clone(), moved)
    };
    let one = "http { keepalive_timeout 30s; proxy_connect_timeout 5s; server { listen 80; location / { proxy_pass http://b; } } }";
    let (times, moved) = settings(one);
    assert_eq!(times, json!({"client_idle_ms": 30_000, "upstream_connect_ms": 5_000}));
    assert_eq!(
        (outcomes(&moved, "keepalive_timeout"), outcomes(&moved, "proxy_connect_timeout")),
        (vec!["carried"], vec!["carried"])
    );
    // The other location has the default of a minute.
    let two =
        "server { listen 80; location /a { proxy_connect_timeout 5s; proxy_pass http://b; } location / { proxy_pass http://c; } }";
    let (times, moved) = settings(two);
    assert_eq!((times, outcomes(&moved, "proxy_connect_timeout")), (json!({"upstream_connect_ms": 60_000}), vec!["approximated"]));
}

#[test]
fn over_a_limit_clients_get_the_status_of_nginx() {
    let status = |directive: &str| {
        let text = format!(
            "http {{ limit_req_zone $binary_remote_addr zone=z:1m rate=1r/s; server {{ listen 80; {directive} \
             location / {{ limit_req zone=z; proxy_pass http://b; }} }} }}"
        );
        let moved = imported("nginx.conf", &text);
        assert_valid(&moved);
        api(&moved, "server /")["error_overrides"]["429"][0]["response"]["status_code"].clone()
    };
    assert_eq!(
        (status(""), status("limit_req_status 429;"), status("limit_req_status 420;")),
        (json!(503), Value::Null, json!(420))
    );
    assert_eq!(status("limit_req_status 444;"), 403, "in place of a closed connection");
}

#[test]
fn settings_without_an_effect_for_anybody_are_told_apart_from_those_that_are_lost() {
    let text = "worker_processes 4; http { sendfile on; server_tokens off; gzip on; ssl_protocols TLSv1.2 TLSv1.3; include mime.types; \
                server { listen 80; location / { proxy_http_version 1.1; proxy_cache_bypass $http_upgrade; proxy_pass http://b; } \
                location /php { fastcgi_pass b:9000; } } server { listen 81; server_tokens on; ssl_protocols TLSv1 TLSv1.2; \
                location / { proxy_http_version 1.0; proxy_pass http://b; } } }";
    let moved = imported("nginx.conf", text);
    let of = |name: &str| outcomes(&moved, name);
    assert_eq!(
        (of("worker_processes"), of("sendfile"), of("proxy_cache_bypass")),
        (vec!["built in"], vec!["built in"], vec!["built in"])
    );
    for name in ["server_tokens", "ssl_protocols", "proxy_http_version"] {
        assert_eq!(of(name), ["built in", "approximated"], "{name}");
    }
    assert_eq!((of("gzip"), of("include"), of("fastcgi_pass")), (vec!["carried"], vec!["other work"], vec!["other work"]));
    let counts = moved.report.counts();
    assert_eq!((counts.other_work, counts.not_carried), (2, 0));
    let text = moved.report.to_text();
    assert!(text.contains("of those that a gateway can have"), "{text}");
}

/// The compression of the route `/a` of a server with these directives, and what becomes of them.
fn compression(http: &str, location: &str) -> (Value, super::Imported) {
    let text = format!("http {{ {http} server {{ listen 80; location /a {{ {location} proxy_pass http://b; }} }} }}");
    let moved = imported("nginx.conf", &text);
    (api(&moved, "server /a")["tollgate"]["compression"].clone(), moved)
}

#[test]
fn compression_is_inherited_setting_by_setting() {
    let http = "gzip on; gzip_types text/css application/json text/event-stream; gzip_min_length 1k; gzip_comp_level 5; gzip_vary on; \
                gzip_proxied any; gzip_http_version 1.1; gzip_buffers 16 8k; gzip_disable msie6; gzip_static on;";
    let (here, moved) = compression(http, "");
    let all = json!({"encodings": ["gzip"], "types": ["text/html", "text/css", "application/json"], "event_streams": true,
        "bytes_min": 1024, "statuses": [200, 403, 404], "gzip_level": 5});
    assert_eq!(here, all);
    for (name, outcome) in [
        ("gzip", "carried"),
        ("gzip_types", "carried"),
        ("gzip_min_length", "carried"),
        ("gzip_comp_level", "carried"),
        ("gzip_vary", "built in"),
        ("gzip_proxied", "built in"),
        ("gzip_http_version", "built in"),
        ("gzip_buffers", "built in"),
        ("gzip_disable", "approximated"),
        ("gzip_static", "other work"),
    ] {
        assert_eq!(outcomes(&moved, name), [outcome], "{name}");
    }
    assert_eq!(compression(http, "gzip off;").0, Value::Null);
    let (here, moved) = compression(http, "gzip_comp_level 9; gzip_types *; gzip_proxied expired no-cache; gzip_vary off;");
    assert_eq!((&here["gzip_level"], &here["types"]), (&json!(6), &json!(["text/html", "*"])));
    assert_eq!(here["bytes_min"], 1024);
    for name in ["gzip_comp_level", "gzip_proxied", "gzip_vary"] {
        assert_eq!(outcomes(&moved, name)[1], "approximated", "{name}");
    }
}

#[test]
fn brotli_comes_before_gzip() {
    let (here, _) = compression("gzip on; brotli on; brotli_types text/css; brotli_min_length 256;", "");
    let all = json!({"encodings": ["br", "gzip"], "types": ["text/html", "text/css"], "bytes_min": 20, "statuses": [200, 403, 404],
        "gzip_level": 1, "brotli_level": 4});
    assert_eq!(here, all);
}

#[test]
fn settings_of_a_compression_that_is_nowhere_on_mean_nothing() {
    let (here, moved) = compression("gzip off; gzip_types text/css;", "");
    assert_eq!(here, Value::Null);
    assert_eq!((outcomes(&moved, "gzip"), outcomes(&moved, "gzip_types")), (vec!["built in"], vec!["built in"]));
}

#[test]
fn a_minute_of_silence_is_the_gateways_own() {
    let of = |text: &str| {
        imported("nginx.conf", &format!("http {{ server {{ listen 80; location / {{ {text} proxy_pass http://b; }} }} }}"))
    };
    let minute = of("proxy_read_timeout 60s; proxy_send_timeout 1m;");
    assert_eq!(
        (outcomes(&minute, "proxy_read_timeout"), outcomes(&minute, "proxy_send_timeout")),
        (vec!["carried"], vec!["built in"])
    );
    let other = of("proxy_read_timeout 90s; proxy_send_timeout 5s;");
    assert_eq!(
        (outcomes(&other, "proxy_read_timeout"), outcomes(&other, "proxy_send_timeout")),
        (vec!["approximated"], vec!["approximated"])
    );
}
