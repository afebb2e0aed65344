use super::*;

#[test]
fn since_is_when_the_state_began_and_asked_is_the_last_time() {
    let mut health = ServerHealth::default();
    let mut told = |fault: Option<&str>, unix_s| {
        let is_news = health.note(fault.map(str::to_owned), unix_s);
        (is_news, health.since_unix_s, health.asked_unix_s, health.fault.clone())
    };
    assert_eq!(told(None, 10), (false, Some(10), Some(10), None));
    assert_eq!(told(None, 20), (false, Some(10), Some(20), None));
    assert_eq!(told(Some("gone"), 30), (true, Some(30), Some(30), Some("gone".to_owned())));
    assert_eq!(told(Some("refused"), 40), (false, Some(30), Some(40), Some("refused".to_owned())));
    assert_eq!(told(None, 50), (true, Some(50), Some(50), None));
}

#[test]
fn a_process_that_ends_after_the_next_has_begun_does_not_end_that() {
    let mut figures = ProcessFigures::default();
    let first = figures.begin(10, String::new());
    let second = figures.begin(20, String::new());
    figures.finish(first, 21, "its output ended", String::new());
    assert_eq!((figures.running, figures.restarts, figures.started_unix_s), (true, 1, Some(20)));
    figures.finish(second, 30, "its output ended", "no room".to_owned());
    assert_eq!((figures.running, figures.ended_unix_s), (false, Some(30)));
    assert_eq!(figures.end, "its output ended; it wrote: no room");
}
