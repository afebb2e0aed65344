use super::*;
use crate::report::otlp::figures::OtlpFigures;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use tollgate_model::config::OtlpMetrics;
use tollgate_observe::sink::RequestMetrics;
use tollgate_observe::{ApiMetadata, RequestRecord, Text};

/// Names, units, attributes and bounds of Tyk 5.14.0's usual metrics of requests, recorded from what it pushed.
#[test]
fn tyks_metrics_have_their_names_units_attributes_and_bounds() {
    let metrics = RequestMetrics::new(&OtlpMetrics::default()).unwrap();
    let mut record = RequestRecord::default();
    (record.metered, record.status, record.total_ns) = (true, 200, 2_000_000);
    record.write(Text::Method, b"GET");
    metrics.count_one(&record, &ApiMetadata { id: "shop".to_owned(), ..ApiMetadata::default() });
    let mut figures = OtlpFigures::new(1, 2);
    write_requests(&mut figures, metrics.counted());
    let (metrics, points) = figures.finish();
    let told: Vec<String> = metrics
        .iter()
        .map(|metric| {
            let (names, more) = match &metric.data {
                Some(Data::Histogram(histogram)) => {
                    let point = &histogram.data_points[0];
                    (&point.attributes, format!("{:?} {:?}", point.explicit_bounds, point.bucket_counts))
                }
                Some(Data::Sum(sum)) => (&sum.data_points[0].attributes, format!("{:?}", sum.data_points[0].value)),
                other => panic!("{other:?}"),
            };
            let names: Vec<&str> = names.iter().map(|attribute| attribute.key.as_str()).collect();
            format!("{} {} {} {more}", metric.name, metric.unit, names.join(","))
        })
        .collect();
    let bounds = "[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]";
    let buckets = |place: usize| {
        let counts: Vec<u64> = (0..13).map(|index| u64::from(index == place)).collect();
        format!("{bounds} {counts:?}")
    };
    let expected = [
        format!(
            "http.server.request.duration s http.request.method,http.response.status_code,tyk.api.id,tyk.response_flag {}",
            buckets(1)
        ),
        format!("tyk.gateway.request.duration s http.request.method,tyk.api.id,tyk.response_flag {}", buckets(1)),
        format!("tyk.upstream.request.duration s http.request.method,tyk.api.id,tyk.response_flag {}", buckets(0)),
        "tyk.api.requests.total 1 http.request.method,http.response.status_code,tyk.api.id Some(AsInt(1))".to_owned(),
    ];
    assert_eq!((told, points), (expected.to_vec(), 4));
}
