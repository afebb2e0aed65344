use super::*;
use tollgate_model::distribution::REQUEST_NS;

#[test]
fn each_kind_of_family_has_its_message() {
    let mut figures = OtlpFigures::new(1, 2);
    figures.family("a_requests", MetricKind::Counter, "Requests.").sample(&[("api", "x")], 3.0).sample(&[("api", "y")], 4.0);
    figures.family("a_open", MetricKind::Gauge, "Open.").sample(&[], 0.5);
    figures.family("a_nothing", MetricKind::Counter, "Nothing.");
    figures.family("a_seconds", MetricKind::Histogram, "Times.");
    let mut values = Distribution::default();
    (values.buckets[0], values.buckets[BOUNDS], values.sum_ns) = (1, 2, 1_500_000_000);
    figures.histogram(&[("api", "x")], &REQUEST_NS, &values);
    let (metrics, points) = figures.finish();
    assert_eq!(points, 4);
    let names: Vec<(&str, &str)> = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
    assert_eq!(names, [("a_requests", ""), ("a_open", ""), ("a_seconds", "s")]);
    let Some(Data::Sum(sum)) = &metrics[0].data else { panic!("{:?}", metrics[0]) };
    assert!(sum.is_monotonic && sum.aggregation_temporality == AggregationTemporality::Cumulative as i32);
    let point = &sum.data_points[1];
    assert_eq!((point.start_time_unix_nano, point.time_unix_nano, point.value), (1, 2, Some(Value::AsDouble(4.0))));
    assert_eq!(point.attributes, [text("api", "y")]);
    let Some(Data::Histogram(histogram)) = &metrics[2].data else { panic!("{:?}", metrics[2]) };
    let point = &histogram.data_points[0];
    assert_eq!(
        (point.count, point.sum, point.bucket_counts.len(), point.explicit_bounds.len()),
        (3, Some(1.5), BOUNDS + 1, BOUNDS)
    );
    assert_eq!(point.explicit_bounds[0], 0.000_25);
}
