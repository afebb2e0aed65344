//! Traces and figures over OpenTelemetry's protocol: what the collector gets, what upstreams are told, and what happens without it.

use std::time::Duration;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use crate::harness::certificates::{Authority, server};
use crate::harness::collector::{Collector, attributes, to};
use crate::harness::definition::merge;
use crate::harness::http2::{ask, connect, converse, get as get_http2};
use crate::harness::{Gateway, PATIENCE, Seen, Upstream, api, eventually, get, ok, reply, request};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const TRACEPARENT: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Trace, span and flags of the `traceparent` that an upstream got.
fn told(seen: &Seen) -> (String, String, String) {
    let fields: Vec<&str> = seen.header("traceparent").expect("a traceparent").split('-').collect();
    assert_eq!(fields.len(), 4);
    (fields[1].to_owned(), fields[2].to_owned(), fields[3].to_owned())
}

/// The two spans of one request.
fn pair(spans: &[Span]) -> (&Span, &Span) {
    let of = |kind: SpanKind| spans.iter().find(|span| span.kind == kind as i32).expect("a span of this kind");
    (of(SpanKind::Server), of(SpanKind::Client))
}

#[test]
fn a_request_has_a_span_of_its_own_and_one_of_its_upstream() {
    for collector in [Collector::http(), Collector::grpc(None)] {
        let upstream = Upstream::start(|_| {
            std::thread::sleep(Duration::from_millis(20));
            reply("201 Created", &[], "made")
        });
        let conf = to(&collector, json!({"resource_name": "edge", "headers": {"x-api-key": "of the collector"}}));
        let gateway = Gateway::start(conf, [api("shop", "/shop/", &upstream.url()).set("name", "The Shop")]);
        let lines = [TRACEPARENT, "tracestate: vendor=1", "User-Agent: tester/1", "Authorization: a-secret-in-a-header"];
        assert_eq!(gateway.send(request("POST", "/shop/a/b?token=a-secret-in-a-query", &lines, "x")).status, 201);

        let spans = collector.spans(2);
        let (own, of_upstream) = pair(&spans);
        assert_eq!((hex(&own.trace_id).as_str(), hex(&own.parent_span_id).as_str()), (TRACE, CALLER));
        assert_eq!((&of_upstream.trace_id, &of_upstream.parent_span_id), (&own.trace_id, &own.span_id));
        let seen = upstream.last();
        assert_eq!(told(&seen), (TRACE.to_owned(), hex(&of_upstream.span_id), "01".to_owned()));
        assert_eq!(seen.header("tracestate"), Some("vendor=1"));
        assert!(own.start_time_unix_nano <= of_upstream.start_time_unix_nano);
        assert!(of_upstream.start_time_unix_nano + 20_000_000 <= of_upstream.end_time_unix_nano);
        assert!(of_upstream.end_time_unix_nano <= own.end_time_unix_nano);
        assert_eq!((own.name.as_str(), own.status.is_none()), ("POST /shop/", true));

        let found = attributes(&own.attributes);
        for (name, value) in [
            ("http.request.method", "POST"),
            ("http.response.status_code", "201"),
            ("http.route", "/shop/"),
            ("url.scheme", "http"),
            ("url.path", "/shop/a/b"),
            ("server.address", "gateway.test"),
            ("client.address", "127.0.0.1"),
            ("network.protocol.version", "1.1"),
            ("user_agent.original", "tester/1"),
            ("tyk.api.id", "shop"),
            ("tyk.api.name", "The Shop"),
            ("tyk.api.orgid", "default"),
            ("tyk.api.path", "/shop/"),
        ] {
            assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
        }
        let found = attributes(&of_upstream.attributes);
        assert_eq!((found["server.address"].as_str(), found["server.port"].clone()), ("127.0.0.1", upstream.port().to_string()));
        assert_eq!(found["http.response.status_code"], "201");

        let received = collector.received();
        assert_eq!(received.resource["service.name"], "edge");
        assert!(received.headers.contains(&("x-api-key".to_owned(), "of the collector".to_owned())), "{:?}", received.headers);
        let text = String::from_utf8_lossy(&received.bytes).into_owned();
        assert!(!text.contains("a-secret") && text.contains("/shop/a/b"), "{text}");
    }
}

