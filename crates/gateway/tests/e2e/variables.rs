//! Variables in values: secrets, the key's metadata, the key itself, its limits, and pieces of the request.

use serde_json::json;

use crate::harness::{Setup, Upstream, api};

const CONF_SECRET: &str = "of-the-configuration";
const ENV_SECRET: &str = "of-the-environment";
const FILE_SECRET: &str = "of-a-file";

#[test]
fn secrets_stand_in_headers_and_rewrites() {
    let upstream = Upstream::ok();
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("token"), format!("{FILE_SECRET}\n")).unwrap();
    let values = json!({
        "X-Conf": "Bearer $secret_conf.token",
        "X-Env": "<$secret_env.upstream_token>",
        "X-File": "$secret_file.token",
        "X-None": "<$secret_conf.none$secret_env.none$secret_vault.a/b$secret_consul.a>",
        "X-Other": "$secret_conf"
    });
    let definition = api("a", "/a/", &upstream.url())
        .version("global_headers", values.clone())
        .version("global_response_headers", json!({"X-Back": "$secret_conf.public"}))
        .list("transform_headers", json!([{"path": "/p", "method": "GET", "add_headers": {"X-Path": "$secret_conf.token"}}]))
        .list("transform_response_headers", json!([{"path": "/p", "method": "GET", "add_headers": {"X-Path": "$secret_conf.public"}}]))
        .list(
            "url_rewrites",
            json!([{
                "path": "/p", "method": "GET", "match_pattern": "/p", "rewrite_to": "/q?key=$secret_conf.token",
                "triggers": [{"on": "any", "options": {"query_val_matches": {"t": {"match_rx": ".*"}}}, "rewrite_to": "/t/$secret_env.UPSTREAM_TOKEN"}]
            }]),
        );
    let conf = json!({"secrets": {"token": CONF_SECRET, "public": "p"}, "file": {"base_path": files.path()}});
    let gateway = Setup::new(conf).env("TYK_SECRET_UPSTREAM_TOKEN", ENV_SECRET).api(definition).start();

    let response = gateway.get("/a/other");
    assert_eq!((response.status, response.header("x-back")), (200, Some("p")));
    let seen = upstream.last();
    assert_eq!(seen.header("x-conf"), Some(format!("Bearer {CONF_SECRET}").as_str()));
    assert_eq!(seen.header("x-env"), Some(format!("<{ENV_SECRET}>").as_str()));
    assert_eq!(seen.header("x-file"), Some(FILE_SECRET));
    assert_eq!((seen.header("x-none"), seen.header("x-other")), (Some("<>"), Some("$secret_conf")));

    assert_eq!(gateway.get("/a/p").header("x-path"), Some("p"));
    let seen = upstream.last();
    assert_eq!((seen.header("x-path"), seen.target.as_str()), (Some(CONF_SECRET), format!("/q?key={CONF_SECRET}").as_str()));
    gateway.get("/a/p?t=1");
    assert_eq!(upstream.last().target, format!("/t/{ENV_SECRET}"));

    // What a client sends is no variable.
    gateway.get("/a/other?x=$secret_conf.token");
    assert_eq!(upstream.last().target, "/other?x=$secret_conf.token");
    let log = gateway.log();
    for name in [
        "$secret_conf.none has no value",
        "$secret_env.none has no value",
        "$secret_vault.a/b can't be read: no store \"vault\" is configured",
    ] {
        assert!(
            log.lines().any(|line| line.contains("WARN") && line.contains("a.json") && line.contains(name)),
            "{name} in\n{log}"
        );
    }
    assert!(![CONF_SECRET, ENV_SECRET, FILE_SECRET].iter().any(|secret| log.contains(secret)), "{log}");
}
