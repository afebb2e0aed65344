use super::*;
use crate::observe::facts::ApiFacts;
use crate::observe::record::Record;
use tollgate_model::analytics::Time;
use tollgate_model::config::GatewayConfig;
use tollgate_store::usage::{UsageBy, UsageQuestion};

#[test]
fn paths_beyond_the_bound_are_summed_together() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    let analyst = Arc::new(Analyst::new(&GatewayConfig::of_empty_file()).unwrap());
    let figures = SinkFigures::new("usage");
    let mut sink = UsageSink::start(analyst, usage.clone(), 30, figures).unwrap();
    let facts = ApiFacts { id: "shop".to_owned(), ..ApiFacts::default() };
    let minute = 29_000_000;
    for number in 0..PATHS_MAX + 30 {
        let mut record = Record::default();
        (record.analytics, record.status) = (true, 200);
        record.write(Text::Method, &[b"GET"]);
        record.write(Text::Path, &[format!("/a{number}b").as_bytes()]);
        sink.take(&Hit { record: &record, facts: &facts, time: Time { unix_s: minute * 60, ns: 0 } });
    }
    sink.flush(true);
    drop(sink);
    let question = UsageQuestion {
        from: 0,
        to: i64::MAX,
        api: None,
        key: None,
        path: None,
        version: None,
        method: None,
        status: None,
        by: UsageBy::Path,
        rows_max: 10 * PATHS_MAX,
    };
    let rows = usage.ask(&question).unwrap();
    assert_eq!(rows.len(), PATHS_MAX + 1);
    assert_eq!((rows[0].value.as_str(), rows[0].counts.hits), (OTHER, 30));
}
