//! A new process takes over the listening sockets while clients notice nothing; and when it can't, the old one goes on.

use std::fs;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::http2::{ask, converse};
use crate::harness::wire::Broken;
use crate::harness::{Connection, Gateway, PATIENCE, Setup, Upstream, api, eventually, get, ok, request};
use crate::keys::{call, create, keyed, session};
use crate::servers::free_port;
use crate::upgrade;

/// When the process that answers was started, in milliseconds.
fn started(port: u16) -> u64 {
    let secret = format!("x-tyk-authorization: {SECRET}");
    let mut connection = Connection::open(port);
    let response = connection.ask(request("GET", "/tyk/live", &[&secret, "Connection: close"], ""));
    assert_eq!(response.status, 200, "{response}");
    response.json()["started_unix_ms"].as_u64().expect("a time")
}

/// Changes what the next process reads.
fn reconfigure(gateway: &Gateway, change: Value) {
    let mut conf: Value = serde_json::from_str(&fs::read_to_string(gateway.conf()).unwrap()).unwrap();
    crate::harness::definition::merge(&mut conf, &change);
    fs::write(gateway.conf(), conf.to_string()).unwrap();
}

/// Clients that send one request after the other and note everything that goes wrong.
struct Load {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn new(port: u16) -> Load {
        let mut load = Load { stop: Arc::default(), answered: Arc::default(), failures: Arc::default(), threads: Vec::new() };
        for _ in 0..3 {
            load.run("a connection for each request", move |client: &mut Option<Connection>| {
                *client = None;
                one(client, port, &request("GET", "/a/", &["Connection: close"], ""))
            });
            load.run("a kept connection", move |client| one(client, port, &get("/a/")));
            load.run("a kept connection that is often idle", move |client| {
                thread::sleep(Duration::from_millis(60));
                one(client, port, &request("POST", "/a/", &[], "body"))
            });
        }
        load
    }

    fn run(&mut self, name: &'static str, next: impl Fn(&mut Option<Connection>) -> Result<(), String> + Send + 'static) {
        let (stop, answered, failures) = (self.stop.clone(), self.answered.clone(), self.failures.clone());
        self.threads.push(thread::spawn(move || {
            let mut client = None;
            while !stop.load(Ordering::Relaxed) {
                match next(&mut client) {
                    Ok(()) => {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => {
                        client = None;
                        failures.lock().unwrap().push(format!("{name}: {error}"));
                    }
                }
            }
        }));
    }

    /// Waits until so many more requests are answered.
    fn go_on(&self, requests: usize) {
        let before = self.answered.load(Ordering::Relaxed);
        eventually("clients are served", || self.answered.load(Ordering::Relaxed) >= before + requests);
    }

    fn end(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        Arc::try_unwrap(self.failures).unwrap().into_inner().unwrap()
    }
}

/// One request on the connection that is there, or on a new one; a client keeps it for as long as it is not told to close.
fn one(client: &mut Option<Connection>, port: u16, text: &str) -> Result<(), String> {
    let mut connection = match client.take() {
        Some(connection) => connection,
        None => Connection::over(TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("connect: {error}"))?),
    };
    connection.try_send(text).map_err(|error| format!("send: {error}"))?;
    let response = connection.try_response("GET").map_err(|broken| broken.to_string())?;
    if response.status != 200 {
        return Err(response.to_string());
    }
    if !response.announces_close() {
        *client = Some(connection);
    }
    Ok(())
}

