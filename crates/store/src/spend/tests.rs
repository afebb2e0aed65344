use super::*;
use std::time::Duration;

fn key(minute: i64, model: &str, provider: &str) -> SpendKey {
    let [api, org, outcome] = ["a", "o", "ok"].map(str::to_owned);
    SpendKey { minute, api, org, outcome, model: model.to_owned(), provider: provider.to_owned(), ..SpendKey::default() }
}

fn cost(micro_usd: u64) -> SpendCounts {
    SpendCounts { requests: 1, attempts: 1, input_tokens: 10, cost_micro_usd: micro_usd, ..SpendCounts::default() }
}

fn question(from: i64, to: i64, by: SpendBy) -> SpendQuestion {
    SpendQuestion { from, to, only: Vec::new(), by, split: None, rows_max: 100 }
}

fn asked(usage: &Usage, question: &SpendQuestion) -> Vec<(String, Option<String>, u64)> {
    let answer = usage.spend(question, Instant::now() + Duration::from_secs(60)).unwrap();
    assert!(!answer.is_partial);
    answer.rows.into_iter().map(|row| (row.value, row.split, row.counts.cost_micro_usd)).collect()
}

fn shown(rows: &[(String, Option<String>, u64)]) -> Vec<(&str, &str, u64)> {
    rows.iter().map(|(value, split, cost)| (value.as_str(), split.as_deref().unwrap_or_default(), *cost)).collect()
}

#[test]
fn days_and_hours_of_a_period_are_summed_once() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    usage.prepare_spend().unwrap();
    // From 22:30 on day 0 to 1:10 on day 3, each hour.
    let hours: Vec<_> = (22..=73).map(|hour| (key(hour * 60 + 10, "m", "p"), cost(1))).collect();
    usage.add_spend(&hours).unwrap();
    usage.add_spend(&[(key(30 * 60, "n", "p"), cost(100))]).unwrap();
    let all = question(0, 10 * DAY, SpendBy::Model);
    assert_eq!(shown(&asked(&usage, &all)), [("n", "", 100), ("m", "", 52)]);
    let part = question(23 * 60, 73 * 60, SpendBy::Api);
    assert_eq!(shown(&asked(&usage, &part)), [("a", "", 150)]);
    let days = question(0, 10 * DAY, SpendBy::Time(24 * 60));
    assert_eq!(shown(&asked(&usage, &days)), [("0", "", 2), ("1440", "", 124), ("2880", "", 24), ("4320", "", 2)]);
    let hours = question(0, 24 * 60, SpendBy::Time(60));
    assert_eq!(shown(&asked(&usage, &hours)), [("1320", "", 1), ("1380", "", 1)]);
    let only = SpendQuestion { only: vec![(SpendBy::Model, "n".to_owned())], ..all.clone() };
    assert_eq!(shown(&asked(&usage, &only)), [("n", "", 100)]);
    let split = SpendQuestion { by: SpendBy::Provider, split: Some(SpendBy::Model), ..all };
    assert_eq!(shown(&asked(&usage, &split)), [("p", "n", 100), ("p", "m", 52)]);
}

#[test]
fn old_hours_go_before_old_days() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    usage.prepare_spend().unwrap();
    let now = 1_000 * DAY;
    let days: Vec<_> = [1, 300, 990].iter().map(|day| (key(day * DAY, "m", "p"), cost(1))).collect();
    usage.add_spend(&days).unwrap();
    usage.remove_spend_before(now - 30 * DAY, now).unwrap();
    assert_eq!(shown(&asked(&usage, &question(0, now, SpendBy::Api))), [("a", "", 2)]);
    let hours = question(0, now, SpendBy::Time(60));
    assert_eq!(asked(&usage, &hours).len(), 1);
}

#[test]
fn parts_of_several_gateways_become_one_answer() {
    let row = |value: &str, split: &str, micro_usd| {
        let answer = SpendRow { value: value.to_owned(), split: Some(split.to_owned()), counts: cost(micro_usd) };
        SpendAnswer { rows: vec![answer], is_partial: false }
    };
    let question = SpendQuestion { split: Some(SpendBy::Provider), rows_max: 2, ..question(0, DAY, SpendBy::Key) };
    let rows = SpendAnswer::merged(&question, [row("k", "p", 1), row("k", "p", 2), row("l", "q", 2), row("n", "q", 1)]).rows;
    let shown: Vec<_> = rows.iter().map(|row| (row.value.as_str(), row.counts.cost_micro_usd, row.counts.requests)).collect();
    assert_eq!(shown, [("k", 3, 2), ("l", 2, 1)]);
    let many = (0..10).map(|number| row("k", &format!("p{number}"), number));
    let rows = SpendAnswer::merged(&question, many).rows;
    assert_eq!((rows.len(), rows.iter().any(|row| row.split.as_deref() == Some(OTHER))), (8, true));
}
