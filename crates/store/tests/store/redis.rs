//! The store in Redis: the contract on one server, a cluster and behind a sentinel; Tyk's names; trouble.

use crate::contract::contract;
use crate::servers::{Cluster, Sentinel, Server, free_port};
use crate::setting::{Time, ask, counters, delete, get, put, save_counters, wait};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tollgate_store::{
    CounterValue, DocumentSpace, Heard, Question, Redis, RedisSettings, RedisShape, RedisTls, Store, StoreFault, StoreFaultKind,
};

const PATIENCE: Duration = Duration::from_secs(60);

fn at(ports: &[u16]) -> RedisSettings {
    RedisSettings { addresses: ports.iter().map(|port| ("127.0.0.1".to_owned(), *port)).collect(), ..RedisSettings::default() }
}

fn open(settings: RedisSettings) -> Redis {
    let store = Redis::open(settings).unwrap();
    assert!(store.wait_until_up(PATIENCE), "{:?}", store.trouble());
    store
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_server_keeps_the_contract() {
    let server = std::rc::Rc::new(Server::start(&[]));
    let store = open(at(&[server.port]));
    contract(
        &store,
        &Time::of_server({
            let server = server.clone();
            move |seconds| server.age(seconds)
        }),
    );
    assert_eq!(server.cli(&["DBSIZE"]), "0");
}

#[test]
fn a_cluster_keeps_the_contract() {
    let cluster = std::rc::Rc::new(Cluster::start());
    let ports: Vec<u16> = cluster.nodes.iter().map(|node| node.port).take(2).collect();
    let store = open(RedisSettings { shape: RedisShape::Cluster, ..at(&ports) });
    contract(
        &store,
        &Time::of_server({
            let cluster = cluster.clone();
            move |seconds| cluster.age(seconds)
        }),
    );
    for n in 0..30 {
        put(&store, DocumentSpace::Session, &n.to_string(), b"{}", None);
    }
    assert!(cluster.masters().all(|node| node.cli(&["DBSIZE"]) != "0"), "every master has a share");
}

#[test]
fn the_master_that_a_sentinel_names_keeps_the_contract_and_may_change() {
    let mut setup = Sentinel::start(1);
    let shape = RedisShape::Sentinel { master: "mymaster".to_owned(), password: None };
    let store = open(RedisSettings { shape, ..at(&[setup.sentinels[0].port]) });
    put(&store, DocumentSpace::Session, "k", b"1", None);
    eventually("the replica has it", || setup.servers[1].cli(&["GET", "apikey-k"]) == "1");
    setup.servers[0].kill();
    eventually("the replica became the master and was found", || {
        ask(&store, Question::Put { kind: DocumentSpace::Session, id: "k".into(), value: b"2".to_vec(), expires_unix_s: None })
            .is_ok()
    });
    assert_eq!(setup.servers[1].cli(&["GET", "apikey-k"]), "2");
    delete(&store, DocumentSpace::Session, "k");
    contract(&store, &Time::of_server(move |seconds| setup.servers[1].age(seconds)));
}

#[test]
fn names_and_values_are_tyks() {
    let server = Server::start(&[]);
    let store = open(at(&[server.port]));
    put(&store, DocumentSpace::Session, "5b8e", br#"{"rate":5}"#, None);
    put(&store, DocumentSpace::OrgSession, "default", b"{}", None);
    put(&store, DocumentSpace::Certificate, "default0a", b"PEM", None);
    let soon = tollgate_store::clock::system()() + 1_000;
    save_counters(&store, vec![CounterValue { name: "quota-5b8e".into(), value: 7, renews_unix_s: soon }]);
    for (name, value) in
        [("apikey-5b8e", r#"{"rate":5}"#), ("orgkey.default", "{}"), ("cert-raw-default0a", "PEM"), ("quota-5b8e", "7")]
    {
        assert_eq!(server.cli(&["GET", name]), value, "{name}");
    }
    let left: u64 = server.cli(&["TTL", "quota-5b8e"]).parse().unwrap();
    assert!((900..=1_000).contains(&left), "{left}");
    // What Tyk writes is read.
    server.cli(&["SET", "quota-scope-77", "12", "EX", "1000"]);
    assert_eq!(counters(&store, &["quota-scope-77"])[0].value, 12);
    server.cli(&["SET", "apikey-77", "{}", "EX", "1000"]);
    assert_eq!(get(&store, DocumentSpace::Session, "77").as_deref(), Some(&b"{}"[..]));
}

#[test]
fn a_user_and_a_database_are_chosen() {
    let server = Server::start(&["--user", "alice", "on", ">secret", "~*", "&*", "+@all"]);
    let settings = |password: &str| RedisSettings {
        username: Some("alice".to_owned()),
        password: Some(password.to_owned()),
        database: 3,
        ..at(&[server.port])
    };
    let store = open(settings("secret"));
    put(&store, DocumentSpace::Session, "k", b"1", None);
    assert_eq!(server.cli(&["-n", "3", "GET", "apikey-k"]), "1");
    let wrong = Redis::open(settings("guess")).unwrap();
    assert!(!wrong.wait_until_up(Duration::from_millis(500)));
    eventually("the reason is told", || wrong.trouble().is_some_and(|why| why.to_lowercase().contains("pass")));
}

#[test]
fn tls_is_spoken_with_a_known_authority_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    // Not the default name, which the others have: they would seem to have signed themselves.
    authority.distinguished_name.push(rcgen::DnType::CommonName, "authority");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let signed = || {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        (params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem())
    };
    let (certificate, key) = signed();
    let server = Server::start_tls(&[
        "--tls-cert-file",
        &write("server.pem", &certificate),
        "--tls-key-file",
        &write("server.key", &key),
        "--tls-ca-cert-file",
        &write("ca.pem", &authority_pem),
    ]);
    let (own, own_key) = signed();
    let own = Some((own.into_bytes(), own_key.into_bytes()));
    let known = RedisTls { authorities: Some(authority_pem.into_bytes()), own: own.clone(), ..RedisTls::default() };
    for tls in [known, RedisTls { insecure: true, own: own.clone(), ..RedisTls::default() }] {
        let store = open(RedisSettings { tls: Some(tls), ..at(&[server.port]) });
        put(&store, DocumentSpace::Session, "k", b"1", None);
        assert_eq!(get(&store, DocumentSpace::Session, "k").as_deref(), Some(&b"1"[..]));
    }
    for tls in [RedisTls { own, ..RedisTls::default() }, RedisTls { insecure: true, ..RedisTls::default() }] {
        let stranger = Redis::open(RedisSettings { tls: Some(tls), ..at(&[server.port]) }).unwrap();
        assert!(!stranger.wait_until_up(Duration::from_millis(500)));
    }
}

#[test]
fn a_server_may_come_later_go_hang_and_come_back() {
    let port = free_port();
    let settings =
        RedisSettings { connect_time_max: Duration::from_secs(2), answer_time_max: Duration::from_secs(2), ..at(&[port]) };
    let store = Redis::open(settings).unwrap();
    let question = || Question::Get { kind: DocumentSpace::Session, id: "k".into() };
    assert_eq!(ask(&store, question()).unwrap_err().kind, StoreFaultKind::Unavailable);
    assert!(store.trouble().is_some());
    assert!(store.for_each(DocumentSpace::Session, &mut |_, _| {}).is_err());
    let mut server = Server::start_at(port, &[]);
    assert!(store.wait_until_up(PATIENCE), "{:?}", store.trouble());
    put(&store, DocumentSpace::Session, "k", b"1", None);
    server.signal("STOP");
    eventually("the hang is noticed", || store.trouble().is_some());
    assert_eq!(ask(&store, question()).unwrap_err().kind, StoreFaultKind::Unavailable);
    server.signal("CONT");
    eventually("it is back", || ask(&store, question()).is_ok());
    assert_eq!(get(&store, DocumentSpace::Session, "k").as_deref(), Some(&b"1"[..]));
    server.restart();
    eventually(
        "it is back, empty",
        || matches!(ask(&store, question()), Ok(answer) if answer.clone().into_document().unwrap().is_none()),
    );
}

const KEPT_FOR: Duration = Duration::from_secs(60);

fn append(store: &Redis, list: &str, values: &[&str]) -> Result<(), StoreFault> {
    let values: Vec<Vec<u8>> = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    wait(store.append(list, &values, KEPT_FOR))
}

#[test]
fn batches_are_appended_to_a_list_that_expires() {
    let server = Server::start(&[]);
    let store = open(at(&[server.port]));
    append(&store, "records", &["1", "2"]).unwrap();
    append(&store, "records", &["3"]).unwrap();
    assert_eq!(server.cli(&["LRANGE", "records", "0", "-1"]), "1\n2\n3");
    let expires = || (1..=60).contains(&server.cli(&["TTL", "records"]).parse::<i64>().unwrap());
    assert!(expires());
    // Emptied by another, and so without an expiry.
    server.cli(&["DEL", "records"]);
    append(&store, "records", &["4"]).unwrap();
    assert!(expires());
    server.cli(&["SET", "text", "x"]);
    assert!(!append(&store, "text", &["5"]).unwrap_err().is_retryable());
    assert_eq!(wait(store.list_length("records")), Ok(1));
    assert_eq!(wait(store.list_length("nothing")), Ok(0));
}

#[test]
fn who_appends_tries_again_only_what_was_not_sent() {
    let server = Server::start(&[]);
    let store = open(RedisSettings { answer_time_max: Duration::from_millis(300), ..at(&[server.port]) });
    append(&store, "records", &["1"]).unwrap();
    server.signal("STOP");
    let unknown = append(&store, "records", &["2"]).unwrap_err();
    assert_eq!((unknown.kind, unknown.is_retryable()), (StoreFaultKind::Io, false), "it may arrive yet: {unknown}");
    eventually("the loss is noticed", || store.trouble().is_some());
    assert!(append(&store, "records", &["3"]).unwrap_err().is_retryable(), "without a connection nothing is sent");
    server.signal("CONT");
    eventually("it is there again", || append(&store, "records", &["4"]).is_ok());
    assert!(server.cli(&["LRANGE", "records", "0", "-1"]).ends_with("4"));
}

#[test]
fn lists_grow_in_a_cluster_and_behind_a_sentinel() {
    let (cluster, mut setup) = (Cluster::start(), Sentinel::start(1));
    let ports: Vec<u16> = cluster.nodes.iter().map(|node| node.port).take(2).collect();
    let store = open(RedisSettings { shape: RedisShape::Cluster, ..at(&ports) });
    assert_eq!((append(&store, "records", &["1"]), append(&store, "records", &["2"])), (Ok(()), Ok(())));
    assert_eq!(wait(store.list_length("records")), Ok(2));

    let shape = RedisShape::Sentinel { master: "mymaster".to_owned(), password: None };
    let store = open(RedisSettings { shape, ..at(&[setup.sentinels[0].port]) });
    append(&store, "records", &["1"]).unwrap();
    eventually("the replica has it", || setup.servers[1].cli(&["LLEN", "records"]) == "1");
    setup.servers[0].kill();
    eventually("the replica became the master and was found", || append(&store, "records", &["2"]).is_ok());
    assert_eq!(setup.servers[1].cli(&["LRANGE", "records", "0", "-1"]), "1\n2");
}

#[test]
fn lists_and_sets_stand_beside_the_documents() {
    let server = Server::start(&[]);
    let store = open(at(&[server.port]));
    let kind = DocumentSpace::OAuth;
    for value in ["a", "b", "a"] {
        wait(store.put_last(kind, "a1.index", value)).unwrap();
    }
    assert_eq!(server.cli(&["LRANGE", "oauth-data.a1.index", "0", "-1"]), "b\na");
    wait(store.take_out(kind, "a1.index", "b")).unwrap();
    assert_eq!(wait(store.list(kind, "a1.index")).unwrap(), ["a"]);
    assert!(wait(store.list(kind, "none")).unwrap().is_empty());
    wait(store.replace(kind, "a1.set", None, Some(b"one"))).unwrap();
    wait(store.replace(kind, "a1.set", Some(b"one"), Some(b"two"))).unwrap();
    assert_eq!(server.cli(&["SMEMBERS", "oauth-data.a1.set"]), "two");
    wait(store.replace(kind, "a1.set", Some(b"two"), None)).unwrap();
    assert_eq!(server.cli(&["EXISTS", "oauth-data.a1.set"]), "0");
    for (name, ends) in [("late", 300), ("early", 100), ("middle", 200)] {
        wait(store.put_ending(kind, "a1.tokens", name, ends)).unwrap();
    }
    let not_ended = |unix_s| wait(store.not_ended(kind, "a1.tokens", unix_s)).unwrap();
    assert_eq!(not_ended(0), [("early".to_owned(), 100), ("middle".to_owned(), 200), ("late".to_owned(), 300)]);
    wait(store.take_out_ending(kind, "a1.tokens", "middle")).unwrap();
    assert_eq!(not_ended(101), [("late".to_owned(), 300)]);
    wait(store.take_out_ended(kind, "a1.tokens", 100)).unwrap();
    assert_eq!(server.cli(&["ZRANGE", "oauth-data.a1.tokens", "0", "-1"]), "late");
}

/// What is heard, until it is this.
fn hear(heard: &mpsc::Receiver<Heard>, expected: &Heard) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let next = heard.recv_timeout(left).unwrap_or_else(|_| panic!("never heard {expected:?}"));
        match (&next, expected) {
            (Heard::Down(_), Heard::Down(_)) => return,
            _ if next == *expected => return,
            _ => {}
        }
    }
}

#[test]
fn messages_and_changes_are_heard_and_so_is_silence() {
    let mut server = Server::start(&[]);
    let store = open(at(&[server.port]));
    let (sender, heard) = mpsc::channel();
    store.listen("news", move |what| drop(sender.send(what)));
    hear(&heard, &Heard::Up);
    wait(store.publish("news", b"hello")).unwrap();
    hear(&heard, &Heard::Message(b"hello".to_vec()));
    put(&store, DocumentSpace::Session, "k", b"1", None);
    hear(&heard, &Heard::Changed(DocumentSpace::Session, "k".to_owned()));
    server.cli(&["DEL", "apikey-k"]);
    hear(&heard, &Heard::Changed(DocumentSpace::Session, "k".to_owned()));
    server.cli(&["FLUSHALL"]);
    hear(&heard, &Heard::AllChanged);
    server.signal("STOP");
    hear(&heard, &Heard::Down(String::new()));
    server.signal("CONT");
    hear(&heard, &Heard::Up);
    server.restart();
    hear(&heard, &Heard::Down(String::new()));
    hear(&heard, &Heard::Up);
    eventually("it can be told again", || wait(store.publish("news", b"again")).is_ok());
    hear(&heard, &Heard::Message(b"again".to_vec()));
}

#[test]
fn messages_reach_every_node_of_a_cluster() {
    let cluster = Cluster::start();
    let shape = RedisShape::Cluster;
    let settings = |node: usize| RedisSettings { shape: shape.clone(), ..at(&[cluster.nodes[node].port]) };
    let (one, other) = (open(settings(0)), open(settings(1)));
    let (sender, heard) = mpsc::channel();
    one.listen("news", move |what| drop(sender.send(what)));
    hear(&heard, &Heard::Up);
    wait(other.publish("news", b"hello")).unwrap();
    hear(&heard, &Heard::Message(b"hello".to_vec()));
}
