//! Under a service manager: what it is told, and sockets that it has opened already.

use std::fs;
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cores::{expect_alone, expect_by_core};
use crate::harness::{Connection, Gateway, PATIENCE, Setup, Upstream, api, eventually, get, skip};

const BINARY: &str = env!("CARGO_BIN_EXE_tollgate");

/// A manager that is told things.
struct Manager {
    socket: UnixDatagram,
    name: String,
}

impl Manager {
    fn at(path: &Path) -> Manager {
        let socket = UnixDatagram::bind(path).unwrap();
        Manager::listening(socket, path.display().to_string())
    }

    fn listening(socket: UnixDatagram, name: String) -> Manager {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Manager { socket, name }
    }

    fn start(&self, variables: &[(&str, &str)]) -> Gateway {
        let setup = Setup::new(json!({})).env("NOTIFY_SOCKET", self.name.as_str());
        variables.iter().fold(setup, |setup, (name, value)| setup.env(name, *value)).start()
    }

    /// The variables of the next message.
    fn told(&self) -> Vec<String> {
        let mut message = [0; 4096];
        let length = self.socket.recv(&mut message).expect("it is told something");
        String::from_utf8_lossy(&message[..length]).lines().map(str::to_owned).collect()
    }

    /// Waits for a message with this in it.
    #[track_caller]
    fn wait_for(&self, line: &str) -> Vec<String> {
        let start = Instant::now();
        loop {
            let told = self.told();
            if told.iter().any(|told| told.starts_with(line)) {
                return told;
            }
            assert!(start.elapsed() < PATIENCE, "never told {line}");
        }
    }
}

#[test]
fn it_is_told_of_start_reload_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let manager = Manager::at(&dir.path().join("notify"));
    let mut gateway = manager.start(&[]);
    assert!(manager.told().contains(&"READY=1".to_owned()));
    assert_eq!(gateway.get("/ready").status, 200, "ready means ready");
    gateway.signal("HUP");
    let reloading = manager.told();
    assert!(reloading.contains(&"RELOADING=1".to_owned()), "{reloading:?}");
    let micros = reloading.iter().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).expect("when");
    assert!(micros.parse::<u64>().is_ok_and(|micros| micros > 0), "{micros}");
    assert!(manager.told().contains(&"READY=1".to_owned()));
    gateway.signal("TERM");
    assert!(manager.told().contains(&"STOPPING=1".to_owned()));
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn a_socket_without_a_file_works_too() {
    let name = format!("tollgate-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = Manager::listening(UnixDatagram::bind_addr(&address).unwrap(), format!("@{name}"));
    let _gateway = manager.start(&[]);
    manager.wait_for("READY=1");
}

#[test]
fn a_manager_that_is_not_there_is_no_reason_to_end() {
    for name in ["/nowhere/notify", "relative", "@", &"x".repeat(300)] {
        let gateway = Setup::new(json!({})).env("NOTIFY_SOCKET", name).start();
        assert_eq!(gateway.get("/hello").status, 200);
    }
}

#[test]
fn it_hears_regularly_that_the_gateway_is_alive_if_it_asks() {
    let dir = tempfile::tempdir().unwrap();
    let manager = Manager::at(&dir.path().join("notify"));
    // From before the start: messages may wait for this test to read them.
    let start = Instant::now();
    let gateway = manager.start(&[("WATCHDOG_USEC", "600000")]);
    manager.wait_for("READY=1");
    for _ in 0..4 {
        manager.wait_for("WATCHDOG=1");
    }
    assert!(start.elapsed() > Duration::from_millis(800), "not more often than asked: {:?}", start.elapsed());
    drop(gateway);
    // Meant for another process.
    let manager = Manager::at(&dir.path().join("other"));
    let gateway = manager.start(&[("WATCHDOG_USEC", "100000"), ("WATCHDOG_PID", "1")]);
    manager.wait_for("READY=1");
    std::thread::sleep(Duration::from_millis(400));
    gateway.signal("HUP");
    assert!(manager.told().contains(&"RELOADING=1".to_owned()), "the next word is of something else");
}

#[test]
fn it_is_told_which_process_is_the_main_one_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let manager = Manager::at(&dir.path().join("notify"));
    let mut gateway = manager.start(&[("WATCHDOG_USEC", "2000000")]);
    manager.wait_for("READY=1");
    gateway.restart();
    let told = manager.wait_for("MAINPID=");
    assert_eq!(told[0], format!("MAINPID={}", gateway.successors()[0]));
    assert!(told.contains(&"READY=1".to_owned()), "{told:?}");
    assert!(told.contains(&"WATCHDOG=1".to_owned()), "the manager's patience starts again: {told:?}");
    assert!(gateway.wait_for_exit().success());
    // The service does not stop, and the new process is the one that lives.
    assert!(!manager.wait_for("WATCHDOG=1").contains(&"STOPPING=1".to_owned()));
    fs::write(gateway.conf(), "{").unwrap();
    gateway.signal("USR2");
    let told = manager.wait_for("STATUS=serving; a restart failed");
    assert!(told[0].contains("not valid JSON"), "{told:?}");
}

