//! `opentelemetry.metrics.api_metrics`: metrics of requests with the operator's own attributes. The requests and what was pushed are those of
//! Tyk 5.14.0.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use serde_json::{Value, json};

use crate::harness::collector::{Collector, attributes};
use crate::harness::{Definition, Gateway, Upstream, api, eventually, reply, request};
use crate::keys::keyed;

fn dimensions(source: &str, keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| json!({"source": source, "key": key})).collect()
}

fn counter(name: &str, dimensions: Vec<Value>) -> Value {
    json!({"name": name, "type": "counter", "dimensions": dimensions})
}

/// Every kind of attribute.
fn every_kind() -> Value {
    let own = || dimensions("metadata", &["api_id", "response_code"]);
    let metadata = [
        "method",
        "response_code",
        "listen_path",
        "endpoint",
        "api_id",
        "api_name",
        "org_id",
        "response_flag",
        "ip_address",
        "api_version",
        "scheme",
    ];
    let session = ["api_key", "oauth_id", "alias", "portal_app", "portal_org"];
    let session = session.map(|key| json!({"source": "session", "key": key, "label": format!("s.{key}"), "default": "none"}));
    let headers = [
        json!({"source": "header", "key": "X-Tenant", "label": "tenant", "default": "nobody"}),
        json!({"source": "response_header", "key": "X-Up", "default": "no"}),
    ];
    json!([
        counter("metadata", dimensions("metadata", &metadata)),
        counter("session", own().into_iter().chain(session).collect()),
        counter("headers", own().into_iter().chain(headers).collect()),
        counter("context", own().into_iter().chain(dimensions("context", &["headers_X_Tenant", "path", "request_data_q", "remote_addr"])).collect()),
        counter("config", [dimensions("metadata", &["api_id"]), dimensions("config_data", &["team", "n", "t", "missing"])].concat()),
        {"name": "time", "type": "histogram", "histogram_source": "total", "histogram_buckets": [20.0, 30.0], "dimensions": []},
        {"name": "4xx", "type": "counter", "dimensions": dimensions("metadata", &["api_id"]),
         "filters": {"status_codes": ["4xx"], "methods": ["get"], "api_ids": ["shop"]}}
    ])
}

struct Stage {
    gateway: Gateway,
    collector: Collector,
    _upstream: Upstream,
}

impl Stage {
    fn new(metrics: Value) -> Stage {
        let collector = Collector::http();
        let upstream = Upstream::start(|seen| {
            let status = if seen.target.contains("brk") { "500 Internal Server Error" } else { "200 OK" };
            reply(status, &["X-Up: up1"], "ok")
        });
        let mut settings = json!({
            "enabled": true, "exporter": "http", "endpoint": collector.address.to_string(), "export_interval": 1
        });
        if !metrics.is_null() {
            settings["api_metrics"] = metrics;
        }
        let shop = keyed("shop", &upstream)
            .set("name", "shop name")
            .set("do_not_track", false)
            .set("enable_context_vars", true)
            .set("config_data", json!({"team": "checkout", "n": 7, "t": true}))
            .list("track_endpoints", json!([{"path": "/items/{id}", "method": "GET"}]));
        let named = |id: &str, target: &str| {
            api(id, &format!("/{id}/"), target).set("name", format!("{id} name")).set("do_not_track", false)
        };
        let apis = [
            shop,
            named("open", &upstream.url()),
            named("gone", "http://127.0.0.1:1/"),
            named("quiet", &upstream.url()).set("do_not_track", true),
        ];
        let stage = Self::of(settings, collector, upstream, apis);
        stage.send();
        stage
    }

    fn of(settings: Value, collector: Collector, upstream: Upstream, apis: impl IntoIterator<Item = Definition>) -> Stage {
        let gateway = Gateway::start(json!({"hash_keys": false, "opentelemetry": {"metrics": settings}}), apis);
        Stage { gateway, collector, _upstream: upstream }
    }