#[test]
fn without_a_caller_s_trace_one_is_begun() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let gateway = Gateway::start(to(&collector, json!({})), [api("a", "/a/", &upstream.url())]);
    for lines in [&[][..], &["traceparent: 00-nonsense-01", "tracestate: of=another"]] {
        assert_eq!(gateway.send(request("GET", "/a/", lines, "")).status, 200);
    }
    let spans = collector.spans(4);
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 2);
    assert_ne!(roots[0].trace_id, roots[1].trace_id);
    for seen in upstream.seen() {
        let (trace, span, flags) = told(&seen);
        assert!(spans.iter().any(|of| hex(&of.trace_id) == trace && hex(&of.span_id) == span), "{trace} {span}");
        assert_eq!((flags.as_str(), seen.header("tracestate")), ("01", None));
    }
}

#[test]
fn what_is_not_taken_is_not_sent_but_named_to_the_upstream() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let conf = to(&collector, json!({"sampling": {"type": "AlwaysOff", "parent_based": true}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    gateway.get("/a/");
    assert_eq!(told(&upstream.last()).2, "00");
    let unsampled = TRACEPARENT.replace("-01", "-00");
    gateway.send(request("GET", "/a/", &[&unsampled], ""));
    assert_eq!(format!("traceparent: {}", upstream.last().header("traceparent").unwrap()), unsampled);
    gateway.send(request("GET", "/a/", &[TRACEPARENT], ""));
    let spans = collector.spans(2);
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE), "the parent has decided");
}

#[test]
fn without_tracing_nothing_is_touched() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    gateway.get("/a/");
    assert_eq!(upstream.last().header("traceparent"), None);
    gateway.send(request("GET", "/a/", &[TRACEPARENT], ""));
    assert_eq!(format!("traceparent: {}", upstream.last().header("traceparent").unwrap()), TRACEPARENT);
}

#[test]
fn a_share_of_the_traces_is_taken() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let conf = to(&collector, json!({"sampling": {"type": "TraceIDRatioBased", "rate": 0.25}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    for _ in 0..800 {
        assert_eq!(client.ask(get("/a/")).status, 200);
    }
    let told_so = upstream.seen().iter().filter(|seen| told(seen).2 == "01").count();
    // Twelve standard deviations around 200.
    assert!((50..350).contains(&told_so), "{told_so} of 800");
    assert_eq!(collector.spans(2 * told_so).len(), 2 * told_so);
}

#[test]
fn detailed_traces_have_a_span_of_each_middleware() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let of_api = |id: &str, path: &str, detailed: bool| {
        let blocked =
            api(id, path, &upstream.url()).set("enable_ip_blacklisting", true).set("blacklisted_ips", json!(["192.0.2.1"]));
        blocked.set("detailed_tracing", detailed)
    };
    let keys = api("keys", "/keys/", &upstream.url()).with_keys().set("detailed_tracing", true);
    let apis = [of_api("fine", "/fine/", true), of_api("coarse", "/coarse/", false), keys];
    let gateway = Gateway::start(to(&collector, json!({"sampling": {"type": "AlwaysOff", "parent_based": true}})), apis);
    let mut client = gateway.connect();
    let mut ask = |target: &str, lines: &[&str]| client.ask(request("GET", target, lines, "")).status;
    // One that is not taken leaves nothing for the next.
    assert_eq!(ask("/fine/", &[]), 200);
    assert_eq!(ask("/fine/", &[TRACEPARENT]), 200);
    let spans = collector.spans(3);
    let (own, of_upstream) = pair(&spans);
    let inner: Vec<&Span> = spans.iter().filter(|span| span.kind == SpanKind::Internal as i32).collect();
    assert_eq!(inner.iter().map(|span| span.name.as_str()).collect::<Vec<_>>(), ["IpBlock"]);
    let step = inner[0];
    assert_eq!((&step.trace_id, &step.parent_span_id), (&own.trace_id, &own.span_id));
    assert!(step.span_id != own.span_id && step.span_id != of_upstream.span_id && step.span_id != [0; 8]);
    assert!(own.start_time_unix_nano <= step.start_time_unix_nano && step.start_time_unix_nano <= step.end_time_unix_nano);
    assert!(step.end_time_unix_nano <= of_upstream.start_time_unix_nano);

    assert_eq!(ask("/coarse/", &[TRACEPARENT]), 200);
    let spans = collector.spans(5).split_off(3);
    assert!(spans.iter().all(|span| span.kind != SpanKind::Internal as i32), "{spans:?}");

    assert_eq!(ask("/keys/", &[TRACEPARENT]), 401);
    let spans = collector.spans(7).split_off(5);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["GET /keys/", "TokenAuth"], "what comes behind the refusal had no turn");
}

