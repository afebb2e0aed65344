//! A gateway process of its own for each test: temporary folder, free port, killed on drop.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use tollgate_testing::CONTROL_SECRET as SECRET;

use super::definition::{Definition, merge};
use super::keys::Served;
use super::tokens::policy_file;
use super::wire::{Connection, Response};
use super::{PATIENCE, request};

/// What a gateway is started with.
#[derive(Default)]
pub(crate) struct Setup {
    conf: Value,
    files: Vec<(String, Vec<u8>)>,
    env: Vec<(String, String)>,
    open_files_max: Option<u32>,
    stderr: Option<std::io::PipeWriter>,
    program: Option<PathBuf>,
    port: u16,
}

impl Setup {
    pub(crate) fn new(conf: Value) -> Setup {
        Setup { conf, ..Setup::default() }
    }

    pub(crate) fn api(self, definition: Definition) -> Setup {
        let name = format!("{}.json", definition.id());
        self.file(&name, definition.0.to_string())
    }

    /// A file in the folder of definitions.
    pub(crate) fn file(mut self, name: &str, content: impl Into<Vec<u8>>) -> Setup {
        self.files.push((name.to_owned(), content.into()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Setup {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Starts a copy of the program.
    pub(crate) fn program(mut self, program: &Path) -> Setup {
        self.program = Some(program.to_owned());
        self
    }

    /// Has the gateway listen on this port, for configurations that name it.
    pub(crate) fn port(mut self, port: u16) -> Setup {
        self.port = port;
        self
    }

    /// Has the process log into a pipe.
    pub(crate) fn stderr(mut self, writer: std::io::PipeWriter) -> Setup {
        self.stderr = Some(writer);
        self
    }

    /// Starts the process with a lower limit of open files.
    pub(crate) fn open_files_max(mut self, count: u32) -> Setup {
        self.open_files_max = Some(count);
        self
    }

    pub(crate) fn start(self) -> Gateway {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let apps = dir.path().join("apps");
        fs::create_dir(&apps).expect("a folder for definitions");
        for (name, content) in &self.files {
            let path = apps.join(name);
            fs::create_dir_all(path.parent().unwrap()).expect("its folder");
            fs::write(path, content).expect("a definition");
        }
        let mut conf = json!({
            "listen_address": "127.0.0.1",
            "listen_port": 0,
            "secret": SECRET,
            "app_path": apps,
            // Tests name files of other folders of theirs.
            "file": {"base_path": "/"},
            "tollgate": {"data_dir": dir.path().join("data"), "threads": 2}
        });
        merge(&mut conf, &self.conf);
        let conf_path = dir.path().join("tyk.conf");
        fs::write(&conf_path, conf.to_string()).expect("a configuration");
        let log = dir.path().join("stderr");

        let program = self.program.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_tollgate")));
        let mut command = match self.open_files_max {
            None => Command::new(&program),
            Some(count) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("ulimit -n {count}; exec \"$0\" \"$@\"")).arg(&program);
                shell
            }
        };
        let mut child = command
            .arg("run")
            .arg("--conf")
            .arg(&conf_path)
            .arg("--port")
            .arg(self.port.to_string())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(self.stderr.map_or_else(|| File::create(&log).expect("a log file").into(), Stdio::from))
            .spawn()
            .expect("the gateway starts");
        let stdout = child.stdout.take().expect("its output");
        let Some(port) = wait_for_port(BufReader::new(stdout)) else {
            let _ = child.kill();
            let status = child.wait();
            panic!("the gateway did not start ({status:?}):\n{}", fs::read_to_string(&log).unwrap_or_default());
        };
        let mut gateway = Gateway { port, pid: child.id(), child, dir, log, first_rss_kib: 0 };
        gateway.first_rss_kib = gateway.rss_kib();
        gateway
    }
}

/// Reads until the line that names the port, then lets the rest run dry in a thread of its own.
fn wait_for_port(mut stdout: BufReader<std::process::ChildStdout>) -> Option<u16> {
    let mut line = String::new();
    while stdout.read_line(&mut line).unwrap_or(0) > 0 {
        if let Some((_, url)) = line.trim_end().rsplit_once("listening on http")
            && let Some((_, port)) = url.rsplit_once("://127.0.0.1:")
        {
            let port = port.trim_end_matches('/').parse().ok()?;
            thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
            return Some(port);
        }
        line.clear();
    }
    None
}

/// A running gateway.
pub(crate) struct Gateway {
    pub port: u16,
    /// The process that serves: another one than at first after a restart.
    pid: u32,
    child: Child,
    dir: TempDir,
    log: PathBuf,
    /// What it took when it had started.
    first_rss_kib: u64,
}

impl Gateway {
    /// Starts one with these definitions and with `conf` laid over the tests' configuration.
    pub(crate) fn start(conf: Value, apis: impl IntoIterator<Item = Definition>) -> Gateway {
        apis.into_iter().fold(Setup::new(conf), Setup::api).start()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.port)
    }

    /// One request on a connection of its own.
    pub(crate) fn send(&self, request: impl AsRef<[u8]>) -> Response {
        self.connect().ask(request)
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.send(super::get(target))
    }

    /// Sends bytes, says that no more will come, and returns all that the gateway answers until it closes.
    pub(crate) fn raw(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut connection = self.connect();
        let _ = connection.try_send(bytes);
        connection.finish_sending();
        connection.rest().unwrap_or_else(|broken| panic!("the gateway does not close: {broken}"))
    }

    /// As `raw`, for bytes that may get the connection reset.
    pub(crate) fn raw_or_reset(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut connection = self.connect();
        let _ = connection.try_send(bytes);
        connection.finish_sending();
        match connection.rest() {
            Ok(answer) => answer,
            Err(super::wire::Broken::Cut(_)) => Vec::new(),
            Err(broken) => panic!("the gateway does not close: {broken}"),
        }
    }

    /// A call of the control API with the right secret.
    pub(crate) fn control(&self, method: &str, target: &str, body: &str) -> Response {
        let secret = format!("x-tyk-authorization: {SECRET}");
        self.send(request(method, target, &[&secret, "Connection: close"], body))
    }

    pub(crate) fn reload(&self) -> Response {
        let response = self.control("GET", "/tyk/reload/?block=true", "");
        assert_eq!(response.status, 200, "{response}");
        response
    }

    /// The configuration that a new process would read.
    pub(crate) fn conf(&self) -> PathBuf {
        self.dir.path().join("tyk.conf")
    }

    pub(crate) fn apps(&self) -> PathBuf {
        self.dir.path().join("apps")
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write_api(&self, definition: &Definition) {
        self.write_file(&format!("{}.json", definition.id()), definition.0.to_string());
    }

    pub(crate) fn write_file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.apps().join(name), content).expect("a definition");
    }

