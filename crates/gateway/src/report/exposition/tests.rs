use super::*;

fn text(form: Form) -> String {
    let mut text = ExpositionText::new(form);
    text.family("a_requests", Kind::Counter, "Requests.").sample(&[("api", "say \"hi\"\\\n")], 3.0);
    text.family("a_open", Kind::Gauge, "Open.").sample(&[], 0.5);
    text.finish()
}

#[test]
fn prometheus_names_a_counter_with_its_suffix() {
    let expected = "# HELP a_requests_total Requests.\n# TYPE a_requests_total counter\n\
                    a_requests_total{api=\"say \\\"hi\\\"\\\\\\n\"} 3\n\
                    # HELP a_open Open.\n# TYPE a_open gauge\na_open 0.5\n";
    assert_eq!(text(Form::Prometheus), expected);
}

#[test]
fn open_metrics_names_the_family_without_it_and_ends() {
    let text = text(Form::OpenMetrics);
    assert!(text.contains("# TYPE a_requests counter\na_requests_total{"), "{text}");
    assert!(text.ends_with("a_open 0.5\n# EOF\n"), "{text}");
}

#[test]
fn buckets_add_up() {
    let mut values = Distribution::default();
    (values.buckets[0], values.buckets[2], values.buckets[BOUNDS], values.sum_ns) = (1, 2, 4, 1_500_000_000);
    let mut text = ExpositionText::new(Form::Prometheus);
    text.family("t_seconds", Kind::Histogram, "Times.");
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
    assert_eq!(Form::accepted(prometheus), Form::Prometheus);
    assert_eq!(Form::accepted(&format!("application/openmetrics-text;version=1.0.0;q=0.5,{prometheus}")), Form::OpenMetrics);
    for (accept, form) in [
        ("", Form::Prometheus),
        ("*/*", Form::Prometheus),
        ("application/openmetrics-text", Form::OpenMetrics),
        ("Application/OpenMetrics-Text; version=1.0.0; q=0.7, text/plain; q=0.7", Form::OpenMetrics),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", Form::Prometheus),
        ("application/openmetrics-text;q=0", Form::Prometheus),
        ("application/openmetrics-text-not", Form::Prometheus),
    ] {
        assert_eq!(Form::accepted(accept), form, "{accept}");
    }
}
