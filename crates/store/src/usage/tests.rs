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
        keys: Vec::new(),
        path: None,
        version: None,
        method: None,
        status: None,
        by,
        split: None,
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
    let UsageRow { value, counts, good, .. } = &rows[0];
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
    let keys = ["k", "' OR 1=1 --", "other"].map(str::to_owned);
    let [both, none] = [&keys[..], &keys[1..]].map(|keys| UsageQuestion { keys: keys.to_vec(), ..question(UsageBy::Key) });
    assert_eq!(usage.ask(&both).unwrap().len(), 1);
    assert_eq!(usage.ask(&none).unwrap(), []);
    let quoted = UsageQuestion { api: Some("' OR 1=1 --".to_owned()), ..question(UsageBy::Path) };
    assert!(usage.ask(&quoted).unwrap().is_empty());
}

#[test]
fn what_is_old_is_forgotten() {
    let (directory, usage) = usage();
    usage.add(&[hits(1, "a", "/x", 200, 1), hits(65, "a", "/x", 200, 2)]).unwrap();
    assert_eq!(usage.remove_before(60).unwrap(), 2, "a minute and the sum of its hour");
    drop(usage);
    let again = Usage::open(directory.path()).unwrap();
    assert_eq!(values(&again.ask(&question(UsageBy::Api)).unwrap()), [("a", 2)]);
}

#[test]
fn a_period_is_read_from_days_hours_and_minutes_exactly_once() {
    let day = 24 * 60;
    for (from, to, by) in [
        (0, 3 * day, UsageBy::Api),
        (day - 61, 2 * day + 75, UsageBy::Key),
        (17, 18, UsageBy::Path),
        (59, 3 * day + 61, UsageBy::Time(60)),
        (5, 4 * day + 7, UsageBy::Time(1_440)),
        (5, 2 * day, UsageBy::Time(7)),
        (0, 10 * day, UsageBy::Status),
    ] {
        let question = UsageQuestion { from, to, ..question(by) };
        let mut end = to;
        for (table, piece_from, piece_to) in pieces(&question, question.from, question.to) {
            let minutes = TABLES.iter().find(|(name, _)| *name == table).unwrap().1;
            assert_eq!(piece_to, end, "{question:?}");
            assert!(
                piece_from < piece_to && piece_from % minutes == 0 && piece_to % minutes == 0,
                "{table} {piece_from} {piece_to}"
            );
            end = piece_from;
        }
        assert_eq!(end, from, "{question:?}");
    }
    let month = UsageQuestion { from: 0, to: 30 * day, ..question(UsageBy::Api) };
    assert_eq!(pieces(&month, month.from, month.to).len(), 30, "a month is read from its days");
}

#[test]
fn sums_by_hour_and_day_are_those_of_the_minutes() {
    let (_directory, usage) = usage();
    let rows: Vec<_> = (0..4_000).step_by(7).map(|minute| hits(minute, "a", "/x", 200, 1)).collect();
    usage.add(&rows).unwrap();
    for (from, to) in [(0, 4_000), (1_440, 2_880), (100, 3_999), (61, 62)] {
        let expected = rows.iter().filter(|(key, _)| (from..to).contains(&key.minute)).count() as u64;
        let found = usage.ask(&UsageQuestion { from, to, ..question(UsageBy::Api) }).unwrap();
        assert_eq!(found.iter().map(|row| row.counts.hits).sum::<u64>(), expected, "{from}..{to}");
    }
    let by_day = usage.ask(&UsageQuestion { to: 4_320, ..question(UsageBy::Time(1_440)) }).unwrap();
    assert_eq!(values(&by_day), [("0", 206), ("1440", 206), ("2880", 160)]);
}

#[test]
fn the_second_dimension_names_the_most_used_values_and_sums_the_others() {
    let (_directory, usage) = usage();
    let mut rows: Vec<_> = (0..10).map(|api| hits(1, &format!("api-{api}"), "/x", 200, 10 - api)).collect();
    rows.push(hits(2, "api-9", "/x", 200, 1));
    usage.add(&rows).unwrap();
    let question = UsageQuestion { split: Some(UsageBy::Api), ..question(UsageBy::Time(1)) };
    let found = usage.ask(&question).unwrap();
    let shown: Vec<_> = found.iter().map(|row| (row.value.as_str(), row.split.as_deref().unwrap(), row.counts.hits)).collect();
    assert_eq!(shown.len(), 9, "{shown:?}");
    assert_eq!((shown[0], shown[4]), (("1", "api-0", 10), ("1", "_other", 6)), "{shown:?}");
    assert_eq!(shown[8], ("2", "_other", 1));
}

#[test]
fn what_does_not_come_in_time_is_said() {
    let (_directory, usage) = usage();
    usage.add(&[hits(5, "a", "/x", 200, 2)]).unwrap();
    let answer = usage.answer(&question(UsageBy::Api), Some(Instant::now())).unwrap();
    assert_eq!((answer.rows.len(), answer.partial_from), (0, Some(1_000)));
    let answer = usage.answer(&question(UsageBy::Api), None).unwrap();
    assert_eq!((answer.rows.len(), answer.partial_from), (1, None));
}

#[test]
fn a_key_is_seen_last_when_it_was_used_last() {
    let (_directory, usage) = usage();
    usage.add(&[hits(90, "a", "/x", 200, 1), hits(70, "b", "/x", 403, 1)]).unwrap();
    usage.add(&[hits(80, "a", "/x", 200, 1)]).unwrap();
    assert_eq!((usage.last_seen("k").unwrap(), usage.last_seen("unknown").unwrap()), (Some(90), None));
    usage.remove_before(91).unwrap();
    assert_eq!(usage.last_seen("k").unwrap(), None);
}

#[test]
fn a_file_of_minutes_gets_its_hours_and_days() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    usage.add(&[hits(5, "a", "/x", 200, 2), hits(1_500, "a", "/x", 200, 3)]).unwrap();
    usage.connect().unwrap().execute_batch("DROP TABLE usage_hour; DROP TABLE usage_day; DROP TABLE last_seen").unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    let rows = usage.ask(&UsageQuestion { to: 2_880, ..question(UsageBy::Api) }).unwrap();
    assert_eq!(values(&rows), [("a", 5)]);
}
