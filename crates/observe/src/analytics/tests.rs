use super::*;
use crate::facts::{ApiMetadata, tags};
use serde_json::json;
use tollgate_model::analytics::RecordTime;

fn analyst(settings: Value) -> Analyst {
    let mut config = GatewayConfig { hash_keys: true, ..GatewayConfig::of_empty_file() };
    config.analytics_config = serde_json::from_value(settings).unwrap();
    Analyst::new(&config).unwrap()
}

fn of_path(path: &str) -> RequestRecord {
    let mut record = RequestRecord::default();
    record.write(Text::Method, b"GET");
    record.write(Text::OriginalPath, b"/api");
    record.append(path.as_bytes());
    record.write_path(path);
    record
}

fn facts() -> ApiMetadata {
    ApiMetadata { id: "shop".to_owned(), org_id: "acme".to_owned(), tags: tags("acme", "shop"), ..ApiMetadata::default() }
}

fn made<'r>(analyst: &Analyst, record: &'r RequestRecord, facts: &'r ApiMetadata) -> AnalyticsRecord<'r> {
    analyst.record(&RecordRef { record, facts, peer: "", time: RecordTime { unix_s: 1_000, ns: 0 } })
}

#[test]
fn paths_are_made_uniform_as_configured() {
    let uuid = "/u/01234567-89ab-CDEF-0123-456789abcdef/x";
    let ulid = "/l/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let all = json!({"normalise_urls": {
        "enabled": true, "normalise_uuids": true, "normalise_ulids": true, "normalise_numbers": true, "custom_patterns": ["sku-[a-z]+"]
    }});
    for (settings, path, expected) in [
        (&all, uuid, "/u/{uuid}/x"),
        (&all, ulid, "/l/{ulid}"),
        (&all, "/n/12/34/5a", "/n/{id}/{id}/{id}a"),
        (&all, "/s/sku-abc/1", "/s/{var}/{id}"),
        (&all, "", "/"),
        (&json!({"normalise_urls": {"enabled": false, "normalise_numbers": true}}), "/n/12", "/n/12"),
        (&json!({"normalise_urls": {"enabled": true, "normalise_uuids": true}}), "/n/12", "/n/12"),
    ] {
        let (record, facts) = (of_path(path), facts());
        let record = made(&analyst(settings.clone()), &record, &facts);
        assert_eq!(record.path, expected, "{settings}");
        assert_eq!(record.raw_path, if path.is_empty() { "/" } else { path });
    }
}

#[test]
fn usage_always_has_uniform_paths() {
    let analyst = analyst(json!({}));
    for (path, expected) in [
        ("/n/12/34/56", "/n/{id}/{id}/{id}"),
        ("/v1/12a/7", "/v1/12a/{id}"),
        ("/u/0123456789abcdef0123456789abcdef", "/u/{uuid}"),
        ("/plain", "/plain"),
    ] {
        assert_eq!(analyst.uniform_path(&of_path(path)), expected);
    }
}

#[test]
fn a_tracked_endpoint_is_known_by_its_pattern() {
    let mut record = of_path("/orders/7/items");
    record.write(Text::TrackedPath, b"/orders/{id}/items");
    let analyst = analyst(json!({}));
    let facts = facts();
    let written = made(&analyst, &record, &facts);
    assert_eq!(
        (written.path.as_ref(), written.raw_path.as_ref(), written.track_path),
        ("/orders/{id}/items", "/orders/7/items", true)
    );
    assert_eq!(analyst.uniform_path(&record), "/orders/{id}/items");
}

#[test]
fn a_request_without_a_key_has_tyks_placeholder() {
    let (record, facts) = (of_path("/"), facts());
    let record = made(&analyst(json!({})), &record, &facts);
    assert_eq!(record.api_key, "00000000");
    assert_eq!(record.tags, ["key-00000000", "org-acme", "api-shop"]);
    assert_eq!(record.api_version, NOT_VERSIONED);
}

#[test]
fn a_broken_pattern_is_named() {
    let mut config = GatewayConfig::of_empty_file();
    config.analytics_config.normalise_urls.enabled = true;
    config.analytics_config.normalise_urls.custom_patterns = vec!["(".to_owned()];
    let error = Analyst::new(&config).err().unwrap().to_string();
    assert!(error.starts_with("analytics_config.normalise_urls.custom_patterns: "), "{error}");
}
