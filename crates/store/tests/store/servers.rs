//! Redis servers of a test's own: real processes on ports of this machine, ended with the test. A server, a master with
//! a replica and a sentinel, or a cluster of six.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to start or to change its role. It only bounds a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// One `redis-server`.
pub(crate) struct Server {
    pub port: u16,
    child: Child,
    options: Vec<String>,
    dir: TempDir,
}

impl Server {
    /// With options as on its command line.
    pub(crate) fn start(options: &[&str]) -> Server {
        Server::start_on(options.iter().map(|option| (*option).to_owned()).collect(), "--port")
    }

    /// One that speaks only TLS.
    pub(crate) fn start_tls(options: &[&str]) -> Server {
        let options = ["--port", "0"].iter().chain(options).map(|option| (*option).to_owned()).collect();
        Server::start_on(options, "--tls-port")
    }

    /// On a port that was [`free_port`].
    pub(crate) fn start_at(port: u16, options: &[&str]) -> Server {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        options.extend(["--port".to_owned(), port.to_string()]);
        let child = spawn(&options, &dir);
        let mut server = Server { port, child, options, dir };
        assert!(server.wait_until_listening(), "redis-server does not start on port {port}");
        server
    }

    fn start_on(options: Vec<String>, port_option: &str) -> Server {
        loop {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let port = free_port();
            let mut options = options.clone();
            options.extend([port_option.to_owned(), port.to_string()]);
            let child = spawn(&options, &dir);
            let mut server = Server { port, child, options, dir };
            // Another process may have taken the port meanwhile.
            if server.wait_until_listening() {
                return server;
            }
        }
    }

    fn wait_until_listening(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if self.child.try_wait().expect("its own child").is_some() {
                return false;
            }
            if std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            assert!(Instant::now() < deadline, "redis-server does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal by its name: `STOP` and `CONT` make it hang for a while.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    /// Ends it without a goodbye.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on its port, with what it has saved.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.child = spawn(&self.options, &self.dir);
            if self.wait_until_listening() {
                return;
            }
            assert!(Instant::now() < deadline, "redis-server does not start again");
        }
    }

    /// What `redis-cli` prints for a command.
    pub(crate) fn cli(&self, arguments: &[&str]) -> String {
        let output = Command::new("redis-cli").args(["-h", "127.0.0.1", "-p", &self.port.to_string()]).args(arguments).output();
        String::from_utf8_lossy(&output.expect("redis-cli runs").stdout).trim_end().to_owned()
    }

    /// Takes so many seconds from everything that expires.
    pub(crate) fn age(&self, seconds: u64) {
        let script = "for _, key in ipairs(redis.call('KEYS', '*')) do
            local left = redis.call('PTTL', key)
            if left > 0 then redis.call('PEXPIRE', key, left - ARGV[1] * 1000) end
        end";
        self.cli(&["EVAL", script, "0", &seconds.to_string()]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(options: &[String], dir: &TempDir) -> Child {
    // A configuration file comes first, and rules out the options that stand for one.
    let (file, options) = match options.first() {
        Some(first) if first.ends_with(".conf") => (Some(first), options.get(1..).unwrap_or_default()),
        _ => (None, options),
    };
    Command::new("redis-server")
        .args(file)
        .args(["--bind", "127.0.0.1", "--save", "", "--daemonize", "no", "--dir"])
        .arg(dir.path())
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}

/// Where free ports are taken from: the system itself gives none of these to sockets that ask for any port.
const PORTS: Range<u16> = 10_000..32_000;
const PORTS_AT_ONCE: u16 = 200;
/// Browsers open no connection to it, whoever listens there.
const REFUSED_BY_BROWSERS: u16 = 10_080;

/// The ports that are left to this process, and what keeps them from others.
static OWN_PORTS: Mutex<(Range<u16>, Vec<UdpSocket>)> = Mutex::new((0..0, Vec::new()));

/// A port that nobody listens on, and that nobody else gets: no other test, and no socket that asks for any port.
pub(crate) fn free_port() -> u16 {
    let mut own = OWN_PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (ports, claims) = &mut *own;
    loop {
        let is_free = |port: &u16| *port != REFUSED_BY_BROWSERS && TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok();
        if let Some(port) = ports.find(is_free) {
            return port;
        }
        // Who has the first one of some has them all.
        let claimed = PORTS.step_by(usize::from(PORTS_AT_ONCE)).find_map(|first| {
            let claim = UdpSocket::bind((Ipv4Addr::LOCALHOST, first)).ok()?;
            Some((first, claim))
        });
        let (first, claim) = claimed.expect("a port that nobody has");
        claims.push(claim);
        *ports = first + 1..first + PORTS_AT_ONCE;
    }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Three masters with a replica each.
pub(crate) struct Cluster {
    pub nodes: Vec<Server>,
}

impl Cluster {
    pub(crate) fn start() -> Cluster {
        let node = |_| {
            let bus = free_port().to_string();
            let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-port", &bus];
            Server::start(&options)
        };
        let nodes: Vec<Server> = (0..6).map(node).collect();
        let addresses = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]).args(addresses).args(["--cluster-replicas", "1", "--cluster-yes"]);
        let output = create.output().expect("redis-cli runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let cluster = Cluster { nodes };
        eventually("the cluster is complete", || {
            cluster.nodes.iter().all(|node| {
                let nodes = node.cli(&["CLUSTER", "NODES"]);
                node.cli(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
                    && nodes.lines().filter(|line| line.contains("master") && line.contains('-')).count() >= 3
                    && nodes.lines().filter(|line| line.contains("slave")).count() == 3
            })
        });
        cluster
    }

    pub(crate) fn age(&self, seconds: u64) {
        self.nodes.iter().for_each(|node| node.age(seconds));
    }

    pub(crate) fn masters(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().filter(|node| node.cli(&["ROLE"]).starts_with("master"))
    }
}

/// A master and its replica, and sentinels that call them `mymaster`; most of these have to agree.
pub(crate) struct Sentinel {
    pub servers: [Server; 2],
    pub sentinels: Vec<Server>,
    _conf: TempDir,
}

impl Sentinel {
    pub(crate) fn start(count: usize) -> Sentinel {
        let master = Server::start(&[]);
        let replica = Server::start(&["--replicaof", &format!("127.0.0.1 {}", master.port)]);
        eventually("the replica follows", || replica.cli(&["INFO", "replication"]).contains("master_link_status:up"));
        let dir = tempfile::tempdir().expect("a temporary folder");
        let text = format!(
            "sentinel monitor mymaster 127.0.0.1 {} {}\nsentinel down-after-milliseconds mymaster 500\n\
             sentinel failover-timeout mymaster 2000\n",
            master.port,
            count / 2 + 1
        );
        let sentinel = |index| {
            let conf = dir.path().join(format!("sentinel-{index}.conf"));
            std::fs::write(&conf, &text).expect("a configuration");
            Server::start(&[conf.to_str().expect("a path of text"), "--sentinel"])
        };
        let sentinels: Vec<Server> = (0..count).map(sentinel).collect();
        eventually("the sentinels know the replica and each other", || {
            sentinels.iter().all(|sentinel| {
                sentinel.cli(&["SENTINEL", "replicas", "mymaster"]).contains(&replica.port.to_string())
                    && sentinel.cli(&["SENTINEL", "sentinels", "mymaster"]).matches("runid").count() == count - 1
            })
        });
        Sentinel { servers: [master, replica], sentinels, _conf: dir }
    }
}
