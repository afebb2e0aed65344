use super::*;
use crate::usage::Usage;
use std::time::{Duration, Instant};

const DAY: i64 = 24 * 60;

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

fn of_team(team: &str, key: SpendKey) -> SpendKey {
    SpendKey { team: team.to_owned(), ..key }
}

#[test]
fn what_is_of_no_team_is_what_teams_leave() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    usage.prepare_spend().unwrap();
    let minute = 30 * 60;
    let sums = [
        (of_team("red", key(minute, "m", "p")), cost(10)),
        (of_team("red", key(minute, "n", "p")), cost(5)),
        (of_team("blue", key(minute, "m", "p")), cost(2)),
        (key(minute, "m", "p"), cost(1)),
    ];
    for _ in 0..2 {
        usage.add_spend(&sums).unwrap();
    }
    let by = |by, split, only: &[(SpendBy, &str)]| {
        let only = only.iter().map(|(by, value)| (*by, (*value).to_owned())).collect();
        asked(&usage, &SpendQuestion { split, only, ..question(0, 3 * DAY, by) })
    };
    assert_eq!(shown(&by(SpendBy::Model, None, &[])), [("m", "", 26), ("n", "", 10)]);
    assert_eq!(shown(&by(SpendBy::Team, None, &[])), [("red", "", 30), ("blue", "", 4), ("", "", 2)]);
    let split = [("m", "red", 20), ("m", "blue", 4), ("m", "", 2), ("n", "red", 10)];
    assert_eq!(shown(&by(SpendBy::Model, Some(SpendBy::Team), &[])), split);
    assert_eq!(shown(&by(SpendBy::Model, None, &[(SpendBy::Team, "red")])), [("m", "", 20), ("n", "", 10)]);
    assert_eq!(shown(&by(SpendBy::Model, None, &[(SpendBy::Team, "")])), [("m", "", 2)]);
    assert_eq!(shown(&by(SpendBy::Team, None, &[(SpendBy::Model, "n")])), [("red", "", 10)]);
    usage.remove_spend_before(minute + 60, 1_000 * DAY).unwrap();
    assert!(by(SpendBy::Team, None, &[]).is_empty());
}

/// What the version without teams does with the file.
fn without_teams(directory: &std::path::Path, micro_usd: i64) -> i64 {
    let texts = "api org policy key model provider instead_of outcome reason budget".split(' ').collect::<Vec<_>>();
    let columns = texts.iter().map(|name| format!("{name} TEXT NOT NULL, ")).collect::<String>();
    let sums = SUMS.map(|name| format!("{name} INTEGER NOT NULL, ")).concat();
    let file = rusqlite::Connection::open(directory.join("usage.db")).unwrap();
    for (table, minute) in [("spend_hour", 30 * 60), ("spend_day", 24 * 60)] {
        let primary = texts.join(", ");
        file.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (minute INTEGER NOT NULL, {columns}{sums}PRIMARY KEY (minute, {primary})) WITHOUT ROWID;
             INSERT INTO {table} VALUES ({minute}, 'a', 'o', '', '', 'm', 'p', '', 'ok', '', '', 1, 1, 10, 0, 0, 0, 0, {micro_usd}, 0, 0, 0)
             ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, attempts = attempts + excluded.attempts,
                input_tokens = input_tokens + excluded.input_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd"
        ))
        .unwrap();
    }
    file.query_row("SELECT SUM(cost_micro_usd) FROM spend_day", (), |row| row.get(0)).unwrap()
}

#[test]
fn the_version_without_teams_reads_and_adds_to_the_same_file() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(without_teams(directory.path(), 1), 1);
    // Upgraded, taken back, and upgraded again.
    let usage = Usage::open(directory.path()).unwrap();
    usage.prepare_spend().unwrap();
    usage.add_spend(&[(of_team("red", key(30 * 60, "m", "p")), cost(10))]).unwrap();
    assert_eq!(without_teams(directory.path(), 100), 111, "it has what teams cost, and adds its own");
    usage.prepare_spend().unwrap();
    usage.add_spend(&[(of_team("red", key(30 * 60, "m", "p")), cost(1_000))]).unwrap();
    let teams = question(0, 3 * DAY, SpendBy::Team);
    assert_eq!(shown(&asked(&usage, &teams)), [("red", "", 1_010), ("", "", 101)]);
    assert_eq!(shown(&asked(&usage, &question(0, 3 * DAY, SpendBy::Model))), [("m", "", 1_111)]);
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