#[test]
fn under_load_no_request_fails_and_no_connection_is_refused() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let load = Load::new(gateway.port);
    load.go_on(300);
    let mut start = started(gateway.port);
    for round in 0..3 {
        gateway.restart();
        let next = started(gateway.port);
        assert!(next > start, "round {round}: another process answers");
        start = next;
        load.go_on(500);
    }
    assert!(gateway.wait_for_exit().success(), "the first process has ended");
    let failures = load.end();
    assert!(failures.is_empty(), "{} of them: {:?}", failures.len(), &failures[..failures.len().min(5)]);
    gateway.signal("TERM");
    let port = gateway.port;
    eventually("nobody listens any more", || TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn http2_clients_are_told_to_go_and_lose_nothing() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let port = gateway.port;
    let (begun, wait_begun) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let client = thread::spawn(move || {
        converse(async {
            let mut connections = 0;
            let mut answered = 0;
            while !stopped.load(Ordering::Relaxed) {
                let client = crate::harness::http2::connect(port).await;
                connections += 1;
                loop {
                    match ask(&client, crate::harness::http2::get("/a/")).await {
                        Ok(answer) => assert_eq!(answer.status, 200),
                        // Told to go: nothing of this request was begun.
                        Err(error) => break assert!(error.is_go_away() || error.is_reset() || error.is_io(), "{error:?}"),
                    }
                    answered += 1;
                    if answered == 50 {
                        begun.send(()).unwrap();
                    }
                    if stopped.load(Ordering::Relaxed) {
                        break;
                    }
                }
            }
            connections
        })
    });
    wait_begun.recv_timeout(PATIENCE).unwrap();
    gateway.restart();
    assert!(gateway.wait_for_exit().success());
    stop.store(true, Ordering::Relaxed);
    assert!(client.join().unwrap() >= 2, "it was told to go and came back");
}

#[test]
fn what_is_in_flight_is_finished_by_the_old_process() {
    let (arrived, wait_arrived) = channel();
    let (go_on, wait) = channel::<()>();
    let (arrived, wait) = (Mutex::new(arrived), Mutex::new(wait));
    let slow = Upstream::start(move |_| {
        let _ = arrived.lock().unwrap().send(());
        let _ = wait.lock().unwrap().recv_timeout(PATIENCE);
        ok()
    });
    let (quick, echo) = (Upstream::ok(), upgrade::echo());
    let apis = [api("slow", "/slow/", &slow.url()), api("quick", "/quick/", &quick.url()), api("ws", "/ws/", &echo.url())];
    let mut gateway = Gateway::start(upgrade::enabled(), apis);
    let before = started(gateway.port);
    let mut websocket = upgrade::open(&gateway, "/ws/");
    let mut waiting = gateway.connect();
    waiting.send(get("/slow/"));
    wait_arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
    let mut idle = gateway.connect();
    assert_eq!(idle.ask(get("/quick/")).status, 200);
    // A connection that is idle has a moment for one more request, and is then told to go: whoever asks now and then is never cut off.
    let idle = thread::spawn(move || {
        loop {
            let response = idle.ask(get("/quick/"));
            assert_eq!(response.status, 200, "{response}");
            if response.announces_close() {
                return idle.expect_close();
            }
            thread::sleep(Duration::from_millis(20));
        }
    });

    gateway.restart();
    assert!(started(gateway.port) > before);
    assert_eq!(gateway.get("/quick/").status, 200);
    websocket.send(b"still there");
    assert_eq!(websocket.exactly(11).unwrap(), b"still there");
    idle.join().expect("it was told to go");
    go_on.send(()).unwrap();
    let response = waiting.response("GET");
    assert!(response.status == 200 && response.announces_close(), "{response}");
    drop(websocket);
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn a_new_process_that_can_not_start_changes_nothing_and_says_why() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({}), [keyed("a", &upstream), api("b", "/b/", &upstream.url())]);
    let good = fs::read_to_string(gateway.conf()).unwrap();
    let before = started(gateway.port);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/b/")).status, 200);
    let fails = |conf: &str, why: &[&str]| {
        let known = gateway.log().len();
        fs::write(gateway.conf(), conf).unwrap();
        gateway.signal("USR2");
        eventually("the failure is known", || gateway.log()[known..].contains("does not take over"));
        let log = gateway.log();
        assert!(why.iter().all(|word| log[known..].contains(word)), "{why:?} in {}", &log[known..]);
    };
    fails("{\"listen_port\": ", &["not valid JSON"]);
    fails("{\"listen_port\": -1}", &["$.listen_port"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut conf: Value = serde_json::from_str(&good).unwrap();
    conf["control_api_port"] = taken.local_addr().unwrap().port().into();
    fails(&conf.to_string(), &["cannot listen on 127.0.0.1:"]);
    assert_eq!(started(gateway.port), before);
    assert_eq!(client.ask(get("/b/")).status, 200, "the connection is still the same");
    let key = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200, "what is stored can be changed again");

    fs::write(gateway.conf(), good).unwrap();
    gateway.restart();
    assert!(started(gateway.port) > before);
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
}

