use super::{ALIVE_FOR, BACK_WITHIN, HeardSign, KnownMembers, MEMBERS_MAX, PresenceState, SHOWN_FOR, SignOfLife};
use crate::node::{NodeEvent, NodeState};
use std::time::{Duration, Instant};
use tollgate_store::LogId;

fn id(text: &str) -> LogId {
    text.parse().unwrap()
}

/// A sign of life of the process `node/number`.
fn presence(process: &str, number: u64, applied: Option<&str>, state: PresenceState) -> SignOfLife {
    let node = process.split('/').next().unwrap_or_default().to_owned();
    let runs = Some(NodeState { node: node.clone(), apis: 3, ..NodeState::default() });
    let (id, process) = (process.to_owned(), process.to_owned());
    SignOfLife { id, process, node, state, number, applied: applied.map(str::to_owned), runs }
}

fn up(process: &str, number: u64) -> SignOfLife {
    presence(process, number, None, PresenceState::Up)
}

fn gone(process: &str, number: u64) -> SignOfLife {
    presence(process, number, None, PresenceState::Gone)
}

fn joined(node: &str) -> HeardSign {
    HeardSign::News(NodeEvent::Joined(node.to_owned()))
}

fn left(node: &str) -> HeardSign {
    HeardSign::News(NodeEvent::Left(node.to_owned()))
}

#[test]
fn a_gateway_confirms_with_what_it_has_carried_out() {
    let (mut members, now) = (KnownMembers::default(), Instant::now());
    let mut say = |process, number, applied| members.hear(presence(process, number, applied, PresenceState::Up), now);
    say("one", 1, Some("10-0"));
    say("two", 1, Some("9-7"));
    say("three", 1, None);
    assert_eq!(members.unconfirmed(id("10-0"), 0, now), ["three", "two"]);
    assert_eq!(members.unconfirmed(id("9-7"), 0, now), ["three"]);
    let mut say = |process, number, applied| members.hear(presence(process, number, applied, PresenceState::Up), now);
    say("two", 2, Some("10-1"));
    say("three", 2, Some("not an id"));
    assert_eq!(members.unconfirmed(id("10-1"), 0, now), ["one", "three"]);
}

#[test]
fn who_is_silent_or_says_that_it_ends_is_not_waited_for() {
    let (mut members, start) = (KnownMembers::default(), Instant::now());
    assert_eq!(members.hear(up("silent", 1), start), joined("silent"));
    assert_eq!(members.hear(up("gone", 1), start), joined("gone"));
    assert_eq!(members.hear(gone("gone", 2), start), left("gone"));
    assert_eq!(members.hear(gone("gone", 3), start), HeardSign::Known, "it is gone already");
    assert_eq!(members.unconfirmed(id("1-0"), 0, start), ["silent"]);
    let almost = start + ALIVE_FOR - Duration::from_millis(1);
    assert_eq!((members.processes(almost), members.expire(almost)), (vec!["silent".to_owned()], Vec::new()));
    let end = start + ALIVE_FOR;
    assert!(members.unconfirmed(id("1-0"), 0, end).is_empty() && members.processes(end).is_empty());
    assert_eq!(members.expire(end), [NodeEvent::Left("silent".to_owned())]);
    assert_eq!(members.hear(up("silent", 9), end), joined("silent"));
}

#[test]
fn a_restart_without_interruption_is_no_event() {
    let (mut members, now) = (KnownMembers::default(), Instant::now());
    assert_eq!(members.hear(up("shop/1", 1), now), joined("shop"));
    assert_eq!(members.hear(up("shop/2", 1), now), HeardSign::Known);
    assert_eq!(members.processes(now), ["shop/1", "shop/2"]);
    assert_eq!(members.hear(gone("shop/1", 3), now), HeardSign::Known);
    assert_eq!((members.processes(now), members.nodes(now, 0).len()), (vec!["shop/2".to_owned()], 1));
    assert_eq!(members.hear(gone("shop/2", 4), now), left("shop"));
    let nodes = members.nodes(now + Duration::from_secs(7), 100);
    assert!(matches!(&nodes[..], [one] if !one.is_alive && one.seen_unix_s == 93 && one.state.apis == 3), "{nodes:?}");
    members.expire(now + SHOWN_FOR);
    assert!(members.nodes(now, 0).is_empty());
}

