//! Lists of federations: what each caller sees, and that lists which are cut are told.

use serde_json::{Value, json};

use super::harness::keys::session_for;
use super::harness::mcp::{JSON, call, federation};
use super::harness::{Gateway, Setup, Upstream, reply, request};

/// A server without sessions. `page` makes the tools of a page, and says whether there is another.
fn server(page: impl Fn(usize) -> (Vec<String>, bool) + Send + Sync + 'static) -> Upstream {
    Upstream::start(move |seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let Some(id) = asked.get("id") else { return reply("202 Accepted", &[], "") };
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => {
                let at: usize = asked["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
                let (names, has_more) = page(at);
                let tools = names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect::<Vec<_>>();
                let mut listed = json!({"tools": tools});
                if has_more {
                    listed["nextCursor"] = json!((at + 1).to_string());
                }
                listed
            }
            _ => return reply("400 Bad Request", &[], "nothing"),
        };
        reply("200 OK", &[JSON], &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    })
}

#[test]
fn a_list_that_is_cut_at_its_bound_is_told() {
    let named = |from: usize, count: usize| (from..from + count).map(|n| format!("t{n}")).collect::<Vec<_>>();
    let endless = server(move |page| (named(page, 1), true));
    let full = server(move |page| (named(page, 1), page + 1 < 100));
    let large = server(move |_| (named(0, 20_001), false));
    let largest = server(move |_| (named(0, 20_000), false));
    let servers = [("endless", &endless), ("full", &full), ("large", &large), ("largest", &largest)];
    let servers: Vec<Value> =
        servers.iter().map(|(name, server)| json!({"name": name, "url": server.url(), "prefix": format!("{name}_")})).collect();
    let gateway = Gateway::start(json!({}), [federation(json!(servers))]);
    let answer = gateway.control("POST", "/tyk/mcps/f/servers", "").json();
    let told: Vec<_> = answer["servers"].as_array().unwrap_or_else(|| panic!("{answer}")).iter().collect();
    let cut: Vec<_> = told.iter().map(|server| (server["tools"].as_u64().unwrap(), server["cut"].clone())).collect();
    let (tools, nothing) = (json!(["tools"]), json!([]));
    assert_eq!(cut, [(100, tools.clone()), (100, nothing.clone()), (20_000, tools), (20_000, nothing)]);
}

/// An API with operations, which keys may call.
fn shop() -> Value {
    let operation = |id: &str| json!({"operationId": id, "responses": {"200": {"description": "done"}}});
    json!({
        "openapi": "3.0.3", "info": {"title": "shop", "version": "1"}, "servers": [{"url": "/shop/"}],
        "paths": {
            "/orders": {"get": operation("list"), "post": operation("add")},
            "/orders/{id}": {"get": operation("show"), "delete": operation("remove"),
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]},
            "/stock": {"get": operation("stock")},
        },
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Shop-Key"}}}, "security": [{"key": []}],
        "x-tyk-api-gateway": {"info": {"id": "shop", "name": "shop", "orgId": "default", "state": {"active": true}},
            "upstream": {"url": "http://127.0.0.1:1/"},
            "server": {"listenPath": {"value": "/shop/", "strip": true},
                "authentication": {"enabled": true, "securitySchemes": {"key": {"enabled": true}}}}},
    })
}

#[test]
fn operations_are_listed_for_those_whose_key_may_call_them() {
    let gateway = Setup::new(json!({}))
        .file("shop-oas.json", shop().to_string())
        .api(federation(json!([{"name": "shop", "api": "shop", "prefix": "s_"}])).with_keys())
        .start();
    let urls =
        |all: &[(&str, &[&str])]| -> Value { all.iter().map(|(url, methods)| json!({"url": url, "methods": methods})).collect() };
    let of_shop = |allowed: Value| json!({"access_rights": {"shop": {"allowed_urls": allowed}}});
    // The APIs of a key, what else it has, and the operations that it sees.
    let all = ["add", "list", "remove", "show", "stock"];
    let cases: [(&str, &[&str], Value, &[&str]); 5] = [
        ("all", &["f", "shop"], json!({}), &all),
        ("none", &["f"], json!({}), &[]),
        ("dry", &["f"], json!({"dry_run": ["access"]}), &all),
        ("reads", &["f", "shop"], of_shop(urls(&[("^/shop/orders.*", &["GET"])])), &["list", "show"]),
        (
            "one",
            &["f", "shop"],
            of_shop(urls(&[("^/shop/stock$", &["GET"]), ("/orders/[0-9]+", &["DELETE"])])),
            &["remove", "show", "stock"],
        ),
    ];
    for (key, apis, fields, expected) in cases {
        let answer = gateway.control("POST", &format!("/tyk/keys/{key}"), &session_for(apis, fields).to_string());
        assert_eq!(answer.status, 200, "{answer}");
        let lines = [JSON, &format!("Authorization: {key}")];
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begun = gateway.send(request("POST", "/f/", &lines, &call("initialize", params)));
        let session = format!("Mcp-Session-Id: {}", begun.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{begun}")));
        let ask = |method: &str, params: Value| {
            gateway.send(request("POST", "/f/", &[&lines[..], &[&session]].concat(), &call(method, params))).json()
        };
        let listed = ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
        let mut shown: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap().strip_prefix("s_").unwrap()).collect();
        shown.sort_unstable();
        assert_eq!(shown, expected, "{key}");
        for hidden in all.iter().filter(|name| !expected.contains(name)) {
            let called = ask("tools/call", json!({"name": format!("s_{hidden}"), "arguments": {}}));
            let unknown = ask("tools/call", json!({"name": "none", "arguments": {}}));
            assert_eq!(called.to_string(), unknown.to_string().replace("none", &format!("s_{hidden}")), "{key}");
        }
    }
}
