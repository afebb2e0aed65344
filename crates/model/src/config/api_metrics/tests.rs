use super::*;
use crate::config::GatewayConfig;
use serde_json::{Value, json};

/// The problems of `api_metrics`, or the metrics.
fn loaded(api_metrics: Value) -> Result<Vec<ApiMetric>, String> {
    let dir = std::env::temp_dir().join(format!("tollgate-api-metrics-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("tyk.conf");
    let mut metrics = json!({"enabled": true});
    if !api_metrics.is_null() {
        metrics["api_metrics"] = api_metrics;
    }
    std::fs::write(&file, json!({"secret": "s", "opentelemetry": {"metrics": metrics}}).to_string()).unwrap();
    let loaded = GatewayConfig::load(Some(&file), std::iter::empty());
    std::fs::remove_dir_all(&dir).unwrap();
    let told = |problems: Vec<crate::Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    loaded.map(|(config, _)| config.opentelemetry.metrics.api_metrics).map_err(told)
}

#[test]
fn without_the_field_there_are_tyks_metrics_and_with_an_empty_list_none() {
    let names: Vec<String> = loaded(Value::Null).unwrap().into_iter().map(|metric| metric.name).collect();
    let expected =
        ["http.server.request.duration", "tyk.gateway.request.duration", "tyk.upstream.request.duration", "tyk.api.requests.total"];
    assert_eq!(names, expected);
    assert_eq!(loaded(json!([])).unwrap(), []);
    let own = loaded(json!([{"name": "mine", "type": "counter"}])).unwrap();
    assert_eq!((own.len(), own[0].name.as_str(), own[0].time()), (1, "mine", None));
}

#[test]
fn tyks_usual_metrics_are_good() {
    let mut findings = Findings::default();
    check(&ApiMetric::standard(), &JsonPath::of("m"), &mut findings);
    assert!(findings.conclude(Some(())).unwrap().1.is_empty());
}

#[test]
fn what_cannot_be_counted_is_an_error_with_its_place() {
    let dimension = |dimension: Value| json!([{"name": "m", "type": "counter", "dimensions": [dimension]}]);
    for (written, part) in [
        (json!([{"type": "counter"}]), "[0].name: error: must not be empty"),
        (json!([{"name": "m"}]), "[0].type: error: must be counter or histogram"),
        (json!([{"name": "m", "type": "histogram"}]), "[0].histogram_source: error: must be total, gateway or upstream"),
        (json!([{"name": "m", "type": "counter", "histogram_source": "total"}]), "[0].histogram_source: error: must be empty"),
        (json!([{"name": "m", "type": "counter"}, {"name": "m", "type": "counter"}]), "[1].name: error: \"m\" is defined twice"),
        (dimension(json!({"source": "nowhere", "key": "x"})), "dimensions[0]: error: source \"nowhere\" must be one of"),
        (dimension(json!({"source": "header"})), "dimensions[0]: error: key must not be empty"),
        (dimension(json!({"source": "metadata", "key": "x"})), "dimensions[0]: error: key \"x\" must be one of method"),
        (dimension(json!({"source": "session", "key": "x"})), "dimensions[0]: error: key \"x\" must be one of api_key"),
        (
            json!([{"name": "m", "type": "counter", "filters": {"status_codes": ["20x"]}}]),
            "[0].filters.status_codes[0]: error: must be a status",
        ),
        (
            json!([{"name": "m", "type": "histogram", "histogram_source": "total", "histogram_buckets": [2.0, 1.0]}]),
            "[0].histogram_buckets: error: must be numbers in ascending order",
        ),
    ] {
        let told = loaded(written.clone()).expect_err(&written.to_string());
        assert!(told.contains(part), "{written}: {told}");
    }
}

#[test]
fn statuses_and_classes_are_filters() {
    for (text, yes, no) in [("404", 404, 405), ("5xx", 599, 499), ("1xx", 100, 200)] {
        let filter = StatusFilter::read(text).unwrap();
        assert!(filter.has(yes) && !filter.has(no), "{text}");
    }
    for text in ["", "40", "4040", "6xx", "0xx", "xx", "4x4", "+40"] {
        assert_eq!(StatusFilter::read(text), None, "{text}");
    }
}