// --- Sockets ---

/// Opens listening sockets as a manager does, waits if it is told to, and becomes the gateway.
const LAUNCHER: &str = r#"#!/usr/bin/env python3
import os, socket, sys, time
names = os.environ["TEST_NAMES"].split(":")
made = [socket.create_server(("127.0.0.1", 0)) for _ in names]
ports = " ".join(str(one.getsockname()[1]) for one in made)
with open(os.environ["TEST_PORTS"] + ".new", "w") as file:
    file.write(ports)
os.rename(os.environ["TEST_PORTS"] + ".new", os.environ["TEST_PORTS"])
time.sleep(float(os.environ["TEST_WAIT"]))
copies = [os.dup2(one.fileno(), 100 + index, inheritable=False) for index, one in enumerate(made)]
for index, copy in enumerate(copies):
    os.dup2(copy, 3 + index, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names)), LISTEN_FDNAMES=os.environ["TEST_NAMES"])
os.execv(os.environ["TEST_BINARY"], [os.environ["TEST_BINARY"]] + sys.argv[1:])
"#;

struct Activated {
    dir: tempfile::TempDir,
    setup: Setup,
}

impl Activated {
    fn new(conf: serde_json::Value, names: &str, wait_s: &str, upstream: &Upstream) -> Activated {
        let dir = tempfile::tempdir().unwrap();
        let launcher = dir.path().join("launcher");
        fs::write(&launcher, LAUNCHER).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        let setup = Setup::new(conf)
            .api(api("a", "/a/", &upstream.url()))
            .program(&launcher)
            .env("TEST_NAMES", names)
            .env("TEST_WAIT", wait_s)
            .env("TEST_BINARY", BINARY)
            .env("TEST_PORTS", dir.path().join("ports").display().to_string());
        Activated { dir, setup }
    }
}

fn ports(file: &Path) -> Vec<u16> {
    eventually("the sockets are open", || file.exists());
    fs::read_to_string(file).unwrap().split(' ').map(|port| port.parse().unwrap()).collect()
}

#[test]
fn connections_wait_at_a_passed_socket_for_the_gateway_to_start() {
    let upstream = Upstream::ok();
    let activated = Activated::new(json!({"listen_port": 1}), "tollgate.socket", "0.5", &upstream);
    let file = activated.dir.path().join("ports");
    let early = std::thread::spawn(move || {
        let port = ports(&file)[0];
        let mut clients: Vec<Connection> =
            (0..20).map(|_| Connection::over(TcpStream::connect(("127.0.0.1", port)).unwrap())).collect();
        clients.iter_mut().for_each(|client| client.send(get("/a/")));
        clients.iter_mut().map(|client| client.response("GET").status).collect::<Vec<_>>()
    });
    let mut gateway = activated.setup.start();
    assert_eq!(early.join().unwrap(), [200; 20]);
    assert_eq!(gateway.port, ports(&activated.dir.path().join("ports"))[0], "the passed socket counts, not the configuration");
    // Every core is given connections, though there is one socket.
    let mut asking = gateway.connect();
    expect_alone(&mut asking);
    let mut clients: Vec<Connection> = (0..29).map(|_| gateway.connect()).collect();
    assert!(clients.iter_mut().all(|client| client.ask(get("/a/")).status == 200));
    expect_by_core(&mut asking, &[15, 15]);
    gateway.restart();
    assert_eq!(gateway.get("/a/").status, 200, "it is handed on");
}

