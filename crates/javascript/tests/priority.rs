//! A call that uses much CPU loses its priority, and its thread ends. A process of its own, because it looks at all threads.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tollgate_javascript::{
    Argument, Entry, HttpCall, HttpReply, ProgramBuilder, Scope, ScriptCall, ScriptEngine, ScriptFault, ScriptHost, ScriptLimits,
    ScriptReply,
};

struct NoHost;

impl ScriptHost for NoHost {
    fn log(&self, _: &str) {}
    fn raw_log(&self, _: &str) {}
    fn send(&self, _: HttpCall, _: Duration) -> Option<HttpReply> {
        None
    }
    fn send_all(&self, _: Vec<HttpCall>, _: bool, _: Duration) -> Vec<Option<HttpReply>> {
        Vec::new()
    }
    fn key(&self, _: &str, _: &str, _: Duration) -> String {
        String::new()
    }
    fn set_key(&self, _: &str, _: &str, _: bool, _: Duration) -> Result<(), String> {
        Ok(())
    }
}

struct Channel(Sender<Result<String, ScriptFault>>);

impl ScriptReply for Channel {
    fn is_awaited(&self) -> bool {
        true
    }

    fn send(self: Box<Self>, result: Result<String, ScriptFault>) {
        let _ = self.0.send(result);
    }
}

/// The niceness of each thread that runs scripts: the 19th field of `/proc/self/task/*/stat`.
fn nicenesses() -> Vec<i32> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    // A thread may end meanwhile.
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let of_script = |stat: String| {
        let (name, fields) = stat.rsplit_once(") ")?;
        name.ends_with("(script").then(|| fields.split(' ').nth(16)?.parse().ok())?
    };
    stats.filter_map(of_script).collect()
}

fn eventually(what: &str, holds: impl Fn(&[i32]) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds(&nicenesses()) {
        assert!(Instant::now() < deadline, "{what}: {:?}", nicenesses());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_long_call_loses_its_priority_and_a_short_one_does_not() {
    let mut builder = ProgramBuilder::default();
    let text = "function f(request) { while (request.endless) {} return 'good' }";
    let source = builder.source("plugin.js", text, Scope::Shared);
    let handler = builder.handler(source, "f").unwrap();
    let limits = ScriptLimits { time_max: Duration::from_secs(3), memory_bytes_max: 16 << 20 };
    let script = ScriptEngine::new().load(builder.build(), Arc::new(NoHost), limits).unwrap();
    let (sender, results) = channel();
    let call = |request: &str| {
        let arguments = [request, "{}", "{}", "{}"].map(|text| Argument::Json(text.to_owned()));
        script.call(ScriptCall { handler, entry: Entry::Virtual, arguments }, Box::new(Channel(sender.clone())));
    };
    call(r#"{"endless": true}"#);
    eventually("the loop has lost its priority", |seen| seen.contains(&15));
    assert_eq!(results.recv_timeout(Duration::from_secs(30)).unwrap(), Err(ScriptFault::Timeout(limits.time_max)));
    eventually("its thread has ended", |seen| !seen.contains(&15));
    // The first call makes an engine, which takes long.
    for _ in 0..2 {
        call("{}");
        assert_eq!(results.recv_timeout(Duration::from_secs(30)).unwrap().as_deref(), Ok("good"));
    }
    eventually("a thread waits for the next call", |seen| seen.contains(&5));
}
