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
    assert_eq!(version(&shop)["global_size_limit"], 2 << 20);
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
    assert_eq!(
        shop["tollgate"]["request_limits"],
        json!([{"requests": 21.0, "window_s": 2.1, "by": "address", "counter": "one, burst 20"}])
    );
    assert_eq!(api(&moved, "shop.example.com /")["tollgate"]["request_limits"], Value::Null, "no limit where there was none");
    assert_eq!(outcomes(&moved, "limit_req"), ["carried"]);
    assert_eq!(outcomes(&moved, "client_max_body_size"), ["approximated"]);
    assert_eq!(outcomes(&moved, "gzip"), ["not"]);
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
        let moved = imported("nginx.conf", &format!("server {{ listen 80; {directive} location / {{ proxy_pass http://b; }} }}"));
        assert_eq!(version(&api(&moved, "server /"))["global_size_limit"], most, "{directive}");
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
    assert_eq!(outcome(proxied), ["approximated"]);
    assert_eq!(outcome(&format!("{proxied} location /old {{ return 301 /new; }}")), ["approximated"]);
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