#[test]
fn refused_and_failed_requests_have_spans_too() {
    let collector = Collector::grpc(None);
    let closed = api("closed", "/closed/", "http://127.0.0.1:1/");
    let keys = api("keys", "/keys/", "http://127.0.0.1:1/").with_keys();
    let gateway = Gateway::start(to(&collector, json!({})), [closed, keys]);
    assert_eq!(gateway.send(request("GET", "/keys/", &[TRACEPARENT], "")).status, 401);
    let refused = collector.spans(1).remove(0);
    let found = attributes(&refused.attributes);
    assert_eq!((found["http.response.status_code"].as_str(), found["error.type"].as_str()), ("401", "auth_missing"));
    assert!(refused.status.is_none(), "a client's mistake is no error of the server");

    assert_eq!(gateway.send(request("GET", "/closed/", &[TRACEPARENT], "")).status, 500);
    let spans = collector.spans(3);
    let failed: Vec<&Span> = spans.iter().filter(|span| span.status.as_ref().is_some_and(|status| status.code == 2)).collect();
    assert_eq!(failed.len(), 2);
    let (own, of_upstream) = (failed[0], failed[1]);
    assert_eq!(attributes(&own.attributes)["error.type"], "upstream_connect");
    assert!(!attributes(&of_upstream.attributes).contains_key("http.response.status_code"));
    eventually("the failure is logged with its trace", || {
        gateway.log().lines().any(|line| line.contains("request failed") && line.contains(TRACE))
    });
}

#[test]
fn what_the_gateway_answers_by_itself_has_a_span() {
    let collector = Collector::http();
    let mock = json!([{"path": "/mocked", "method": "GET", "code": 203, "body": "mocked", "headers": {}}]);
    let definition = api("a", "/a/", "http://127.0.0.1:1/").list("mock_response", mock);
    let gateway = Gateway::start(to(&collector, json!({})), [definition]);
    assert_eq!(gateway.send(request("GET", "/a/mocked", &[TRACEPARENT], "")).status, 203);
    let span = collector.spans(1).remove(0);
    assert_eq!((hex(&span.trace_id).as_str(), attributes(&span.attributes)["http.response.status_code"].as_str()), (TRACE, "203"));
}

#[test]
fn requests_over_http_2_are_traced() {
    let collector = Collector::grpc(None);
    let upstream = Upstream::ok();
    let gateway = Gateway::start(to(&collector, json!({})), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut asked = get_http2("/a/x");
        asked.headers_mut().insert("traceparent", TRACEPARENT["traceparent: ".len()..].parse().unwrap());
        assert_eq!(ask(&client, asked).await.unwrap().status, 200);
    });
    let spans = collector.spans(2);
    let (own, of_upstream) = pair(&spans);
    assert_eq!((hex(&own.trace_id).as_str(), hex(&own.parent_span_id).as_str()), (TRACE, CALLER));
    assert_eq!(attributes(&own.attributes)["network.protocol.version"], "2");
    assert_eq!(told(&upstream.last()).1, hex(&of_upstream.span_id));
}

