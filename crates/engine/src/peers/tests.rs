use super::*;
use std::net::TcpListener;

/// Cores with inboxes that nobody reads.
struct Cores {
    all: Vec<Peer>,
    inboxes: Vec<mpsc::Receiver<PeerMessage>>,
    _drain: watch::Sender<Option<Duration>>,
    drained: watch::Receiver<Option<Duration>>,
}

impl Cores {
    fn new(count: usize) -> Cores {
        let (all, inboxes) = (0..count)
            .map(|_| {
                let (sender, inbox) = mpsc::channel(INBOX_MAX);
                (Peer::new(sender), inbox)
            })
            .unzip();
        let (drain, drained) = watch::channel(None);
        Cores { all, inboxes, _drain: drain, drained }
    }

    fn seen_from(&self, core: usize) -> CoreBalancer {
        CoreBalancer::new(core, self.all.clone(), self.drained.clone(), Arc::default())
    }

    fn loads(&self) -> Vec<usize> {
        self.all.iter().map(Peer::load).collect()
    }
}

/// Connections per core after `connections` have arrived; `at` gives the accepting cores in rotation.
fn spread(cores: usize, connections: usize, at: &[usize]) -> Vec<usize> {
    let cores = Cores::new(cores);
    let mut open = Vec::new();
    for core in at.iter().cycle().take(connections) {
        let peers = cores.seen_from(*core);
        open.push(peers.better_place().map_or_else(|| peers.count(None), |peer| peer.count(None)));
    }
    cores.loads()
}

#[test]
fn connections_are_spread_however_many_they_are_and_wherever_they_come_in() {
    assert_eq!(spread(1, 20, &[0]), [20]);
    assert_eq!(spread(2, 8, &[0]), [4, 4]);
    assert_eq!(spread(2, 8, &[1, 1, 0]), [4, 4]);
    assert_eq!(spread(16, 16, &[3]), [1; 16]);
    assert_eq!(spread(16, 32, &[3, 9]), [2; 16]);
    for (cores, connections) in [(2, 50), (4, 101), (3, 1_000), (16, 10_000)] {
        for at in [&[0][..], &[0, 1], &[1, 1, 0]] {
            let loads = spread(cores, connections, at);
            let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
            assert!(most - least <= 1 + least / TOLERATED_SHARE, "{loads:?}");
        }
    }
}

#[test]
fn a_storm_that_no_core_has_adopted_yet_is_spread_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap();
    let mut cores = Cores::new(4);
    let peers = cores.seen_from(0);
    let mut own = Vec::new();
    for _ in 0..400 {
        match peers.better_place() {
            None => own.push(peers.count(None)),
            Some(peer) => {
                let stream = client.try_clone().unwrap();
                let arrival = HandedConnection { stream, client: address, entry: PeerEntry::Served(0), counted: peer.count(None) };
                assert!(peer.hand_over(arrival).is_ok());
            }
        }
    }
    let loads = cores.loads();
    assert_eq!(loads.iter().sum::<usize>(), 400);
    assert!(loads.iter().all(|load| (94..=106).contains(load)), "{loads:?}");
    // A connection that no core adopts is not counted forever.
    cores.inboxes.clear();
    drop(own);
    assert_eq!(cores.loads(), [0; 4]);
}

#[test]
fn a_core_that_takes_nothing_gives_connections_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap();
    let mut cores = Cores::new(2);
    let peer = cores.all[1].clone();
    let arrival = || HandedConnection {
        stream: client.try_clone().unwrap(),
        client: address,
        entry: PeerEntry::Served(0),
        counted: peer.count(None),
    };
    for _ in 0..INBOX_MAX {
        peer.inbox.try_send(PeerMessage::CloseIdle(1)).unwrap();
    }
    assert!(peer.hand_over(arrival()).is_err(), "its inbox is full");
    cores.inboxes.clear();
    assert!(peer.hand_over(arrival()).is_err(), "it has ended");
    assert_eq!(peer.load(), 0);
}

#[test]
fn only_a_core_without_time_gives_connections_away_and_only_to_one_with_time() {
    let cores = Cores::new(2);
    let own = cores.seen_from(0);
    assert!(own.offload_target().is_none());
    own.to_give.set(2);
    assert!(own.offload_target().is_some());
    cores.all.iter().for_each(|peer| peer.busy.store(950, Ordering::Relaxed));
    assert!(own.offload_target().is_none());
    own.to_give.set(0);
    cores.all.iter().for_each(|peer| peer.busy.store(0, Ordering::Relaxed));
    assert!(own.offload_target().is_none());
}