    pub(crate) fn remove_file(&self, name: &str) {
        fs::remove_file(self.apps().join(name)).expect("a definition to remove");
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid.to_string()).status();
        assert!(status.expect("kill runs").success());
        if name == "STOP" {
            // One thread takes the signal and tells the others: on a busy machine they go on meanwhile.
            super::eventually("all threads have stopped", || is_stopped(self.pid));
        }
    }

    /// Has the process hand over to a new one, and waits until that serves.
    pub(crate) fn restart(&mut self) {
        let known = self.log().len();
        self.signal("USR2");
        super::eventually("the process hands over", || {
            let log = self.log();
            assert!(!log[known..].contains("does not take over"), "{log}");
            log[known..].contains("handed over; draining")
        });
        // The line comes before its threads have stopped accepting.
        let old = self.pid;
        super::eventually("the old process listens no longer", || !listens(old));
        self.pid = *self.successors().last().expect("a new process");
    }

    /// The processes that were started to take over, as the log names them.
    pub(crate) fn successors(&self) -> Vec<u32> {
        successors_in(&self.log())
    }

    /// Waits for the process that was started first to end by itself.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("its own child") {
                return status;
            }
            assert!(Instant::now() < deadline, "the gateway does not end:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The log, once no more is written to it: a thread of the gateway's own does, behind whoever logs. It sleeps when nothing is left to
    /// write, and is runnable from the moment that something is, however long the machine lets it wait.
    pub(crate) fn log(&self) -> String {
        let mut before = self.log_so_far();
        loop {
            thread::sleep(Duration::from_millis(30));
            let is_at_rest = !is_log_thread_runnable(self.pid);
            let now = self.log_so_far();
            if now == before && is_at_rest {
                return now;
            }
            before = now;
        }
    }

    pub(crate) fn expect_no_panic(&self) {
        expect_no_panic(&self.log_so_far());
    }

    fn log_so_far(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// A figure of `/proc/<pid>/status` in KiB, such as `VmRSS` or `VmHWM`.
    pub(crate) fn memory_kib(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("a running process");
        let line = status.lines().find(|line| line.starts_with(name)).expect("the figure");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    pub(crate) fn rss_kib(&self) -> u64 {
        self.memory_kib("VmRSS:")
    }

    pub(crate) fn peak_rss_kib(&self) -> u64 {
        self.memory_kib("VmHWM:")
    }

    /// How much more it has taken at most than when it had started, which depends on the size of the program.
    pub(crate) fn grown_kib(&self) -> u64 {
        self.peak_rss_kib().saturating_sub(self.first_rss_kib)
    }

    /// Open files once no more are opened: right after the start some still are.
    pub(crate) fn open_files_at_rest(&self) -> usize {
        let mut before = self.open_files();
        loop {
            thread::sleep(Duration::from_millis(300));
            let now = self.open_files();
            if now == before {
                return now;
            }
            before = now;
        }
    }

    pub(crate) fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).expect("a running process").count()
    }
}