#[test]
fn b3_headers_carry_the_trace_where_they_are_asked_for() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let conf = to(&collector, json!({"context_propagation": "b3"}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let lines = [&format!("X-B3-TraceId: {TRACE}"), &format!("X-B3-SpanId: {CALLER}"), "X-B3-Sampled: 1"];
    gateway.send(request("GET", "/a/", &lines, ""));
    let spans = collector.spans(2);
    let (own, of_upstream) = pair(&spans);
    assert_eq!((hex(&own.trace_id).as_str(), hex(&own.parent_span_id).as_str()), (TRACE, CALLER));
    let seen = upstream.last();
    assert_eq!((seen.header("x-b3-traceid"), seen.header("x-b3-sampled")), (Some(TRACE), Some("1")));
    assert_eq!(seen.header("x-b3-spanid"), Some(hex(&of_upstream.span_id).as_str()));
    assert_eq!(seen.header("traceparent"), None);
}

#[test]
fn the_access_log_names_the_trace() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let log = tempfile::tempdir().unwrap();
    let file = log.path().join("access.log");
    let mut conf = to(&collector, json!({"sampling": {"type": "AlwaysOff"}}));
    merge(&mut conf, &json!({"access_logs": {"enabled": true}, "tollgate": {"access_log": {"file": file}}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url()).set("do_not_track", false)]);
    gateway.send(request("GET", "/a/", &[TRACEPARENT], ""));
    let line = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("the request is logged", || line().contains("status=200"));
    assert!(line().contains(&format!("trace_id={TRACE}")), "{}", line());
}

#[test]
fn a_request_that_is_not_to_be_tracked_is_traced_but_not_logged() {
    let collector = Collector::http();
    let upstream = Upstream::ok();
    let log = tempfile::tempdir().unwrap();
    let file = log.path().join("access.log");
    let records = log.path().join("records.json");
    let mut conf = to(&collector, json!({}));
    let own = json!({
        "access_logs": {"enabled": true}, "enable_analytics": true,
        "tollgate": {"access_log": {"file": file}, "analytics": {"file": records}}
    });
    merge(&mut conf, &own);
    let gateway = Gateway::start(
        conf,
        [api("untracked", "/untracked/", &upstream.url()), api("tracked", "/tracked/", &upstream.url()).set("do_not_track", false)],
    );
    gateway.get("/untracked/");
    gateway.get("/tracked/");
    collector.spans(4);
    for path in [&file, &records] {
        let text = || std::fs::read_to_string(path).unwrap_or_default();
        eventually("the other one is there", || text().contains("/tracked/"));
        assert!(!text().contains("/untracked/"), "{}", text());
    }
}

#[test]
fn a_collector_that_is_busy_is_asked_again() {
    for collector in [Collector::http(), Collector::grpc(None)] {
        collector.turn_away(2);
        let upstream = Upstream::ok();
        let gateway = Gateway::start(to(&collector, json!({})), [api("a", "/a/", &upstream.url())]);
        gateway.get("/a/");
        collector.spans(2);
        assert_eq!(collector.received().turned_away, 2);
        let text = gateway.control("GET", "/tyk/metrics", "").text();
        assert!(text.contains("tollgate_sink_records_total{sink=\"otlp_traces\",result=\"failed\"} 0\n"), "{text}");
    }
}

#[test]
fn a_collector_that_is_not_there_costs_counted_spans_and_nothing_else() {
    let upstream = Upstream::ok();
    // Connections to it are taken by the kernel and never answered.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = "127.0.0.1:1".to_owned();
    for (endpoint, counted) in [(silent.local_addr().unwrap().to_string(), "dropped"), (closed, "failed")] {
        let conf = json!({"opentelemetry": {
            "enabled": true, "exporter": "http", "endpoint": endpoint,
            "span_batch_config": {"max_queue_size": 4, "max_export_batch_size": 2, "batch_timeout": 1}
        }});
        let mut gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
        let mut client = gateway.connect();
        let begun = std::time::Instant::now();
        for _ in 0..100 {
            assert_eq!(client.ask(get("/a/")).status, 200);
        }
        // Waiting for the collector once would be ten seconds.
        assert!(begun.elapsed() < PATIENCE, "requests wait for the collector");
        eventually("lost spans are counted", || {
            let text = gateway.control("GET", "/tyk/metrics", "").text();
            let name = format!("tollgate_sink_records_total{{sink=\"otlp_traces\",result=\"{counted}\"}} ");
            let count = text.lines().find_map(|line| line.strip_prefix(&name)).expect("the figure").parse::<f64>().unwrap();
            count > 0.0
        });
        drop(client);
        gateway.signal("TERM");
        assert!(gateway.wait_for_exit().success());
    }
}

