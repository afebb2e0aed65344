use super::*;
use tracing::{Metadata, callsite::DefaultCallsite};

static PLACE: DefaultCallsite = DefaultCallsite::new(&META);
static META: Metadata<'static> = Metadata::new(
    "place",
    "tests",
    Level::WARN,
    None,
    None,
    None,
    tracing::field::FieldSet::new(&[], tracing::callsite::Identifier(&PLACE)),
    tracing::metadata::Kind::EVENT,
);

fn kind(api: &str, cause: &str) -> LineKind {
    LineKind { callsite: Identifier(&PLACE), api: Some(api.to_owned()), cause: Some(cause.to_owned()) }
}

/// How many of `lines` lines are written.
fn written(limiter: &mut LineLimiter, kind: &LineKind, lines: u32, now_ms: u64) -> usize {
    (0..lines).filter(|_| limiter.admit(kind.clone(), Level::WARN, "request failed".to_owned(), now_ms)).count()
}

#[test]
fn the_first_lines_of_a_window_are_written_and_the_others_counted() {
    let mut limiter = LineLimiter::default();
    let kind = kind("a", "upstream_failed");
    assert_eq!(written(&mut limiter, &kind, 1_254, 500), 20);
    assert!(limiter.take_left_out(10_499, false).is_empty(), "the window is not over");
    let summary =
        SuppressedLines { kind: kind.clone(), level: Level::WARN, message: "request failed".to_owned(), lines: 1_234, seconds: 10 };
    assert_eq!(limiter.take_left_out(10_500, false), [summary]);
    assert_eq!(limiter.left_out(), 1_234);
    assert!(limiter.take_left_out(60_000, false).is_empty());
    assert_eq!(written(&mut limiter, &kind, 30, 60_000), 20, "the next window begins with its first line");
}

#[test]
fn a_few_lines_are_never_left_out() {
    let mut limiter = LineLimiter::default();
    assert_eq!(written(&mut limiter, &kind("a", "b"), 20, 0), 20);
    assert!(limiter.take_left_out(10_000, false).is_empty());
}

#[test]
fn one_api_or_cause_does_not_hide_another() {
    let mut limiter = LineLimiter::default();
    assert_eq!(written(&mut limiter, &kind("a", "upstream_failed"), 10_000, 0), 20);
    assert_eq!(written(&mut limiter, &kind("b", "upstream_failed"), 5, 0), 5);
    assert_eq!(written(&mut limiter, &kind("a", "upstream_timeout"), 5, 0), 5);
}

#[test]
fn at_the_end_nothing_is_kept_back() {
    let mut limiter = LineLimiter::default();
    written(&mut limiter, &kind("a", "b"), 25, 1_000);
    let left_out = limiter.take_left_out(1_200, true);
    assert_eq!(left_out.iter().map(|summary| (summary.lines, summary.seconds)).collect::<Vec<_>>(), [(5, 1)]);
}

#[test]
fn the_table_is_bounded() {
    let mut limiter = LineLimiter::default();
    let admitted: usize = (0..10_000).map(|api| written(&mut limiter, &kind(&api.to_string(), "b"), 1, 0)).sum();
    assert_eq!(admitted, KINDS_MAX + 20, "beyond the bound all are one kind");
    assert_eq!(limiter.windows.len(), KINDS_MAX + 1);
    assert!(limiter.left_out() > 0);
}
