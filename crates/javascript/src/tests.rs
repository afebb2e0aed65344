//! Scripts as an API would load them, called through the engine.

mod bad_scripts;
mod isolation;
mod loading;
mod natives;
mod tyk_api;

use crate::{
    Argument, Handler, HttpCall, HttpReply, Program, ProgramBuilder, ProgramFault, SandboxEntry, Scope, Script, ScriptCall,
    ScriptEngine, ScriptFault, ScriptHost, ScriptLimits, ScriptReply,
};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A host that notes everything.
#[derive(Default)]
pub(crate) struct NotedHost {
    lines: Mutex<Vec<String>>,
    calls: Mutex<Vec<HttpCall>>,
    /// Requests that must have come before any is answered.
    together: usize,
    arrived: (Mutex<usize>, Condvar),
}

impl NotedHost {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

impl ScriptHost for NotedHost {
    fn load_failed(&self, fault: &ProgramFault) {
        self.note(format!("load failed: {fault}"));
    }

    fn log(&self, text: &str) {
        self.note(format!("log {text}"));
    }

    fn raw_log(&self, text: &str) {
        self.note(format!("raw {text}"));
    }

    fn send(&self, call: HttpCall, time_max: Duration) -> Option<HttpReply> {
        let (count, changed) = &self.arrived;
        let mut arrived = count.lock().unwrap();
        *arrived += 1;
        changed.notify_all();
        let waited = changed.wait_timeout_while(arrived, time_max, |arrived| *arrived < self.together).unwrap();
        drop(waited);
        let is_there = !call.url.contains("nowhere");
        let body = format!("to {}", call.url).into_bytes();
        self.calls.lock().unwrap().push(call);
        is_there.then(|| HttpReply { status: 201, headers: vec![("X-A".into(), "1".into()), ("X-A".into(), "2".into())], body })
    }

    fn send_all(&self, calls: Vec<HttpCall>, in_turn: bool, time_max: Duration) -> Vec<Option<HttpReply>> {
        self.note(format!("batch in turn {in_turn}"));
        calls.into_iter().map(|call| self.send(call, time_max)).collect()
    }

    fn key(&self, key: &str, api_id: &str, _: Duration) -> String {
        json!({"key": key, "api": api_id, "expires": 5}).to_string()
    }

    fn set_key(&self, key: &str, session: &str, keep_counters: bool, _: Duration) -> Result<(), String> {
        self.note(format!("set {key} {session} {keep_counters}"));
        if key == "bad" { Err("no such key".to_owned()) } else { Ok(()) }
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

/// A program with one script and one handler.
struct Loaded {
    script: Script,
    handler: Handler,
    host: Arc<NotedHost>,
}

/// Long enough for a busy machine.
const LIMITS: ScriptLimits = ScriptLimits { time_max: Duration::from_secs(10), memory_bytes_max: 16 << 20 };

/// For scripts that use up all their time.
const SHORT: ScriptLimits = ScriptLimits { time_max: Duration::from_millis(300), ..LIMITS };

fn program(text: &str, name: &str) -> (Program, Handler) {
    let mut builder = ProgramBuilder::default();
    let source = builder.source("plugin.js", text, Scope::Shared);
    let handler = builder.handler(source, name).unwrap();
    (builder.build(), handler)
}

fn load(text: &str, name: &str) -> Loaded {
    load_on(&ScriptEngine::new(), LIMITS, text, name, NotedHost::default())
}

fn load_on(engine: &ScriptEngine, limits: ScriptLimits, text: &str, name: &str, host: NotedHost) -> Loaded {
    let (program, handler) = program(text, name);
    let host = Arc::new(host);
    let script = engine.load(program, host.clone(), limits).unwrap();
    Loaded { script, handler, host }
}

fn load_fault(text: &str, name: &str) -> String {
    let (program, _) = program(text, name);
    let engine = ScriptEngine::new();
    engine.load_gate().wait_for_all();
    match engine.load(program, Arc::new(NotedHost::default()), LIMITS) {
        Ok(_) => panic!("it was loaded"),
        Err(fault) => fault.to_string(),
    }
}

impl Loaded {
    fn begin(&self, entry: SandboxEntry, arguments: [Value; 4]) -> Receiver<Result<String, ScriptFault>> {
        let (sender, receiver) = channel();
        let arguments = arguments.map(|argument| Argument::Json(argument.to_string()));
        self.script.call(ScriptCall { handler: self.handler, entry, arguments }, Box::new(Channel(sender)));
        receiver
    }

    fn call(&self, entry: SandboxEntry, arguments: [Value; 4]) -> Result<String, ScriptFault> {
        self.begin(entry, arguments).recv_timeout(Duration::from_secs(30)).unwrap()
    }

    /// Calls it as a virtual endpoint, whose result is JSON.
    fn answer(&self, request: Value) -> Value {
        let text = self
            .call(SandboxEntry::Virtual, [request, json!({"meta_data": {"m": 1}}), json!({"config_data": {"c": 2}}), json!(null)]);
        serde_json::from_str(&text.unwrap()).unwrap()
    }

    fn fault(&self) -> ScriptFault {
        self.call(SandboxEntry::Virtual, [json!({}), json!({}), json!({}), json!(null)]).unwrap_err()
    }
}

/// The processes of these tests: started with the name of this function, they run nothing else.
#[test]
fn script_worker() {
    crate::serve_scripts_if_asked();
}
