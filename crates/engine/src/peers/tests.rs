use super::*;

/// How many connections each core has after so many have come in at core 0.
fn spread(cores: usize, connections: usize) -> Vec<usize> {
    let (_drain, drained) = watch::channel(None);
    let (peers, _inboxes): (Vec<Peer>, Vec<_>) = (0..cores)
        .map(|_| {
            let (sender, inbox) = mpsc::unbounded_channel();
            (Peer::new(sender), inbox)
        })
        .unzip();
    let first = Peers::new(0, peers.clone(), drained);
    for _ in 0..connections {
        let place = first.better_place().unwrap_or(&peers[0]);
        place.open.fetch_add(1, Ordering::Relaxed);
    }
    peers.iter().map(Peer::load).collect()
}

#[test]
fn few_connections_are_packed_and_many_are_spread() {
    assert_eq!(spread(2, 8), [8, 0]);
    assert_eq!(spread(2, 10), [8, 2]);
    assert_eq!(spread(1, 20), [20]);
    for (cores, connections) in [(2, 50), (4, 100), (3, 1000)] {
        let loads = spread(cores, connections);
        let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
        assert!(most - least <= 2, "{loads:?}");
    }
}

#[test]
fn only_a_core_without_time_gives_connections_away_and_only_to_one_with_time() {
    let (_drain, drained) = watch::channel(None);
    let (sender, _inbox) = mpsc::unbounded_channel();
    let peers = vec![Peer::new(sender.clone()), Peer::new(sender)];
    let own = Peers::new(0, peers.clone(), drained);
    assert!(own.relief().is_none());
    own.to_give.set(2);
    assert!(own.relief().is_some());
    peers.iter().for_each(|peer| peer.busy.store(950, Ordering::Relaxed));
    assert!(own.relief().is_none());
    own.to_give.set(0);
    peers.iter().for_each(|peer| peer.busy.store(0, Ordering::Relaxed));
    assert!(own.relief().is_none());
}