#[test]
fn passed_sockets_find_their_use_by_their_names() {
    let upstream = Upstream::ok();
    let conf = json!({"control_api_port": 1, "tollgate": {"metrics": {"listen": "127.0.0.1:1"}}});
    let activated = Activated::new(conf, "metrics:data:control:data", "0", &upstream);
    let file = activated.dir.path().join("ports");
    let mut gateway = activated.setup.start();
    for _ in 0..2 {
        let made = ports(&file);
        let [metrics, one, control, other] = made[..] else { panic!("four sockets") };
        let status = |port: u16, target: &str| Connection::open(port).ask(get(target)).status;
        assert_eq!((status(one, "/a/"), status(other, "/a/")), (200, 200));
        assert_eq!((status(control, "/hello"), status(one, "/hello"), status(metrics, "/metrics")), (200, 404, 200));
        gateway.restart();
    }
}

#[test]
fn what_is_passed_and_is_no_socket_ends_the_start_with_its_number() {
    let dir = tempfile::tempdir().unwrap();
    let run = |script: &str| -> Output {
        let script = format!("{script} exec \"$0\" run --port 0 --listen-address 127.0.0.1");
        let mut command = Command::new("sh");
        command.args(["-c", &script, BINARY]).current_dir(dir.path()).env("HOME", dir.path()).stdin(Stdio::null());
        command.output().unwrap()
    };
    for (script, words) in [
        ("exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1", ["LISTEN_FDS", "descriptor 3", "not a socket"]),
        ("exec 3<&-; LISTEN_PID=$$ LISTEN_FDS=1", ["LISTEN_FDS", "descriptor 3", "not a socket"]),
        ("LISTEN_PID=$$ LISTEN_FDS=many", ["LISTEN_FDS", "not a number", "sockets"]),
        ("TOLLGATE_HANDOVER=data", ["TOLLGATE_HANDOVER", "data", "Socket operation on non-socket"]),
        ("TOLLGATE_HANDOVER=data=3", ["TOLLGATE_HANDOVER", "data=3", "is no role"]),
    ] {
        let output = run(script);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && words.iter().all(|word| text.contains(word)), "{script}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn sockets_for_another_process_are_not_taken() {
    let gateway = Setup::new(json!({})).env("LISTEN_PID", "1").env("LISTEN_FDS", "1").start();
    assert_eq!(gateway.get("/hello").status, 200);
}

// --- The unit files ---

fn packaging(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd").join(name)
}

#[test]
fn the_unit_files_are_good_in_systemds_own_eyes() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return skip("there is no systemd-analyze");
    }
    let dir = tempfile::tempdir().unwrap();
    let service = fs::read_to_string(packaging("tollgate.service")).unwrap();
    // Programs are looked for: this one is not installed.
    assert!(service.contains("ExecStart=/usr/bin/tollgate run "));
    let unit = dir.path().join("tollgate.service");
    fs::write(&unit, service.replace("/usr/bin/tollgate", BINARY)).unwrap();
    let socket = dir.path().join("tollgate.socket");
    fs::copy(packaging("tollgate.socket"), &socket).unwrap();
    let verify = |files: &[&Path]| Command::new("systemd-analyze").arg("verify").args(files).output().unwrap();
    let output = verify(&[&unit, &socket]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.trim().is_empty(), "{text}");
    // The check does find mistakes.
    let broken = dir.path().join("broken.service");
    fs::write(&broken, "[Service]\nType=notify\nExecStart=/nowhere/tollgate\nNoSuchSetting=1\n").unwrap();
    let output = verify(&[&broken]);
    assert!(!output.status.success() || !output.stderr.is_empty());
}

#[test]
fn the_units_command_is_one_that_the_program_takes() {
    let service = fs::read_to_string(packaging("tollgate.service")).unwrap();
    let start = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let mut words = start.split(' ').skip(1);
    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("tyk.conf");
    fs::write(&conf, "{\"listen_address\": \"nowhere\"}").unwrap();
    let arguments: Vec<String> =
        words.by_ref().map(|word| if word.ends_with("tyk.conf") { conf.display().to_string() } else { word.to_owned() }).collect();
    let output = Command::new(BINARY).args(&arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("$.listen_address"), "the configuration is read, not the command refused: {text}");
}
