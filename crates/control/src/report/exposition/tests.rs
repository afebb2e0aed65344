use super::*;

fn text(form: ExpositionFormat) -> String {
    let mut text = ExpositionText::new(form);
    text.family("a_requests", MetricKind::Counter, "Requests.").sample(&[("api", "say \"hi\"\\\n")], 3.0);
    text.family("a_open", MetricKind::Gauge, "Open.").sample(&[], 0.5);
    text.finish()
}

#[test]
fn prometheus_names_a_counter_with_its_suffix() {
    let expected = "# HELP a_requests_total Requests.\n# TYPE a_requests_total counter\n\
                    a_requests_total{api=\"say \\\"hi\\\"\\\\\\n\"} 3\n\
                    # HELP a_open Open.\n# TYPE a_open gauge\na_open 0.5\n";
    assert_eq!(text(ExpositionFormat::Prometheus), expected);
}

#[test]
fn open_metrics_names_the_family_without_it_and_ends() {
    let text = text(ExpositionFormat::OpenMetrics);
    assert!(text.contains("# TYPE a_requests counter\na_requests_total{"), "{text}");
    assert!(text.ends_with("a_open 0.5\n# EOF\n"), "{text}");
}

#[test]
fn buckets_add_up() {
    let mut values = Distribution::default();
    (values.buckets[0], values.buckets[2], values.buckets[BOUNDS], values.sum_ns) = (1, 2, 4, 1_500_000_000);
    let mut text = ExpositionText::new(ExpositionFormat::Prometheus);
    text.family("t_seconds", MetricKind::Histogram, "Times.");
    text.histogram(&[("api", "x")], &tollgate_model::distribution::REQUEST_NS, &values);
    let text = text.finish();
    for line in [
        "t_seconds_bucket{api=\"x\",le=\"0.00025\"} 1",
        "t_seconds_bucket{api=\"x\",le=\"0.0005\"} 1",
        "t_seconds_bucket{api=\"x\",le=\"0.001\"} 3",
        "t_seconds_bucket{api=\"x\",le=\"30.0\"} 3",
        "t_seconds_bucket{api=\"x\",le=\"+Inf\"} 7",
        "t_seconds_sum{api=\"x\"} 1.5",
        "t_seconds_count{api=\"x\"} 7",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    }
}

#[test]
fn the_form_follows_what_is_accepted() {
    let prometheus = "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    assert_eq!(ExpositionFormat::accepted(prometheus), ExpositionFormat::Prometheus);
    assert_eq!(
        ExpositionFormat::accepted(&format!("application/openmetrics-text;version=1.0.0;q=0.5,{prometheus}")),
        ExpositionFormat::OpenMetrics
    );
    for (accept, form) in [
        ("", ExpositionFormat::Prometheus),
        ("*/*", ExpositionFormat::Prometheus),
        ("application/openmetrics-text", ExpositionFormat::OpenMetrics),
        ("Application/OpenMetrics-Text; version=1.0.0; q=0.7, text/plain; q=0.7", ExpositionFormat::OpenMetrics),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", ExpositionFormat::Prometheus),
        ("application/openmetrics-text;q=0", ExpositionFormat::Prometheus),
        ("application/openmetrics-text-not", ExpositionFormat::Prometheus),
    ] {
        assert_eq!(ExpositionFormat::accepted(accept), form, "{accept}");
    }
}
