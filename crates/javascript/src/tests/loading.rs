//! Scripts whose top-level code never ends: nobody waits for them for long.

use super::*;

const ENDLESS: &str = "'a'.repeat(4e6).includes('a'.repeat(2e6) + 'b'); while (true) {} function f() { return 'f' }";

#[test]
fn a_script_that_never_loads_delays_no_other() {
    let engine = ScriptEngine::new();
    let bad: Vec<Loaded> = (0..6).map(|_| load_on(&engine, LIMITS, ENDLESS, "f", NotedHost::default())).collect();
    let good = load_on(&engine, LIMITS, "function f() { return 'good' }", "f", NotedHost::default());
    let arguments = || [json!({}), json!({}), json!({}), json!(null)];
    let waiting: Vec<_> = bad.iter().map(|bad| bad.begin(SandboxEntry::Virtual, arguments())).collect();
    assert_eq!(good.call(SandboxEntry::Virtual, arguments()).as_deref(), Ok("good"));
    assert!(good.script.is_loaded() && !bad.iter().any(|bad| bad.script.is_loaded()));
    let late = "the script can't be loaded: its top-level code takes too long, or logs too much".to_owned();
    for (bad, reply) in bad.iter().zip(waiting) {
        let fault = reply.recv_timeout(Duration::from_secs(60)).unwrap().unwrap_err();
        assert_eq!(fault.to_string(), late);
        assert_eq!(bad.fault().to_string(), late, "later calls fail at once");
        let is_told = || bad.host.lines().iter().any(|line| line.starts_with("load failed: its top-level code takes too long"));
        assert!((0..1_000).any(|_| is_told() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }));
    }
}

#[test]
fn who_wants_the_verdict_waits_for_it() {
    let engine = ScriptEngine::new();
    engine.load_gate().wait_for_all();
    let (program, _) = program(ENDLESS, "f");
    let verdict = engine.load(program, Arc::new(NotedHost::default()), LIMITS).map(drop);
    assert_eq!(verdict.unwrap_err().to_string(), "its top-level code takes too long, or logs too much");
}

#[test]
fn a_process_that_was_killed_is_replaced_and_loads_its_programs_again() {
    let engine = ScriptEngine::new();
    let text = "var loaded = 0; loaded++; function f(request) { if (request.bad) [].concat({length: 9e15}).indexOf.call({length: 9e15}, 1); return 'f' + loaded }";
    let script = load_on(&engine, SHORT, text, "f", NotedHost::default());
    let call = |bad: bool| script.call(SandboxEntry::Virtual, [json!({"bad": bad}), json!({}), json!({}), json!(null)]);
    for _ in 0..6 {
        assert_eq!(call(true), Err(ScriptFault::Timeout(SHORT.time_max)));
        // A busy machine may need more than the short time to start a process.
        assert!((0..20).any(|_| call(false).as_deref() == Ok("f1")));
    }
}

#[test]
fn messages_of_a_console_go_to_the_log() {
    let text = "console.log('at top'); function f() { console.warn('a', 1, undefined, null, [1, 2], {}); console.time('t'); console.timeEnd('t'); return 'f' }";
    let script = load(text, "f");
    assert_eq!(script.call(SandboxEntry::Virtual, [json!({}), json!({}), json!({}), json!(null)]).as_deref(), Ok("f"));
    assert_eq!(script.host.lines(), ["log at top", "log a 1 undefined null 1,2 [object Object]"]);
}