#[test]
fn the_last_spans_are_sent_before_the_end() {
    let collector = Collector::grpc(None);
    let upstream = Upstream::ok();
    let conf = to(&collector, json!({"span_batch_config": {"batch_timeout": 600}}));
    let mut gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    gateway.get("/a/");
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    assert_eq!(collector.received().spans.len(), 2);
}

#[test]
fn the_collector_may_speak_tls() {
    let authority = Authority::new("collectors");
    let collector = Collector::grpc(Some(server(&authority.issue(&["localhost"]))));
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let upstream = Upstream::ok();
    let endpoint = format!("localhost:{}", collector.address.port());
    let conf = to(&collector, json!({"endpoint": endpoint, "tls": {"enable": true, "ca_file": roots}}));
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    gateway.get("/a/");
    collector.spans(2);
}

#[test]
fn figures_are_pushed() {
    for collector in [Collector::http(), Collector::grpc(None)] {
        let upstream = Upstream::start(|_| ok());
        let conf = json!({"opentelemetry": {"metrics": {
            "enabled": true, "exporter": collector.exporter, "endpoint": collector.address.to_string(),
            "export_interval": 1, "resource_name": "edge"
        }}});
        let mut gateway = Gateway::start(conf, [api("shop", "/shop/", &upstream.url()).set("do_not_track", false)]);
        for _ in 0..3 {
            gateway.get("/shop/");
        }
        let requests = || {
            let received = collector.received();
            let metric = received.metrics.iter().find(|metric| metric.name == "tollgate_requests")?;
            let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
            let point = sum.data_points.iter().find(|point| attributes(&point.attributes)["api"] == "shop")?;
            assert!(sum.is_monotonic && point.start_time_unix_nano < point.time_unix_nano);
            Some(point.value)
        };
        eventually("the requests are pushed", || requests() == Some(Some(Number::AsDouble(3.0))));
        // They come a little later.
        let counted = || collector.received().metrics.iter().any(|metric| metric.name == "http.server.request.duration");
        eventually("Tyk's metrics are pushed", counted);
        let received = collector.received();
        assert_eq!(received.resource["service.name"], "edge");
        let times = received.metrics.iter().find(|metric| metric.name == "tollgate_request_duration_seconds").unwrap();
        let Some(Data::Histogram(histogram)) = &times.data else { panic!("{times:?}") };
        let point = &histogram.data_points[0];
        assert_eq!((point.count, point.bucket_counts.iter().sum::<u64>()), (3, 3));
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        for name in ["http.server.request.duration", "tyk.gateway.request.duration", "tyk.upstream.request.duration"] {
            let times = received.metrics.iter().find(|metric| metric.name == name).expect(name);
            let Some(Data::Histogram(histogram)) = &times.data else { panic!("{times:?}") };
            let point = &histogram.data_points[0];
            assert_eq!((point.count, &*attributes(&point.attributes)["tyk.api.id"], times.unit.as_str()), (3, "shop", "s"));
        }
        assert!(received.metrics.iter().any(|metric| metric.name == "tyk.api.requests.total"));
        assert!(received.spans.is_empty(), "traces are another matter");
        // What was counted since the last push is not lost.
        gateway.get("/shop/");
        gateway.signal("TERM");
        assert!(gateway.wait_for_exit().success());
        assert_eq!(requests(), Some(Some(Number::AsDouble(4.0))));
    }
}

#[test]
fn an_endpoint_that_is_none_ends_the_start_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("tyk.conf");
    let text = json!({"app_path": dir.path(), "tollgate": {"data_dir": dir.path()}, "opentelemetry": {"enabled": true, "endpoint": "ftp://c"}});
    std::fs::write(&conf, text.to_string()).unwrap();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = program.args(["run", "--port", "0", "--conf"]).arg(&conf).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("opentelemetry: the endpoint ftp://c is no address"), "{said}");
}
