use super::*;
use std::time::Duration;

fn asked(text: &str) -> Result<(UsageQuestion, i64), String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned()));
    let asked = UsageAsked::read(&pairs.collect(), SystemTime::UNIX_EPOCH + Duration::from_secs(600_030))?;
    Ok((asked.question, asked.step_s))
}

#[test]
fn the_last_hour_by_api_is_what_is_asked_without_words() {
    let (question, _) = asked("").unwrap();
    assert_eq!((question.from, question.to, question.by, question.rows_max), (9_941, 10_002, UsageBy::Api, 10));
}

#[test]
fn spans_and_steps_are_understood() {
    let (question, step_s) = asked("from=6000&to=12001&by=time&step=5m&api_id=a").unwrap();
    assert_eq!((question.from, question.to, question.by, step_s), (100, 201, UsageBy::Time(5), 300));
    assert_eq!(question.api.as_deref(), Some("a"));
    let (question, _) = asked("last=2d&to=600000").unwrap();
    assert_eq!(question.from, 10_000 - 2 * 24 * 60);
    let (question, _) = asked("status=5xx&method=get&version=v1").unwrap();
    assert_eq!(
        (question.status, question.method.as_deref(), question.version.as_deref()),
        (Some((500, 599)), Some("GET"), Some("v1"))
    );
    assert_eq!(asked("status=404").unwrap().0.status, Some((404, 404)));
    assert_eq!(asked("top=999999999").unwrap().0.rows_max, ROWS_MAX);
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        ("by=colour", "by is \"colour\""),
        ("from=now", "from must be a whole number"),
        ("from=10&to=10", "from must be before to"),
        ("last=h", "last must be such as"),
        ("last=-1h", "last must be such as"),
        ("last=9999999999999999d", "last must be such as"),
        ("step=99999999999999d", "step is too long"),
        ("step=9999999999999999d", "step must be such as"),
        ("status=7xx", "status must be such as"),
        ("status=xx", "status must be such as"),
        ("status=40", "status must be such as"),
        ("status=99999", "status must be such as"),
        ("colour=red", "unknown parameter colour"),
    ] {
        let error = asked(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
