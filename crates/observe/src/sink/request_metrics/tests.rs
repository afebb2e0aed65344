use super::*;
use crate::ApiMetadata;
use serde_json::{Value, json};

fn metrics(written: Value) -> Arc<RequestMetrics> {
    let settings: OtlpMetrics = serde_json::from_value(written).unwrap();
    RequestMetrics::new(&settings).unwrap()
}

fn record(method: &str, status: u16) -> RequestRecord {
    let mut record = RequestRecord::default();
    (record.metered, record.status) = (true, status);
    record.write(Text::Method, method.as_bytes());
    record
}

/// Names and values of each set of attributes, sorted, with its count.
fn told(metrics: &Arc<RequestMetrics>) -> Vec<String> {
    let counted = metrics.counted();
    let of = |series: &CountedSeries| {
        let attributes: Vec<String> = series.attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", attributes.join(","), series.sums.count)
    };
    let mut told: Vec<String> = counted.iter().flat_map(|(_, series)| series.iter().map(of)).collect();
    told.sort();
    told
}

#[test]
fn requests_are_told_apart_by_their_attributes() {
    let metrics = metrics(json!({"api_metrics": [{"name": "m", "type": "counter", "dimensions": [
        {"source": "metadata", "key": "method"},
        {"source": "metadata", "key": "response_code", "label": "code"},
        {"source": "metadata", "key": "endpoint", "default": "none"},
        {"source": "header", "key": "X-Tenant", "label": "tenant", "default": "nobody"},
        {"source": "response_header", "key": "X-Cache"}
    ]}]}));
    let facts = ApiMetadata::default();
    metrics.count_one(&record("GET", 200), &facts);
    metrics.count_one(&record("GET", 200), &facts);
    let mut other = record("POST", 503);
    other.write(Text::Dimensions, b"acme\n");
    other.write(Text::ResponseDimensions, b"hit\n");
    metrics.count_one(&other, &facts);
    let expected = [
        "method=GET,code=200,endpoint=none,tenant=nobody,X-Cache= 2",
        "method=POST,code=503,endpoint=none,tenant=acme,X-Cache=hit 1",
    ];
    assert_eq!(told(&metrics), expected);
}

#[test]
fn filters_choose_requests() {
    let cases = [
        (json!({}), vec!["GET 200", "POST 404", "GET 503"]),
        (json!({"methods": ["get"]}), vec!["GET 200", "GET 503"]),
        (json!({"status_codes": ["2xx", "503"]}), vec!["GET 200", "GET 503"]),
        (json!({"status_codes": ["4xx"], "methods": ["GET"]}), vec![]),
        (json!({"api_ids": ["shop"]}), vec!["GET 200", "POST 404", "GET 503"]),
        (json!({"api_ids": ["other"]}), vec![]),
    ];
    let facts = ApiMetadata { id: "shop".to_owned(), ..ApiMetadata::default() };
    for (filters, expected) in cases {
        let dimensions = json!([{"source": "metadata", "key": "method"}, {"source": "metadata", "key": "response_code"}]);
        let metrics =
            metrics(json!({"api_metrics": [{"name": "m", "type": "counter", "filters": filters, "dimensions": dimensions}]}));
        for (method, status) in [("GET", 200), ("POST", 404), ("GET", 503)] {
            metrics.count_one(&record(method, status), &facts);
        }
        let mut expected: Vec<String> = expected
            .iter()
            .map(|text| format!("method={},response_code={} 1", &text[..text.len() - 4], &text[text.len() - 3..]))
            .collect();
        expected.sort();
        assert_eq!(told(&metrics), expected, "{filters}");
    }
}

#[test]
fn attribute_sets_beyond_the_limit_are_one() {
    let metrics = metrics(json!({"cardinality_limit": 3, "api_metrics": [
        {"name": "m", "type": "counter", "dimensions": [{"source": "metadata", "key": "response_code", "label": "code"}]}
    ]}));
    for status in [200, 201, 202, 203, 200] {
        metrics.count_one(&record("GET", status), &ApiMetadata::default());
    }
    assert_eq!(told(&metrics), ["code=200 2", "code=201 1", "otel.metric.overflow=true 2"]);
}

#[test]
fn times_are_counted_in_their_buckets() {
    let histogram =
        |source: &str| json!({"name": source, "type": "histogram", "histogram_source": source, "histogram_buckets": [0.001, 0.01]});
    let metrics = metrics(json!({"api_metrics": [histogram("total"), histogram("gateway"), histogram("upstream")]}));
    let mut times = record("GET", 200);
    (times.total_ns, times.upstream_ns) = (12_000_000, 11_500_000);
    metrics.count_one(&times, &ApiMetadata::default());
    let counted = metrics.counted();
    let buckets: Vec<(&[u64], u64)> = counted.iter().map(|(_, series)| (&*series[0].sums.buckets, series[0].sums.sum_ns)).collect();
    assert_eq!(buckets, [(&[0, 0, 1][..], 12_000_000), (&[1, 0, 0], 500_000), (&[0, 0, 1], 11_500_000)]);
    // A time on a bound belongs below it.
    let mut sums = Sums::default();
    sums.count_time(1_000_000, &[0.001, 0.01]);
    assert_eq!(sums.buckets, [1, 0, 0]);
}

#[test]
fn a_status_is_written_in_digits() {
    for status in [0, 7, 99, 200, 599, 65_535] {
        assert_eq!(number(status, &mut [0; 5]), status.to_string().as_bytes());
    }
}
