use super::{FoundSession, IDLE_S_MAX, LIFE_S_MAX, Operator, SESSIONS_MAX, Sessions};
use crate::role::Role;
use crate::scope::OperatorScope;

fn ann() -> Operator {
    Operator { name: "ann".to_owned(), role: Role::Editor, scope: OperatorScope::default(), provider: None }
}

#[test]
fn a_session_ends_after_its_idle_time_and_in_any_case_after_its_life() {
    let mut sessions = Sessions::default();
    sessions.start("t", ann(), LIFE_S_MAX, 1_000);
    let found = FoundSession { operator: ann(), begun_unix_s: 1_000, ends_unix_s: 1_000 + LIFE_S_MAX };
    assert_eq!(sessions.find("t", true, 1_000 + IDLE_S_MAX - 1), Some(found));
    assert_eq!(sessions.find("x", true, 1_001), None);
    // What the page asks by itself does not keep it going.
    let used = 1_000 + IDLE_S_MAX - 1;
    assert!(sessions.find("t", false, used + IDLE_S_MAX - 1).is_some());
    assert_eq!(sessions.find("t", true, used + IDLE_S_MAX), None);

    sessions.start("t", ann(), LIFE_S_MAX, 0);
    let mut now = 0;
    while now + IDLE_S_MAX / 2 < LIFE_S_MAX {
        now += IDLE_S_MAX / 2;
        assert!(sessions.find("t", true, now).is_some(), "{now}");
    }
    assert_eq!(sessions.find("t", true, LIFE_S_MAX), None);
}

#[test]
fn sessions_are_bounded_and_the_idlest_goes_first() {
    let mut sessions = Sessions::default();
    for number in 0..SESSIONS_MAX {
        sessions.start(&number.to_string(), ann(), LIFE_S_MAX, number as u64 / 2);
    }
    assert!(sessions.find("0", true, 900).is_some());
    sessions.start("new", ann(), LIFE_S_MAX, 901);
    assert!(sessions.find("0", true, 902).is_some());
    assert!(sessions.find("1", true, 902).is_none());
    assert!(sessions.find("new", true, 902).is_some());
}

#[test]
fn all_sessions_of_a_user_end_but_the_one_that_is_kept() {
    let mut sessions = Sessions::default();
    let bob = Operator { name: "bob".to_owned(), role: Role::Admin, scope: OperatorScope::default(), provider: None };
    for (token, operator) in [("a", ann()), ("b", ann()), ("c", bob)] {
        sessions.start(token, operator, LIFE_S_MAX, 0);
    }
    sessions.end_of("ann", Some("b"));
    let left: Vec<bool> = ["a", "b", "c"].map(|token| sessions.find(token, true, 1).is_some()).to_vec();
    assert_eq!(left, [false, true, true]);
    sessions.end("c");
    assert!(sessions.find("c", true, 1).is_none());
}
