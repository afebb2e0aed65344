use super::*;

fn sample(unix_ms: u64, apis: Value) -> Sample {
    let live = json!({
        "version": "1.2.3", "unix_ms": unix_ms, "connections": {"client": 7, "upstream": 3}, "core_busy": [0.25, 0.5], "apis": apis
    });
    Sample { live, keys: vec![("k1".to_owned(), 9)], more: MoreAnswers::default() }
}

fn api(id: &str, requests: u64, refused: u64) -> Value {
    let mut buckets = [0; 17];
    buckets[4] = requests;
    json!({
        "api_id": id, "name": "N", "requests": requests, "codes": {"4xx": refused}, "in_flight": 2,
        "refusals": {"quota_exceeded": refused}, "upstream_errors": {}, "client_errors": {},
        "request_time": {"buckets": buckets}, "gateway_time": {"buckets": buckets}
    })
}

#[test]
fn a_view_is_what_happened_in_between() {
    let first = sample(10_000, json!([api("a", 100, 5), api("b", 50, 0)]));
    let second = sample(12_000, json!([api("a", 110, 9), api("b", 90, 0), api("new", 2, 0)]));
    let view = View::between(&first, &second);
    let rates: Vec<_> = view.apis.iter().map(|api| (api.id.as_str(), api.requests_per_s)).collect();
    assert_eq!(rates, [("b", 20.0), ("a", 5.0), ("new", 1.0)]);
    assert_eq!((view.requests_per_s, view.seconds, view.clients), (26.0, 2.0, 7));
    assert_eq!(view.causes, [("quota_exceeded".to_owned(), 2.0)]);
    assert!(view.apis[0].p50_ms > 2.5 && view.apis[0].p99_ms <= 5.0, "{view:?}");
    let json = view.to_json();
    assert_eq!((&json["apis"][1]["client_errors_per_s"], &json["keys"][0]["hits"]), (&json!(2.0), &json!(9)));
}

#[test]
fn the_hit_ratio_is_that_of_the_time_in_between() {
    let with = |hits: u64, misses: u64| {
        let mut api = api("a", 100, 0);
        api["cache"] = json!({"hits": hits, "misses": misses, "stale": 0, "coalesced": hits, "bytes": 77});
        api
    };
    let view = View::between(
        &sample(10_000, json!([with(50, 500), api("b", 1, 0)])),
        &sample(12_000, json!([with(51, 502), api("b", 9, 0)])),
    );
    assert_eq!((view.apis[1].cache_hit_ratio, view.apis[1].cache_bytes), (Some(0.5), 77));
    assert_eq!(view.apis[0].cache_hit_ratio, None);
    assert_eq!(view.to_json()["apis"][1]["cache_hit_ratio"], json!(0.5));
}

#[test]
fn a_gateway_that_was_restarted_does_not_count_backwards() {
    let view = View::between(&sample(10_000, json!([api("a", 100, 5)])), &sample(9_000, json!([api("a", 3, 0)])));
    assert_eq!(view.apis[0].requests_per_s, 0.0);
    assert!(view.causes.is_empty());
}
