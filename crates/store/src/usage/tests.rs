use super::*;

fn usage() -> (tempfile::TempDir, Usage) {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    (directory, usage)
}

fn hits(minute: i64, api: &str, path: &str, status: u16, hits: u64) -> (UsageKey, UsageCounts) {
    let key = UsageKey {
        minute,
        api: api.to_owned(),
        key: "k".to_owned(),
        version: String::new(),
        method: "GET".to_owned(),
        path: path.to_owned(),
        status,
    };
    let mut buckets = [0; BUCKETS];
    buckets[3] = hits;
    (key, UsageCounts { hits, total_us: hits * 10, max_us: 10 + hits, buckets, ..UsageCounts::default() })
}

fn question(by: UsageBy) -> UsageQuestion {
    UsageQuestion {
        from: 0,
        to: 1_000,
        api: None,
        key: None,
        path: None,
        version: None,
        method: None,
        status: None,
        by,
        rows_max: 100,
    }
}

fn values(rows: &[UsageRow]) -> Vec<(&str, u64)> {
    rows.iter().map(|row| (row.value.as_str(), row.counts.hits)).collect()
}

#[test]
fn the_same_minute_is_added_up() {
    let (_directory, usage) = usage();
    usage.add(&[hits(5, "a", "/x", 200, 2), hits(5, "a", "/x", 500, 1)]).unwrap();
    usage.add(&[hits(5, "a", "/x", 200, 3)]).unwrap();
    let rows = usage.ask(&question(UsageBy::Api)).unwrap();
    assert_eq!(rows.len(), 1);
    let UsageRow { value, counts, good } = &rows[0];
    assert_eq!((value.as_str(), counts.hits, *good, counts.total_us, counts.max_us), ("a", 6, 5, 60, 13));
    assert_eq!(counts.buckets[3], 6);
}

#[test]
fn the_most_used_come_first_and_time_in_order() {
    let (_directory, usage) = usage();
    let rows =
        [hits(1, "a", "/x", 200, 1), hits(7, "b", "/y", 404, 9), hits(12, "a", "/z", 200, 3), hits(2_000, "a", "/x", 200, 99)];
    usage.add(&rows).unwrap();
    assert_eq!(values(&usage.ask(&question(UsageBy::Api)).unwrap()), [("b", 9), ("a", 4)]);
    assert_eq!(values(&usage.ask(&question(UsageBy::Path)).unwrap()), [("/y", 9), ("/z", 3), ("/x", 1)]);
    assert_eq!(values(&usage.ask(&question(UsageBy::Status)).unwrap()), [("404", 9), ("200", 4)]);
    assert_eq!(values(&usage.ask(&question(UsageBy::Time(10))).unwrap()), [("0", 10), ("10", 3)]);
    let one = UsageQuestion { rows_max: 1, api: Some("a".to_owned()), ..question(UsageBy::Path) };
    assert_eq!(values(&usage.ask(&one).unwrap()), [("/z", 3)]);
    let failures = UsageQuestion { status: Some((400, 499)), ..question(UsageBy::Time(10)) };
    assert_eq!(values(&usage.ask(&failures).unwrap()), [("0", 9)]);
    for (method, version, hits) in [("GET", "", 13), ("POST", "", 0), ("GET", "v2", 0)] {
        let (method, version) = (Some(method.to_owned()), Some(version.to_owned()));
        let rows = usage.ask(&UsageQuestion { method, version, ..question(UsageBy::Api) }).unwrap();
        assert_eq!(rows.iter().map(|row| row.counts.hits).sum::<u64>(), hits);
    }
    let quoted = UsageQuestion { api: Some("' OR 1=1 --".to_owned()), ..question(UsageBy::Path) };
    assert!(usage.ask(&quoted).unwrap().is_empty());
}

#[test]
fn what_is_old_is_forgotten() {
    let (directory, usage) = usage();
    usage.add(&[hits(1, "a", "/x", 200, 1), hits(7, "a", "/x", 200, 2)]).unwrap();
    assert_eq!(usage.remove_before(7).unwrap(), 1);
    drop(usage);
    let again = Usage::open(directory.path()).unwrap();
    assert_eq!(values(&again.ask(&question(UsageBy::Api)).unwrap()), [("a", 2)]);
}
