//! The developer portal on the gateway's port, for a host of its own.

use serde_json::json;

use crate::harness::oauth::{policy, with_policies};
use crate::harness::{Connection, Response, Setup, Upstream, api, request};
use crate::keys::keyed;
use crate::portal::Caller;

const HOST: &str = "developers.test";

fn get(port: u16, host: &str, path: &str) -> Response {
    Connection::open(port).ask(request("GET", path, &[], "").replacen("gateway.test", host, 1))
}

#[test]
fn the_portal_answers_for_its_host_and_apis_for_all_others() {
    let upstream = Upstream::ok();
    let portal = json!({"host": HOST, "url": "http://developers.test", "gateway_url": "http://api.test"});
    let (conf, _policies) = with_policies(
        json!({"hostname": "api.test", "enable_custom_domains": true, "tollgate": {"portal": portal}}),
        &[policy(json!({"access_rights": {"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}}}))],
    );
    let taken = api("taken", "/", &upstream.url()).set("domain", HOST);
    let gateway = Setup::new(conf).api(keyed("shop", &upstream)).api(api("all", "/", &upstream.url())).api(taken).start();
    let put = gateway.control(
        "PUT",
        "/tyk/portal/products/shop",
        &json!({"name": "Shop", "apis": ["shop"], "is_public": true, "plans": [{"id": "free", "name": "Free", "policy": "gold", "approval": "automatic"}]}).to_string(),
    );
    assert_eq!(put.status, 200, "{put}");
    for host in [HOST, "Developers.Test", "developers.test.", &format!("{HOST}:{}", gateway.port)] {
        let page = get(gateway.port, host, "/");
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")), "{host}: {page}");
        assert!(page.header("content-security-policy").is_some_and(|policy| policy.contains("http://api.test")), "{page}");
    }
    assert_eq!(get(gateway.port, HOST, "/none/below").status, 404, "nothing of an API is reached under this host");
    assert_eq!(get(gateway.port, HOST, "/shop/").status, 404);
    assert!(!get(gateway.port, "api.test", "/portal/").text().contains("<!doctype html>"), "an API has this path");
    let other = get(gateway.port, "api.test", "/");
    assert!(other.header("content-security-policy").is_none(), "{other}");
    // From the invitation to a call, through the same port.
    let invited =
        gateway.control("POST", "/tyk/portal/invitations", &json!({"mail": "ada@example.com", "name": "Ada"}).to_string());
    let link = invited.json()["link"].as_str().expect("a link").to_owned();
    let mut ada = Caller::at(gateway.port, HOST);
    let token = link.rsplit('/').next().expect("a token");
    let entered = ada.call("POST", "/api/password", &json!({"token": token, "password": "correct horse battery"}));
    assert_eq!(entered.status, 200, "{entered}");
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);
    let call = request("GET", "/shop/", &[&format!("Authorization: {key}")], "").replacen("gateway.test", "api.test", 1);
    let answer = Connection::open(gateway.port).ask(call);
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(get(gateway.port, "other.test", "/api/session").status, 404, "an unknown host has neither");
}
