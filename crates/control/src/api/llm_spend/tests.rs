use super::*;

fn asked(text: &str) -> Result<SpendAsked, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned()));
    SpendAsked::read(&pairs.collect(), 1_000_000)
}

#[test]
fn the_last_month_by_model_is_what_is_asked_without_words() {
    let asked = asked("to=100000000").unwrap();
    let SpendQuestion { from, to, by, rows_max, .. } = asked.question;
    assert_eq!((to - from, by, rows_max, asked.is_for_all), (30 * 24 * 60 + 60, SpendBy::Model, 100, false));
}

#[test]
fn filters_and_steps_are_understood() {
    let asked = asked("by=time&step=1h&from=3601&to=7201&api_id=a&budget=&key=k&split=provider").unwrap();
    let question = asked.question;
    assert_eq!((question.from, question.to, question.by, asked.step_s), (60, 180, SpendBy::Time(60), 3_600));
    let only = [(SpendBy::Api, "a"), (SpendBy::Key, "k"), (SpendBy::Budget, "")].map(|(by, value)| (by, value.to_owned()));
    assert_eq!((question.only, question.split), (only.to_vec(), Some(SpendBy::Provider)));
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        ("by=colour", "by is \"colour\""),
        ("split=time", "split is \"time\""),
        ("from=10&to=10", "from must be before to"),
        ("step=30m", "step must be hours, or days"),
        ("step=25h", "step must be hours, or days"),
        ("last=1", "last must be such as"),
        ("top=-1", "top must be a whole number"),
        ("colour=red", "unknown parameter colour"),
        ("nodes=some", "nodes is \"some\""),
    ] {
        let error = asked(text).err().unwrap_or_default();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