/// A gateway with these policies.
pub(crate) fn start_with(definitions: impl IntoIterator<Item = Definition>, policies: &[Value]) -> Gateway {
    let (_file, conf) = policy_file(policies);
    Gateway::start(conf, definitions)
}

impl Served for Gateway {
    fn answer(&self, request: &[u8]) -> Response {
        self.send(request)
    }

    fn control_answer(&self, method: &str, target: &str, body: &str) -> Response {
        self.control(method, target, body)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Nobody writes to the log any more, but for a successor.
        let successors = successors_in(&self.log_so_far());
        for pid in &successors {
            let _ = Command::new("kill").arg("-KILL").arg(pid.to_string()).stderr(Stdio::null()).status();
        }
        let log = if successors.is_empty() { self.log_so_far() } else { self.log() };
        if thread::panicking() {
            eprintln!("--- the gateway's log ---\n{}", tail(&log));
        } else {
            expect_no_panic(&log);
        }
    }
}

fn expect_no_panic(log: &str) {
    assert!(!log.contains("panicked at"), "the gateway panicked:\n{}", tail(log));
}

fn successors_in(log: &str) -> Vec<u32> {
    let lines = log.lines().filter(|line| line.contains("new process started"));
    lines.filter_map(|line| line.split("pid=").nth(1)?.trim().parse().ok()).collect()
}

/// Whether the thread that writes a process's log has something to do.
fn is_log_thread_runnable(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    stats.filter_map(|stat| Some(stat.split_once("(log) ")?.1.to_owned())).any(|rest| rest.starts_with(['R', 'D']))
}

/// Whether all threads of a process are stopped.
fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut states = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    states.all(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T')))
}

/// Whether a process holds a socket that listens for TCP.
fn listens(pid: u32) -> bool {
    let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let listening: Vec<String> = sockets
        .iter()
        .flat_map(|table| table.lines())
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.get(3) == Some(&"0A"))
        .filter_map(|fields| Some(format!("socket:[{}]", fields.get(9)?)))
        .collect();
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .any(|target| listening.iter().any(|socket| target.as_os_str() == socket.as_str()))
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
