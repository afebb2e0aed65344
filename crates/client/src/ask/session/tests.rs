use super::*;

#[test]
fn rates_and_quotas_read_as_sentences() {
    for (document, reads) in [
        (json!({"rate": 100, "per": 60, "quota_max": 1000, "quota_renewal_rate": 3600}), ("100 in 60 s", "1000 in 1 h")),
        (json!({"rate": 0.5, "per": 1.5, "quota_max": 3, "quota_renewal_rate": -1}), ("0.5 in 1.5 s", "3")),
        (json!({"rate": 5, "quota_max": -1, "quota_renewal_rate": 60}), ("-", "-")),
        (json!({}), ("-", "-")),
    ] {
        assert_eq!((rate(&document).as_str(), quota(&document).as_str()), reads, "{document}");
    }
}

#[test]
fn a_right_names_the_versions_of_a_versioned_api_and_default_otherwise() {
    let versioned = json!({"version_data": {"not_versioned": false, "versions": {"v1": {}, "v2": {}}}});
    assert_eq!(versions(&versioned), ["v1", "v2"]);
    for plain in [json!({}), json!({"version_data": {"not_versioned": true, "versions": {"x": {}}}})] {
        assert_eq!(versions(&plain), ["Default"], "{plain}");
    }
}
