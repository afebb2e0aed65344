use super::{ALIVE_FOR, PeerPresence, PeerTable, PresenceState};
use std::time::{Duration, Instant};
use tollgate_store::LogId;

fn id(text: &str) -> LogId {
    text.parse().unwrap()
}

fn presence(gateway: &str, applied: Option<&str>, state: PresenceState) -> PeerPresence {
    PeerPresence { gateway: gateway.to_owned(), applied: applied.map(str::to_owned), state }
}

#[test]
fn a_gateway_confirms_with_what_it_has_carried_out() {
    let (mut peers, now) = (PeerTable::default(), Instant::now());
    peers.hear(presence("one", Some("10-0"), PresenceState::Up), now);
    peers.hear(presence("two", Some("9-7"), PresenceState::Up), now);
    peers.hear(presence("three", None, PresenceState::New), now);
    assert_eq!(peers.unconfirmed(id("10-0"), now), ["three", "two"]);
    assert_eq!(peers.unconfirmed(id("9-7"), now), ["three"]);
    peers.hear(presence("two", Some("10-1"), PresenceState::Up), now);
    peers.hear(presence("three", Some("not an id"), PresenceState::Up), now);
    assert_eq!(peers.unconfirmed(id("10-1"), now), ["one", "three"]);
}

#[test]
fn who_is_silent_or_says_that_it_ends_is_not_waited_for() {
    let (mut peers, start) = (PeerTable::default(), Instant::now());
    peers.hear(presence("silent", None, PresenceState::Up), start);
    peers.hear(presence("gone", None, PresenceState::Up), start);
    peers.hear(presence("gone", None, PresenceState::Gone), start);
    assert_eq!(peers.unconfirmed(id("1-0"), start), ["silent"]);
    assert_eq!(peers.alive(start + ALIVE_FOR - Duration::from_millis(1)), ["silent"]);
    assert!(peers.unconfirmed(id("1-0"), start + ALIVE_FOR).is_empty());
    assert!(peers.alive(start + ALIVE_FOR).is_empty());
}
