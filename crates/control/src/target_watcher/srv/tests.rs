use super::*;

fn record(host: &str, port: u16, priority: u16, weight: u16) -> SrvRecord {
    SrvRecord { host: host.to_owned(), port, priority, weight }
}

#[test]
fn records_become_targets_with_weights_and_ranks() {
    // The example of RFC 2782, with its hosts in another order.
    let records = vec![
        record("old-slow-box.example.com", 9, 0, 1),
        record("sysadmins-box.example.com", 9, 1, 0),
        record("server.example.com", 9, 1, 0),
        record("new-fast-box.example.com", 9, 0, 3),
    ];
    let found = targets(records, "http", "/x").unwrap();
    let shown: Vec<(&str, u32, u8)> = found.iter().map(|target| (target.url.as_str(), target.weight, target.priority)).collect();
    assert_eq!(
        shown,
        [
            ("http://new-fast-box.example.com:9/x", 300, 0),
            ("http://old-slow-box.example.com:9/x", 100, 0),
            ("http://server.example.com:9/x", 1, 1),
            ("http://sysadmins-box.example.com:9/x", 1, 1),
        ]
    );
}

#[test]
fn a_service_that_is_not_offered_has_no_targets() {
    assert!(targets(vec![record("", 0, 0, 0)], "http", "").is_err());
    assert!(targets(Vec::new(), "http", "").is_err());
    let twice = vec![record("a", 1, 5, 1), record("a", 1, 5, 1), record("a", 0, 5, 1)];
    assert_eq!(targets(twice, "tcp", "").unwrap().len(), 1);
}
