use super::{APIS_MAX, BYTES_MAX, History, HistorySpan, SLOTS, SpanQuestion};
use crate::figures::{Count, Figures};
use serde_json::{Value, json};

const START: u64 = 1_700_000_000;

fn requests(count: u64) -> Figures {
    let mut figures = Figures::default();
    figures.set(Count::Requests, count);
    figures
}

fn span(history: &History, step_s: u64, from: u64, to: u64) -> HistorySpan {
    let question = SpanQuestion { from_unix_s: from, to_unix_s: to, step_s, api: None, apis_max: APIS_MAX };
    let mut span = HistorySpan::new(question);
    history.read(&mut span);
    span
}

fn shown(history: &History, step_s: u64, from: u64, to: u64) -> Value {
    span(history, step_s, from, to).to_json(str::to_owned)
}

#[test]
fn gaps_stay_gaps_and_idle_apis_are_zero() {
    let mut history = History::default();
    history.add(START + 5, &requests(10), vec![("a".into(), requests(7)), ("b".into(), requests(3))]);
    // No sample at START + 10: the process did not run.
    history.add(START + 15, &requests(4), vec![("a".into(), requests(4)), ("idle".into(), requests(0))]);
    let shown = shown(&history, 5, START, START + 15);
    assert_eq!(shown["from_unix_s"], START);
    assert_eq!(shown["totals"]["requests"], json!([10, null, 4]));
    assert_eq!(shown["apis"][0]["api_id"], "a");
    assert_eq!(shown["apis"][0]["requests"], json!([7, null, 4]));
    assert_eq!(shown["apis"][1]["requests"], json!([3, null, 0]));
    assert_eq!(shown["apis"].as_array().map(Vec::len), Some(2));
}

#[test]
fn longer_steps_add_counts_and_merge_buckets() {
    let mut history = History::default();
    for (at, bucket) in [(5, 0), (10, 0), (15, 3), (20, 3)] {
        let mut figures = requests(2);
        figures.upstream[bucket] = 2;
        figures.set(Count::InFlight, at);
        history.add(START + at, &figures, vec![("a".into(), figures.clone())]);
    }
    let shown = shown(&history, 20, START, START + 20);
    assert_eq!(shown["totals"]["requests"], json!([8]));
    assert_eq!(shown["totals"]["in_flight"], json!([20]), "a level is not added");
    assert_eq!(shown["totals"]["upstream_p50_us"], json!([250]));
    assert_eq!(shown["apis"][0]["requests"], json!([8]));
}

#[test]
fn an_hour_is_kept_within_two_mebibytes_even_of_thousands_of_busy_apis() {
    let mut history = History::default();
    let mut busy = requests(u64::MAX / 2);
    busy.numbers_mut().for_each(|number| *number = u64::MAX / 3);
    for slot in 1..=(SLOTS as u64 + 300) {
        let apis = (0..300).map(|api| (format!("api-{}", api + slot), busy.clone())).collect();
        history.add(START + slot * 5, &busy, apis);
    }
    assert!(history.bytes() <= BYTES_MAX, "{}", history.bytes());
    assert_eq!(history.samples.len(), SLOTS);
    assert!(history.names.places.len() <= SLOTS + APIS_MAX, "names of dropped samples are forgotten");
    let end = START + (SLOTS as u64 + 300) * 5;
    let shown = shown(&history, 5, 0, end);
    assert_eq!(shown["samples"], SLOTS);
    assert!(shown.to_string().len() <= 2 << 20, "{}", shown.to_string().len());
}

#[test]
fn fifty_usual_apis_have_room_in_each_sample() {
    let mut history = History::default();
    let mut usual = requests(1_500);
    usual.set(Count::Ok, 1_480);
    usual.set(Count::ClientErrors, 20);
    usual.set(Count::InFlight, 3);
    usual.set(Count::ResponseBytes, 4_000_000);
    for bucket in 0..7 {
        usual.upstream[bucket] = 200;
        usual.gateway[bucket] = 200;
    }
    let apis = (0..APIS_MAX).map(|api| (format!("api-{api}"), usual.clone())).collect();
    history.add(START, &usual, apis);
    assert!(history.samples[0].is_complete);
}

#[test]
fn an_api_that_did_not_fit_is_unknown_and_not_zero() {
    let mut history = History::default();
    let busy: Vec<_> = (0..60).map(|api| (format!("api-{api:02}"), requests(100 - api))).collect();
    history.add(START + 5, &requests(1), busy);
    history.add(START + 10, &requests(1), vec![("api-59".into(), requests(1))]);
    let shown = span(&history, 5, START, START + 10).to_json(str::to_owned);
    let last = shown["apis"].as_array().and_then(|apis| apis.iter().find(|api| api["api_id"] == "api-59")).cloned();
    assert!(last.is_none() || last.is_some_and(|api| api["requests"] == json!([null, 1])));
    assert_eq!(shown["apis_left_out"], 1);
}

#[test]
fn gateways_are_added() {
    let (mut one, mut other) = (History::default(), History::default());
    one.add(START + 5, &requests(1), vec![("a".into(), requests(1))]);
    other.add(START + 5, &requests(2), vec![("a".into(), requests(2))]);
    other.add(START + 10, &requests(5), vec![("b".into(), requests(5))]);
    let mut sum = span(&one, 5, START, START + 10);
    let sent = serde_json::to_vec(&span(&other, 5, START, START + 10)).unwrap();
    sum.merge(serde_json::from_slice(&sent).unwrap());
    let shown = sum.to_json(str::to_owned);
    assert_eq!(shown["totals"]["requests"], json!([3, 5]));
    assert_eq!(shown["apis"][0]["requests"], json!([0, 5]), "{shown}");
}

#[test]
fn a_clock_that_is_set_back_does_not_stop_the_history() {
    let mut history = History::default();
    history.add(START + 1_000, &requests(1), Vec::new());
    history.add(START, &requests(2), Vec::new());
    assert_eq!(shown(&history, 5, START - 5, START)["totals"]["requests"], json!([2]));
    assert_eq!(history.samples.len(), 1);
}
