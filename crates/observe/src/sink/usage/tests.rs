use super::*;
use crate::facts::ApiMetadata;
use tollgate_model::analytics::RecordTime;
use tollgate_model::config::GatewayConfig;
use tollgate_store::usage::{UsageBy, UsageQuestion};

/// A sink that keeps its sums for this many days, and its destination.
fn sink(days: u32) -> (tempfile::TempDir, Usage, UsageSink, SinkThread) {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    let analyst = Arc::new(Analyst::new(&GatewayConfig::of_empty_file()).unwrap());
    let (sink, writer) = UsageSink::start(analyst, usage.clone(), days, SinkFigures::new("usage")).unwrap();
    (directory, usage, sink, writer)
}

fn take(sink: &mut UsageSink, minute: i64, path: &str) {
    let facts = ApiMetadata { id: "shop".to_owned(), ..ApiMetadata::default() };
    let mut record = RequestRecord::default();
    (record.analytics, record.status) = (true, 200);
    record.write(Text::Method, b"GET");
    record.write(Text::Path, path.as_bytes());
    sink.take(&RecordRef { record: &record, facts: &facts, peer: "", time: RecordTime { unix_s: minute * 60, ns: 0 } });
}

fn by_path(usage: &Usage) -> Vec<(String, u64)> {
    let question = UsageQuestion {
        from: 0,
        to: i64::MAX,
        api: None,
        key: None,
        keys: Vec::new(),
        path: None,
        version: None,
        method: None,
        status: None,
        by: UsageBy::Path,
        split: None,
        rows_max: 10 * PATHS_MAX,
    };
    usage.ask(&question).unwrap().into_iter().map(|row| (row.value, row.counts.hits)).collect()
}

#[test]
fn ten_thousand_paths_are_so_many_and_the_rest() {
    let (_directory, usage, mut sink, writer) = sink(30);
    for number in 0..10_000 {
        take(&mut sink, 29_000_000, &format!("/a{number}b"));
    }
    sink.flush(true);
    drop(sink);
    writer.wait(Duration::from_secs(10));
    let rows = by_path(&usage);
    assert_eq!(rows.len(), PATHS_MAX + 1);
    assert_eq!(rows[0], (OTHER.to_owned(), 10_000 - PATHS_MAX as u64));
}

#[test]
fn sums_are_kept_for_their_days() {
    let (_directory, usage, mut sink, writer) = sink(2);
    let (now, day) = (29_000_000, 24 * 60);
    for (minute, path) in [(now - 3 * day, "/old"), (now - day, "/yesterday"), (now, "/now")] {
        take(&mut sink, minute, path);
    }
    sink.flush(true);
    drop(sink);
    writer.wait(Duration::from_secs(10));
    assert_eq!(by_path(&usage), [("/now".to_owned(), 1), ("/yesterday".to_owned(), 1)]);
}

#[test]
fn a_call_is_counted_for_what_it_uses_and_nothing_else_can_look_like_it() {
    let (_directory, usage, mut sink, writer) = sink(30);
    let facts = ApiMetadata { id: "shop".to_owned(), is_mcp: true, ..ApiMetadata::default() };
    let calls = [
        ("tools/call", Some((PrimitiveKind::Tool, "weather"))),
        ("tools/call", Some((PrimitiveKind::Tool, "weather"))),
        ("resources/read", Some((PrimitiveKind::Resource, "file:///a/1"))),
        ("tools/list", None),
        ("", None),
    ];
    for (method, primitive) in calls {
        let mut record = RequestRecord::default();
        (record.analytics, record.status) = (true, 200);
        record.write(Text::Method, b"POST");
        record.write(Text::Path, b"/mcp-tool:weather");
        record.write_call(method, primitive);
        sink.take(&RecordRef { record: &record, facts: &facts, peer: "", time: RecordTime { unix_s: 1_740_000_000, ns: 0 } });
    }
    sink.flush(true);
    drop(sink);
    writer.wait(Duration::from_secs(10));
    let mut rows = by_path(&usage);
    rows.sort();
    let expected = [("/json-rpc-method:tools/list", 1), ("/mcp-resource:file:///a/1", 1), ("/mcp-tool:weather", 2), (OTHER, 1)];
    assert_eq!(rows, expected.map(|(path, hits)| (path.to_owned(), hits)));
}
