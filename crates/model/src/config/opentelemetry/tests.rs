use super::*;
use crate::config::GatewayConfig;
use serde_json::{Value, json};

fn of(settings: Value) -> OpenTelemetry {
    serde_json::from_value(settings).unwrap()
}

#[test]
fn settings_stand_in_traces_or_beside_it() {
    assert_eq!(of(json!({"endpoint": "old:1"})).traces(), None);
    let old = of(json!({"enabled": true, "endpoint": "old:1", "sampling": {"type": "AlwaysOff"}})).traces().unwrap();
    assert_eq!((old.endpoint.as_str(), old.rate()), ("old:1", 0.0));
    let both = of(json!({"enabled": true, "endpoint": "old:1", "traces": {"enabled": true, "endpoint": "new:1"}}));
    assert_eq!(both.traces().unwrap().endpoint, "new:1");
}

#[test]
fn what_is_left_out_is_as_the_documentation_says() {
    let collector = of(json!({"enabled": true})).traces().unwrap().collector();
    assert_eq!(
        (collector.endpoint.as_str(), collector.over_http, collector.resource_name.as_str()),
        ("localhost:4317", false, "tyk")
    );
    assert_eq!(collector.connect_time_max, Duration::from_secs(1));
    let http = of(json!({"enabled": true, "exporter": "http"})).traces().unwrap().collector();
    assert_eq!((http.endpoint.as_str(), http.over_http), ("localhost:4318", true));
    for (kind, rate, expected) in
        [("", 0.0, 1.0), ("AlwaysOn", 0.1, 1.0), ("TraceIDRatioBased", 0.0, 0.5), ("traceidratiobased", 0.1, 0.1)]
    {
        let traces = of(json!({"enabled": true, "sampling": {"type": kind, "rate": rate}})).traces().unwrap();
        assert_eq!(traces.rate(), expected, "{kind} {rate}");
    }
    let batch = SpanBatch::default();
    assert_eq!((batch.spans(), batch.batches(), batch.time_max()), (512, 16, Duration::from_secs(5)));
}

#[test]
fn figures_go_where_traces_go_unless_they_have_a_place_of_their_own() {
    assert_eq!(of(json!({"enabled": true})).metrics(), None);
    let shared = of(json!({"enabled": true, "exporter": "http", "endpoint": "a:1", "metrics": {"enabled": true}}));
    let (collector, interval) = shared.metrics().unwrap();
    assert_eq!((collector.endpoint.as_str(), collector.over_http, interval), ("a:1", true, Duration::from_secs(60)));
    let own = of(json!({"enabled": true, "exporter": "http", "endpoint": "a:1", "metrics": {
        "enabled": true, "endpoint": "b:2", "export_interval": 5
    }}));
    let (collector, interval) = own.metrics().unwrap();
    assert_eq!((collector.endpoint.as_str(), collector.over_http, interval), ("b:2", false, Duration::from_secs(5)));
}

#[test]
fn the_environment_says_the_same() {
    let variables = [
        ("TYK_GW_OPENTELEMETRY_TRACES_ENABLED", "true"),
        ("TYK_GW_OPENTELEMETRY_TRACES_SAMPLING_TYPE", "TraceIDRatioBased"),
        ("TYK_GW_OPENTELEMETRY_TRACES_SAMPLING_RATE", "0.1"),
        ("TYK_GW_OPENTELEMETRY_TRACES_HEADERS", "x-api-key:secret"),
        ("TYK_GW_OPENTELEMETRY_TRACES_TLS_CAFILE", "/etc/ca.pem"),
        ("TYK_GW_OPENTELEMETRY_METRICS_EXPORTINTERVAL", "7"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (config, _) = GatewayConfig::load(None, variables.into_iter()).unwrap();
    let traces = config.opentelemetry.traces().unwrap();
    assert_eq!((traces.rate(), traces.headers["x-api-key"].as_str()), (0.1, "secret"));
    assert_eq!(traces.tls.ca_file, PathBuf::from("/etc/ca.pem"));
    assert_eq!(config.opentelemetry.metrics.export_interval, 7);
}

#[test]
fn what_can_not_be_is_named() {
    let found = |settings: Value| -> Vec<String> {
        let config = GatewayConfig { opentelemetry: of(settings), ..GatewayConfig::of_empty_file() };
        let mut findings = Findings::default();
        config.opentelemetry.check(&mut findings);
        let (Ok((_, problems)) | Err(problems)) = findings.conclude(Some(()));
        problems.iter().map(ToString::to_string).collect()
    };
    assert_eq!(found(json!({"enabled": true})), Vec::<String>::new());
    assert_eq!(found(json!({"exporter": "pigeon"})), Vec::<String>::new(), "what is off is not judged");
    for (settings, expected) in [
        (json!({"enabled": true, "exporter": "pigeon"}), "$.opentelemetry.exporter: error: must be one of grpc, http"),
        (
            json!({"traces": {"enabled": true, "sampling": {"rate": 2}}}),
            "$.opentelemetry.traces.sampling.rate: error: must be a number from 0 to 1",
        ),
        (
            json!({"enabled": true, "context_propagation": "custom"}),
            "$.opentelemetry.custom_trace_header: error: must not be empty: context_propagation needs it",
        ),
        (
            json!({"enabled": true, "tls": {"cert_file": "a"}}),
            "$.opentelemetry.tls.cert_file: error: needs key_file, and key_file needs it",
        ),
    ] {
        assert_eq!(found(settings), [expected]);
    }
}
