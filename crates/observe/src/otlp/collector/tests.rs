use super::*;
use serde_json::{Value, json};
use tollgate_model::config::Traces;

fn of(settings: Value, signal: Signal) -> Result<String, String> {
    let traces: Traces = serde_json::from_value(settings).unwrap();
    address(&traces.collector(), signal).map(|uri| uri.to_string())
}

#[test]
fn an_endpoint_is_a_host_or_a_url() {
    let grpc = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    for (settings, expected) in [
        (json!({}), format!("http://localhost:4317{grpc}")),
        (json!({"endpoint": "c:1"}), format!("http://c:1{grpc}")),
        (json!({"endpoint": "c:1", "tls": {"enable": true}}), format!("https://c:1{grpc}")),
        (json!({"endpoint": "http://c:1", "tls": {"enable": true}}), format!("https://c:1{grpc}")),
        (json!({"endpoint": "https://c"}), format!("https://c{grpc}")),
        (json!({"exporter": "http"}), "http://localhost:4318/v1/traces".to_owned()),
        (json!({"exporter": "http", "endpoint": "https://c:1/otlp/"}), "https://c:1/otlp/v1/traces".to_owned()),
        (json!({"exporter": "http", "endpoint": "https://c:1/otlp/v1/traces"}), "https://c:1/otlp/v1/traces".to_owned()),
        (json!({"exporter": "http", "endpoint": "[::1]:4318"}), "http://[::1]:4318/v1/traces".to_owned()),
    ] {
        assert_eq!(of(settings.clone(), Signal::Traces), Ok(expected), "{settings}");
    }
    let one_for_both = json!({"exporter": "http", "endpoint": "http://c:1/v1/traces"});
    assert_eq!(of(one_for_both, Signal::Metrics), Ok("http://c:1/v1/metrics".to_owned()));
    for endpoint in ["ftp://c:1", "://", "a b", "unix:///run/c"] {
        assert!(
            of(json!({"endpoint": endpoint}), Signal::Traces).unwrap_err().contains(endpoint.trim_end_matches('/')),
            "{endpoint}"
        );
    }
}

#[test]
fn only_what_may_pass_is_tried_again() {
    let grpc = |status: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-status", HeaderValue::from_static(status));
        judge_grpc(&headers).map_err(|failure| failure.again.is_some())
    };
    assert_eq!(["0", "14", "3", "16"].map(grpc), [Ok(()), Err(true), Err(false), Err(false)]);
    assert!(judge_grpc(&HeaderMap::new()).is_err());
    let http = |status: u16| judge_http(StatusCode::from_u16(status).unwrap(), &HeaderMap::new()).map_err(|f| f.again.is_some());
    assert_eq!([200, 202, 503, 429, 400, 500].map(http), [Ok(()), Ok(()), Err(true), Err(true), Err(false), Err(false)]);
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
    let failure = judge_http(StatusCode::TOO_MANY_REQUESTS, &headers).unwrap_err();
    assert_eq!(failure.again, Some(Some(Duration::from_secs(7))));
}
