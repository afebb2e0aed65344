//! Definitions of proxies for the Model Context Protocol: where they are kept, and who lists them.

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Setup, Upstream, eventually, request};
use crate::servers::Server;
use crate::shared_keys::on;

/// A document of a proxy that blocks a tool.
fn document(id: &str, upstream: &Upstream) -> Value {
    json!({
        "openapi": "3.0.3", "info": {"title": id, "version": "1"}, "paths": {},
        "x-tyk-api-gateway": {
            "info": {"id": id, "name": id, "state": {"active": true}}, "upstream": {"url": upstream.url()},
            "server": {"listenPath": {"value": format!("/{id}/"), "strip": true}},
            "middleware": {"mcpTools": {"gone": {"block": {"enabled": true}}}},
        },
    })
}

fn names(gateway: &Gateway) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(gateway.apps()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

fn listed(gateway: &Gateway, path: &str) -> Vec<String> {
    let id = |api: &Value| api.pointer("/x-tyk-api-gateway/info/id").unwrap_or(&api["api_id"]).as_str().unwrap().to_owned();
    let mut ids: Vec<String> = gateway.control("GET", path, "").json().as_array().unwrap().iter().map(id).collect();
    ids.sort();
    ids
}

#[test]
fn the_name_of_the_file_or_a_mark_says_that_a_document_is_one() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let classic =
        |id: &str| json!({"is_oas": true, "api_id": id, "application_protocol": "mcp", "json_rpc_version": "2.0"}).to_string();
    gateway.write_file("pair.json", classic("pair"));
    gateway.write_file("pair-mcp.json", document("pair", &upstream).to_string());
    // Left over from another life of the API.
    gateway.write_file("pair-oas.json", json!({"openapi": "3.0.3", "x-tyk-api-gateway": {}}).to_string());
    gateway.write_file("alone-mcp.json", document("alone", &upstream).to_string());
    let mut marked = document("marked", &upstream);
    marked["x-tollgate"] = json!({"application_protocol": "mcp"});
    gateway.write_file("marked.json", marked.to_string());
    gateway.write_file("half.json", classic("half"));
    gateway.write_file("plain-oas.json", document("plain", &upstream).to_string());
    let report = gateway.control("GET", "/tyk/reload/?block=true", "").text();
    for said in ["half.json", "is missing, which has the rules", "plain-oas.json", "only acts in proxies"] {
        assert!(report.contains(said), "{said} in {report}");
    }
    assert_eq!(listed(&gateway, "/tyk/mcps"), ["alone", "marked", "pair"]);
    assert_eq!(listed(&gateway, "/tyk/apis"), Vec::<String>::new());
    assert_eq!(listed(&gateway, "/tyk/apis?include_types=oas,%20mcp"), ["alone", "marked", "pair"]);
    assert_eq!(listed(&gateway, "/tyk/apis/oas"), Vec::<String>::new());
    for id in ["pair", "alone", "marked"] {
        assert_eq!(gateway.control("GET", &format!("/tyk/mcps/{id}"), "").json(), document(id, &upstream), "{id}");
        let entries = gateway.control("GET", &format!("/tyk/apis/{id}"), "").json();
        let blocked = &entries["version_data"]["versions"][""]["extended_paths"]["black_list"][0];
        assert_eq!((&blocked["path"], &blocked["method"]), (&json!("^/mcp-tool:gone$"), &json!("POST")), "{id}");
    }
}

#[test]
fn a_write_makes_a_pair_of_files_and_a_removal_takes_both() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    assert_eq!(gateway.control("POST", "/tyk/mcps", &document("m", &upstream).to_string()).status, 200);
    assert_eq!(names(&gateway), ["m-mcp.json", "m.json"]);
    let read =
        |name: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(gateway.apps().join(name)).unwrap()).unwrap() };
    assert_eq!(read("m-mcp.json"), document("m", &upstream));
    assert_eq!((&read("m.json")["application_protocol"], &read("m.json")["json_rpc_version"]), (&json!("mcp"), &json!("2.0")));
    gateway.reload();
    let shown = gateway.control("GET", "/tyk/mcps/m", "");
    assert_eq!(shown.json(), document("m", &upstream));
    // With the version that it had.
    let etag = shown.header("etag").expect("a version").to_owned();
    let mut new = document("m", &upstream);
    new["x-tyk-api-gateway"]["info"]["name"] = json!("other");
    let put = |etag: &str| {
        let (secret, known) = (format!("x-tyk-authorization: {SECRET}"), format!("If-Match: {etag}"));
        gateway.send(request("PUT", "/tyk/mcps/m", &[&secret, &known], &new.to_string())).status
    };
    assert_eq!((put(&etag), put(&etag)), (200, 412));
    // A version of it knows whose it is.
    let query = "/tyk/mcps?base_api_id=m&base_api_version_name=v1&new_version_name=v2";
    assert_eq!(gateway.control("POST", query, &document("n", &upstream).to_string()).status, 200);
    assert_eq!(gateway.control("GET", "/tyk/mcps/n", "").header("x-tyk-base-api-id"), Some("m"));
    assert_eq!(gateway.control("GET", "/tyk/mcps/m", "").header("x-tyk-base-api-id"), None);
    assert_eq!(names(&gateway), ["m-mcp.json", "m.json", "n-mcp.json", "n.json"]);
    for id in ["m", "n"] {
        assert_eq!(gateway.control("DELETE", &format!("/tyk/mcps/{id}"), "").status, 200);
    }
    assert_eq!(names(&gateway), Vec::<String>::new());
}

#[test]
fn configuration_as_code_and_gateways_that_share_definitions_keep_what_an_api_is() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = on(&server);
    conf["tollgate"]["shared_definitions"] = json!(true);
    let (a, b) = (Setup::new(conf.clone()).start(), Setup::new(conf).start());
    assert_eq!(a.control("POST", "/tyk/mcps", &document("m", &upstream).to_string()).status, 200);
    eventually("the other gateway has it", || listed(&b, "/tyk/mcps") == ["m"]);
    assert_eq!(b.control("GET", "/tyk/mcps/m", "").json(), document("m", &upstream));
    let configuration = b.control("GET", "/tyk/configuration", "").json();
    let dumped = configuration["apis"][0]["document"].clone();
    assert_eq!(dumped["x-tollgate"]["application_protocol"], "mcp");
    // The same, as a change of files elsewhere.
    let own = Gateway::start(json!({}), []);
    let change = json!({"digest": "*", "changes": [{"kind": "api", "action": "put", "document": dumped}]});
    assert_eq!(own.control("POST", "/tyk/configuration", &change.to_string()).status, 200);
    assert_eq!(names(&own), ["m-mcp.json", "m.json"]);
    assert_eq!(own.control("GET", "/tyk/mcps/m", "").json(), document("m", &upstream));
    let again = own.control("POST", "/tyk/configuration", &change.to_string()).json();
    assert_eq!(again["unchanged"], 1, "{again}");
    // It becomes an API of another kind, and its document goes.
    let mut plain = document("m", &upstream);
    plain["x-tyk-api-gateway"]["middleware"] = json!({});
    let change = json!({"digest": "*", "changes": [{"kind": "api", "action": "put", "document": plain}]});
    assert_eq!(own.control("POST", "/tyk/configuration", &change.to_string()).status, 200);
    assert_eq!(names(&own), ["m-oas.json", "m.json"]);
    assert_eq!((listed(&own, "/tyk/mcps").len(), listed(&own, "/tyk/apis/oas").len()), (0, 1));
}
