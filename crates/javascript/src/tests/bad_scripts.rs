//! Scripts that harm: their own calls fail in time, and those of others go on.

use super::*;

#[test]
fn bad_calls_fail_and_the_next_one_is_served() {
    let timeout = ScriptFault::Timeout(SHORT.time_max);
    let thrown = |text: &str| ScriptFault::Thrown(format!("{text} (plugin.js, line 1)"));
    for (bad, expected) in [
        ("while (true) {}", timeout.clone()),
        ("while (true) { try { while (true) {} } catch (e) {} finally { while (true) {} } }", timeout.clone()),
        ("/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')", timeout.clone()),
        ("(function again() { Promise.resolve().then(again) })()", timeout),
        ("throw new Error('on purpose')", thrown("Error: on purpose")),
        ("null.x", thrown("TypeError: cannot read property 'x' of null")),
        ("throw 'text'", ScriptFault::Thrown("thrown: text".into())),
        ("throw {a: 1}", ScriptFault::Thrown("thrown: a value of type object".into())),
        ("var all = []; while (true) all.push(new Array(1000).join('x'))", ScriptFault::Memory),
        ("'x'.repeat(1e9)", ScriptFault::Memory),
        ("while (true) log('again and again')", ScriptFault::LogFlood),
        ("return", ScriptFault::NoResult("the script returned nothing".into())),
        ("return {a: 1}", ScriptFault::NoResult("the script returned something else than its result".into())),
        ("return 5", ScriptFault::NoResult("the script returned something else than its result".into())),
    ] {
        let text = format!("function f(request) {{ if (!request.ok) {{ {bad} }} return 'served' }}");
        let limits = if matches!(expected, ScriptFault::Timeout(_)) { SHORT } else { LIMITS };
        let script = load_on(&ScriptEngine::new(), limits, &text, "f", NotedHost::default());
        assert_eq!(script.fault(), expected, "{bad}");
        let next = || script.call(SandboxEntry::Virtual, [json!({"ok": 1}), json!({}), json!({}), json!(null)]);
        // A busy machine may need more than the short time even for this.
        assert!((0..20).any(|_| next().as_deref() == Ok("served")), "{bad}");
    }
}

#[test]
fn endless_recursion_is_an_exception() {
    let fault = load("function f() { return f() + 1 }", "f").fault();
    assert!(matches!(&fault, ScriptFault::Thrown(text) if text.contains("stack")), "{fault}");
    let nested = "function f() { var x = 1; var t = ''; for (var i = 0; i < 100000; i++) t += '['; return JSON.parse(t) }";
    let fault = load(nested, "f").fault();
    assert!(matches!(&fault, ScriptFault::Thrown(_)), "{fault}");
}

#[test]
fn an_endless_loop_does_not_stop_other_apis() {
    let engine = ScriptEngine::new();
    let bad = load_on(&engine, SHORT, "function f() { while (true) {} }", "f", NotedHost::default());
    let good = load_on(&engine, LIMITS, "function f() { return 'good' }", "f", NotedHost::default());
    let lost: Vec<_> = (0..50).map(|_| bad.begin(SandboxEntry::Virtual, [json!({}), json!({}), json!({}), json!(null)])).collect();
    for _ in 0..20 {
        let served = good.call(SandboxEntry::Virtual, [json!({}), json!({}), json!({}), json!(null)]);
        assert_eq!(served.as_deref(), Ok("good"));
    }
    for reply in lost {
        assert_eq!(reply.recv_timeout(Duration::from_secs(20)).unwrap(), Err(ScriptFault::Timeout(SHORT.time_max)));
    }
}

#[test]
fn calls_that_wait_for_other_servers_leave_their_places() {
    // Only four scripts of an API run at one time.
    let host = NotedHost { together: 8, ..NotedHost::default() };
    let text = "function f() { return TykMakeHttpRequest('{\"Domain\": \"http://slow\"}') }";
    let limits = ScriptLimits { time_max: Duration::from_secs(25), ..LIMITS };
    let script = load_on(&ScriptEngine::new(), limits, text, "f", host);
    let replies: Vec<_> =
        (0..8).map(|_| script.begin(SandboxEntry::Virtual, [json!({}), json!({}), json!({}), json!(null)])).collect();
    for reply in replies {
        assert!(reply.recv_timeout(Duration::from_secs(30)).unwrap().is_ok());
    }
}

#[test]
fn a_long_life_needs_no_more_memory() {
    let text = "function f(request) { var a = {}; a.self = a; leak = [a, request]; return JSON.stringify([1, 2, {b: 'c'}]) }";
    let script = load(text, "f");
    for _ in 0..20_000 {
        script.answer(json!({"Body": "some text of a request that is not short"}));
    }
}
