use super::*;
use crate::report::otlp::figures::OtlpFigures;

/// The names of Tyk 5.14.0's default metrics, with their units.
#[test]
fn tyks_metrics_have_their_names_units_and_attributes() {
    let mut sum = Sum::default();
    sum.requests[0][2] = 3;
    for time in [&mut sum.request_time, &mut sum.own_time, &mut sum.upstream_time] {
        time.buckets[0] = 3;
    }
    let mut figures = OtlpFigures::new(1, 2);
    write_requests(&mut figures, &[("shop", sum)]);
    let (metrics, points) = figures.finish();
    let names: Vec<(&str, &str)> = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
    let expected = [
        ("http.server.request.duration", "s"),
        ("tyk.gateway.request.duration", "s"),
        ("tyk.upstream.request.duration", "s"),
        ("tyk.api.requests.total", ""),
        ("tyk.http.requests", ""),
    ];
    assert_eq!((names, points), (expected.to_vec(), 5));
    let told = format!("{:?}", metrics[3]);
    for attribute in ["http.request.method", "GET", "http.response.status_code", "2xx", "tyk.api.id", "shop"] {
        assert!(told.contains(attribute), "{told}");
    }
}