#[test]
fn a_new_process_that_does_not_serve_in_time_is_ended() {
    let upstream = Upstream::ok();
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("tollgate");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tollgate"), &program).unwrap();
    let conf = json!({"tollgate": {"timeouts": {"restart_ms": 500}}});
    let gateway = Setup::new(conf).api(api("a", "/a/", &upstream.url())).program(&program).start();
    let before = started(gateway.port);
    // The program is replaced, as an upgrade does.
    let script = dir.path().join("new");
    fs::write(&script, "#!/bin/sh\nexec sleep 600\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::rename(&script, &program).unwrap();
    gateway.signal("USR2");
    eventually("the time is over", || gateway.log().contains("it did not serve within 500 ms"));
    let pid = gateway.successors()[0];
    eventually("it is gone", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    fs::remove_file(&program).unwrap();
    gateway.signal("USR2");
    eventually("the failure is known", || gateway.log().contains("can't be started"));
    assert_eq!(started(gateway.port), before);
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn keys_and_quotas_go_with_it_and_changes_wait_for_the_new_process() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({"hash_keys": true}), [keyed("a", &upstream)]);
    let key = create(&gateway, &session(json!({"quota_max": 10, "quota_renewal_rate": 3600})));
    for left in (4..10).rev() {
        assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
    }
    let mut to_old = gateway.connect();
    let secret = format!("x-tyk-authorization: {SECRET}");
    let body = session(json!({})).to_string();
    assert_eq!(to_old.ask(request("GET", "/tyk/apis", &[&secret], "")).status, 200);
    for left in [3, 2] {
        gateway.restart();
        assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
    }
    // The first process changes nothing any more that belongs to another one.
    match to_old.try_send(request("POST", "/tyk/keys/create", &[&secret], &body)).map(|()| to_old.try_response("POST")) {
        Ok(Ok(response)) => assert_eq!(response.status, 503, "{response}"),
        Ok(Err(broken)) => assert!(matches!(broken, Broken::Closed | Broken::Cut(_)), "{broken}"),
        Err(_) => {}
    }
    let another = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &another).status, 200);
    gateway.restart();
    assert_eq!(call(&gateway, "/a/", &another).status, 200);
    assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("1"));
}

#[test]
fn the_new_process_reads_its_configuration_anew() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({"tollgate": {"threads": 3}}), [api("a", "/a/", &upstream.url())]);
    assert_eq!((gateway.get("/hello").status, gateway.get("/alive").status), (200, 404));
    for threads in [1, 4] {
        reconfigure(&gateway, json!({"health_check_endpoint_name": "alive", "tollgate": {"threads": threads}}));
        gateway.restart();
        assert_eq!((gateway.get("/hello").status, gateway.get("/alive").status), (404, 200));
        // Whichever of the sockets a connection comes in at, somebody accepts it.
        for _ in 0..40 {
            assert_eq!(gateway.get("/a/").status, 200, "{threads} threads");
        }
    }
}

#[test]
fn other_ports_go_with_it() {
    let upstream = Upstream::ok();
    let (control, metrics) = (free_port(), free_port());
    let conf = json!({"control_api_port": control, "tollgate": {"metrics": {"listen": format!("127.0.0.1:{metrics}")}}});
    let mut gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let stop = Arc::new(AtomicBool::new(false));
    let probe = |port: u16, target: &'static str| {
        let stop = stop.clone();
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let socket = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                assert_eq!(Connection::over(socket).ask(request("GET", target, &["Connection: close"], "")).status, 200);
            }
        })
    };
    let probes = [probe(control, "/hello"), probe(metrics, "/metrics")];
    let before = started(control);
    gateway.restart();
    assert!(gateway.wait_for_exit().success());
    assert!(started(control) > before);
    stop.store(true, Ordering::Relaxed);
    probes.into_iter().for_each(|probe| probe.join().unwrap());
}
