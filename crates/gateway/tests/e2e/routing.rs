//! Which API gets a request, and which path, query and Host its upstream gets.

use http::Request;
use serde_json::json;

use crate::harness::http2::{ask, connect, converse};
use crate::harness::{Gateway, Upstream, api};

/// A spelling of a host that missed its API would reach another one, with other authentication.
#[test]
fn letter_case_and_a_final_dot_of_a_host_do_not_lead_to_another_api() {
    let (own, other) = (Upstream::ok(), Upstream::ok());
    for domain in ["Shop.Test", "shop.test", "{name:SHOP}.test.", "{name}.Test"] {
        let shop = api("shop", "/", &own.url()).set("domain", domain).with_keys();
        let gateway = Gateway::start(json!({"enable_custom_domains": true}), [shop, api("any", "/", &other.url())]);
        for host in ["shop.test", "SHOP.test", "Shop.Test", "shop.test.", "SHOP.TEST.:8080"] {
            let answer = gateway.send(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert_eq!(answer.status, 401, "{domain} {host}: {answer}");
            let absolute = gateway.send(format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert_eq!(absolute.status, 401, "{domain} {host}: {absolute}");
            let of_http2 = converse(async {
                let client = connect(gateway.port).await;
                let asked = Request::get(format!("http://{host}/")).body(()).unwrap();
                ask(&client, asked).await.unwrap().status
            });
            assert_eq!(of_http2, 401, "{domain} {host} over HTTP/2");
        }
        assert_eq!((own.requests(), other.requests()), (0, 0), "{domain}");
        assert_eq!(gateway.send("GET / HTTP/1.1\r\nHost: shop.tests\r\n\r\n").status, 200);
        assert_eq!(other.take_targets().len(), 1);
    }
}