#[test]
fn what_was_said_before_says_nothing_again() {
    let (mut members, now) = (KnownMembers::default(), Instant::now());
    members.hear(up("shop/1", 5), now);
    assert_eq!(members.hear(presence("shop/1", 5, Some("1-0"), PresenceState::Up), now), HeardSign::Ignored);
    assert_eq!(members.unconfirmed(id("1-0"), 0, now), ["shop/1"]);
    members.hear(gone("shop/1", 7), now);
    // Also when it was on its way while the process ended.
    assert_eq!(members.hear(up("shop/1", 6), now), HeardSign::Ignored);
    members.expire(now + ALIVE_FOR);
    assert_eq!(members.hear(up("shop/1", 6), now + ALIVE_FOR), HeardSign::Ignored);
    assert!(members.processes(now).is_empty());
    // A process that is started in its place begins anew.
    assert_eq!(members.hear(up("shop/2", 1), now), joined("shop"));
}

#[test]
fn after_an_outage_everybody_is_waited_for_who_was_there_before() {
    let (mut members, start) = (KnownMembers::default(), Instant::now());
    members.hear(up("other", 1), start);
    members.hear(up("gone", 1), start);
    members.hear(gone("gone", 2), start);
    members.link_down(start + ALIVE_FOR);
    members.link_down(start + ALIVE_FOR + Duration::from_secs(1));
    let late = start + 10 * ALIVE_FOR;
    members.expire(late);
    assert_eq!(members.unconfirmed(id("1-0"), 0, late), ["other"]);
    members.link_up(late);
    let end = late + BACK_WITHIN;
    assert_eq!(members.unconfirmed(id("1-0"), 0, end - Duration::from_millis(1)), ["other"]);
    assert!(members.unconfirmed(id("1-0"), 0, end).is_empty());
    members.hear(up("other", 2), end);
    assert_eq!(members.unconfirmed(id("1-0"), 0, end), ["other"]);
}

#[test]
fn who_begins_to_listen_confirms_for_nobody_whom_redis_counts_and_it_has_not_heard() {
    let (mut members, start) = (KnownMembers::default(), Instant::now());
    let unheard = || vec!["2 that were not heard yet".to_owned()];
    assert_eq!(members.unconfirmed(id("1-0"), 3, start), unheard());
    members.link_up(start);
    assert!(members.is_listening());
    assert_eq!(members.unconfirmed(id("1-0"), 3, start), unheard());
    assert!(members.unconfirmed(id("1-0"), 1, start).is_empty(), "it is alone");
    members.hear(up("one", 1), start);
    assert_eq!(members.unconfirmed(id("1-0"), 3, start), ["one"]);
    for process in ["one", "two"] {
        members.hear(presence(process, 2, Some("1-0"), PresenceState::Up), start);
    }
    assert!(members.unconfirmed(id("1-0"), 3, start).is_empty());
    assert!(members.unconfirmed(id("1-0"), 9, start + BACK_WITHIN).is_empty(), "whoever lives was heard by then");
}

#[test]
fn forged_names_fill_no_memory_and_give_way() {
    let (mut members, now) = (KnownMembers::default(), Instant::now());
    for number in 0..2 * MEMBERS_MAX {
        members.hear(up(&format!("node-{number}"), 1), now);
    }
    assert_eq!((members.processes.len(), members.nodes.len()), (MEMBERS_MAX, MEMBERS_MAX));
    assert_eq!(members.hear(up("node-0", 2), now), HeardSign::Known, "who is known stays known");
    assert_eq!(members.hear(up("real", 1), now), HeardSign::Ignored);
    let later = now + ALIVE_FOR;
    members.expire(later);
    assert_eq!(members.hear(up("real", 2), later), joined("real"));
    assert_eq!((members.processes.len(), members.nodes.len()), (MEMBERS_MAX, MEMBERS_MAX));
}