    fn send(&self) {
        let session = json!({
            "org_id": "default", "expires": 0, "quota_max": -1, "rate": 1000, "per": 1, "alias": "al",
            "tags": ["portal-app-a1", "portal-org-o1", "x"],
            "access_rights": {"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}}
        });
        let made = self.gateway.control("POST", "/tyk/keys/defaultabcdefghijkl", &session.to_string());
        assert_eq!(made.status, 200, "{made}");
        let key = "Authorization: defaultabcdefghijkl";
        for (method, target, lines) in [
            ("GET", "/shop/items/5?q=1&z=2", vec![key, "X-Tenant: acme"]),
            ("GET", "/shop/items/6", vec![key]),
            ("GET", "/shop/x", vec![key, "X-Tenant: other"]),
            ("POST", "/shop/x", vec![key]),
            ("GET", "/shop/x", vec![]),
            ("GET", "/shop/x", vec!["Authorization: wrong"]),
            ("GET", "/open/a", vec![]),
            ("GET", "/open/brk", vec![]),
            ("GET", "/gone/a", vec![]),
            ("GET", "/quiet/a", vec![]),
            ("GET", "/nowhere/", vec![]),
            ("GET", "/hello", vec![]),
        ] {
            self.gateway.send(request(method, target, &lines, ""));
        }
    }

    /// Attributes of the series of a counter, with its value, sorted.
    fn counted(&self, name: &str) -> Vec<String> {
        let received = self.collector.received();
        let Some(metric) = received.metrics.iter().find(|metric| metric.name == name) else { return Vec::new() };
        let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
        assert!(sum.is_monotonic && metric.unit == "1", "{metric:?}");
        let mut told: Vec<String> = sum
            .data_points
            .iter()
            .map(|point| {
                let Some(Number::AsInt(count)) = point.value else { panic!("{point:?}") };
                told(&attributes(&point.attributes), count)
            })
            .collect();
        told.sort();
        told
    }
}

fn told(attributes: &BTreeMap<String, String>, count: i64) -> String {
    let pairs: Vec<String> = attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {count}", pairs.join(" "))
}

/// Compares the series of a counter, once they are all there. Lines of `expected` may have any order.
#[track_caller]
fn expect(stage: &Stage, name: &str, expected: &[&str]) {
    let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    expected.sort();
    let count = |lines: &[String]| lines.iter().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>();
    eventually("all requests are pushed", || count(&stage.counted(name)) >= count(&expected));
    assert_eq!(stage.counted(name), expected, "{name}");
}

#[test]
fn without_the_field_tyks_usual_metrics_are_pushed() {
    let stage = Stage::new(Value::Null);
    let of = |api: &str, method: &str, status: u16, count: u64| {
        format!("http.request.method={method} http.response.status_code={status} tyk.api.id={api} {count}")
    };
    let expected = [
        of("gone", "GET", 500, 1),
        of("open", "GET", 200, 1),
        of("open", "GET", 500, 1),
        of("shop", "GET", 200, 3),
        of("shop", "GET", 401, 1),
        of("shop", "GET", 403, 1),
        of("shop", "POST", 200, 1),
    ];
    expect(&stage, "tyk.api.requests.total", &expected.each_ref().map(String::as_str));
    let received = stage.collector.received();
    for (name, with_status) in
        [("http.server.request.duration", true), ("tyk.gateway.request.duration", false), ("tyk.upstream.request.duration", false)]
    {
        let metric = received.metrics.iter().find(|metric| metric.name == name).expect(name);
        let Some(Data::Histogram(histogram)) = &metric.data else { panic!("{metric:?}") };
        let points = || histogram.data_points.iter().map(|point| (attributes(&point.attributes), point));
        assert_eq!((points().map(|(_, point)| point.count).sum::<u64>(), metric.unit.as_str()), (9, "s"), "{name}");
        let flags: Vec<String> = points().map(|(attributes, _)| attributes["tyk.response_flag"].clone()).collect();
        for flag in ["200", "AMF", "AKI", "UCF", "URS"] {
            assert!(flags.iter().any(|own| own == flag), "{name}: {flags:?}");
        }
        for (attributes, point) in points() {
            assert_eq!(attributes.contains_key("http.response.status_code"), with_status, "{name}");
            assert_eq!((point.explicit_bounds.len(), point.bucket_counts.len()), (12, 13), "{name}");
        }
    }
    // By these, Tyk's boards choose gateways.
    assert_eq!(received.resource["service.name"], "tyk-gateway");
    assert_eq!(received.resource["tyk.gw.id"], received.resource["service.instance.id"]);
    let sum_of = |name: &str| {
        let metric = received.metrics.iter().find(|metric| metric.name == name);
        match metric.and_then(|metric| metric.data.clone()) {
            Some(Data::Sum(sum)) => sum.data_points[0].value,
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(sum_of("tyk.http.requests"), Some(Number::AsInt(9)), "what is not tracked does not count");
}

/// As in Tyk 5.14: its cache shows metrics what it sends, its errors do not.
#[test]
fn a_stored_response_has_headers_for_metrics_too() {
    let collector = Collector::http();
    let upstream = Upstream::start(|_| reply("200 OK", &["X-Up: up1"], "ok"));
    let wanted = ["X-Up", "X-Tyk-Cached-Response"].map(|key| json!({"source": "response_header", "key": key, "default": "0"}));
    let settings = json!({
        "enabled": true, "exporter": "http", "endpoint": collector.address.to_string(), "export_interval": 1,
        "api_metrics": [counter("own", dimensions("metadata", &["api_id"]).into_iter().chain(wanted).collect())]
    });
    let tracked = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("do_not_track", false);
    let apis = [
        tracked("kept").set("cache_options", json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true})),
        tracked("shut").set("use_keyless", false).set("use_standard_auth", true),
    ];
    let stage = Stage::of(settings, collector, upstream, apis);
    for target in ["/kept/a", "/kept/a", "/shut/a"] {
        stage.gateway.get(target);
    }
    let lines = [
        "X-Tyk-Cached-Response=0 X-Up=up1 api_id=kept 1",
        "X-Tyk-Cached-Response=1 X-Up=up1 api_id=kept 1",
        "X-Tyk-Cached-Response=0 X-Up=0 api_id=shut 1",
    ];
    expect(&stage, "own", &lines);
}

#[test]
fn attributes_come_from_request_response_session_context_and_definition() {
    let stage = Stage::new(every_kind());
    let metadata = |api: &str, endpoint: &str, method: &str, status: u16, flag: &str, count: u64| {
        format!(
            "api_id={api} api_name={api} name api_version= endpoint={endpoint} ip_address=127.0.0.1 listen_path=/{api}/ method={method} \
             org_id=default response_code={status} response_flag={flag} scheme=http {count}"
        )
    };
    let lines = [
        metadata("gone", "", "GET", 500, "UCF", 1),
        metadata("open", "", "GET", 200, "200", 1),
        metadata("open", "", "GET", 500, "URS", 1),
        metadata("shop", "", "GET", 200, "200", 1),
        metadata("shop", "", "GET", 401, "AMF", 1),
        metadata("shop", "", "GET", 403, "AKI", 1),
        metadata("shop", "", "POST", 200, "200", 1),
        metadata("shop", "/items/{id}", "GET", 200, "200", 2),
    ];
    expect(&stage, "metadata", &lines.each_ref().map(String::as_str));
    let none = "s.alias=none s.api_key=none s.oauth_id=none s.portal_app=none s.portal_org=none";
    let nobody = |api: &str, status: u16| format!("api_id={api} response_code={status} {none} 1");
    let lines = [
        nobody("gone", 500),
        nobody("open", 200),
        nobody("open", 500),
        nobody("shop", 401),
        nobody("shop", 403),
        "api_id=shop response_code=200 s.alias=al s.api_key=ghijkl s.oauth_id=none s.portal_app=a1 s.portal_org=o1 4".to_owned(),
    ];
    expect(&stage, "session", &lines.each_ref().map(String::as_str));
    expect(
        &stage,
        "headers",
        &[
            "X-Up=no api_id=gone response_code=500 tenant=nobody 1",
            "X-Up=no api_id=shop response_code=401 tenant=nobody 1",
            "X-Up=no api_id=shop response_code=403 tenant=nobody 1",
            "X-Up=up1 api_id=open response_code=200 tenant=nobody 1",
            "X-Up=up1 api_id=open response_code=500 tenant=nobody 1",
            "X-Up=up1 api_id=shop response_code=200 tenant=acme 1",
            "X-Up=up1 api_id=shop response_code=200 tenant=nobody 2",
            "X-Up=up1 api_id=shop response_code=200 tenant=other 1",
        ],
    );
    let nothing = "headers_X_Tenant= path= remote_addr= request_data_q=";
    let of_shop = |tenant: &str, path: &str, q: &str, status: u16, count: u64| {
        format!(
            "api_id=shop headers_X_Tenant={tenant} path={path} remote_addr=127.0.0.1 request_data_q={q} response_code={status} {count}"
        )
    };
    let lines = [
        format!("api_id=gone {nothing} response_code=500 1"),
        format!("api_id=open {nothing} response_code=200 1"),
        format!("api_id=open {nothing} response_code=500 1"),
        of_shop("acme", "/shop/items/5", "1", 200, 1),
        of_shop("", "/shop/items/6", "", 200, 1),
        of_shop("other", "/shop/x", "", 200, 1),
        of_shop("", "/shop/x", "", 200, 1),
        of_shop("", "/shop/x", "", 401, 1),
        of_shop("", "/shop/x", "", 403, 1),
    ];
    expect(&stage, "context", &lines.each_ref().map(String::as_str));
    expect(
        &stage,
        "config",
        &[
            "api_id=gone missing= n= t= team= 1",
            "api_id=open missing= n= t= team= 2",
            "api_id=shop missing= n=7 t=true team=checkout 6",
        ],
    );
    expect(&stage, "4xx", &["api_id=shop 2"]);
    let received = stage.collector.received();
    let time = received.metrics.iter().find(|metric| metric.name == "time").expect("the histogram");
    let Some(Data::Histogram(histogram)) = &time.data else { panic!("{time:?}") };
    let point = &histogram.data_points[0];
    assert_eq!((point.count, &*point.bucket_counts, &*point.explicit_bounds), (9, &[9, 0, 0][..], &[20.0, 30.0][..]));
    assert!(point.attributes.is_empty());
}

#[test]
fn an_empty_list_means_no_metrics_of_requests() {
    let stage = Stage::new(json!([]));
    let names = || stage.collector.received().metrics.iter().map(|metric| metric.name.clone()).collect::<Vec<_>>();
    eventually("metrics are pushed", || names().iter().any(|name| name == "tyk.http.requests"));
    assert!(!names().iter().any(|name| name.contains("request.duration") || name == "tyk.api.requests.total"), "{:?}", names());
}
