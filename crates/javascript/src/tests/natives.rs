//! Built-in functions look at no clock. However long one would take, its call ends, its process too, and other calls are served.

use super::*;

/// Enough for functions that end, and little enough that some hundred may not.
const BRIEF: ScriptLimits = ScriptLimits { time_max: Duration::from_millis(100), memory_bytes_max: 48 << 20 };

fn nothing() -> [Value; 4] {
    [json!({}), json!({}), json!({}), json!(null)]
}

#[test]
fn slow_built_in_functions_and_operators_end_with_their_call() {
    let engine = ScriptEngine::new();
    let good = load_on(&engine, LIMITS, "function f() { return 'good' }", "f", NotedHost::default());
    for slow in [
        "'a'.repeat(2e7).includes('a'.repeat(1e7) + 'b')",
        "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
        "'a'.repeat(2e7).lastIndexOf('b' + 'a'.repeat(1e7))",
        "'a'.repeat(2e7).split('a'.repeat(1e7) + 'b')",
        "'a'.repeat(2e7).replaceAll('a'.repeat(1e7) + 'b', '')",
        "var a = []; a.length = 4294967295; a.sort()",
        "var a = []; a.length = 4294967295; a.indexOf(1)",
        "var a = []; a.length = 4294967295; a.reverse()",
        "Array.prototype.includes.call({length: 9e15}, 1)",
        "Array.prototype.lastIndexOf.call({length: 9e15}, 1)",
        "Array.prototype.copyWithin.call({length: 9e15}, 0, 1)",
        "Array.prototype.join.call({length: 9e15})",
        "var n = 3n ** 600000n; while (true) n * n",
        "(3n ** 600000n).toString()",
        "/(x+x+)+y/.test('x'.repeat(40))",
    ] {
        let text = format!("function f() {{ {slow}; return 'ended' }}");
        let bad = load_on(&engine, BRIEF, &text, "f", NotedHost::default());
        let result = bad.call(SandboxEntry::Virtual, nothing());
        let is_expected = |result: &Result<String, ScriptFault>| match result {
            Ok(text) => text == "ended",
            Err(fault) => matches!(fault, ScriptFault::Timeout(_) | ScriptFault::Memory | ScriptFault::Thrown(_)),
        };
        assert!(is_expected(&result), "{slow}: {result:?}");
        assert_eq!(good.call(SandboxEntry::Virtual, nothing()).as_deref(), Ok("good"), "{slow}");
    }
}

/// Calls every function that a script can reach with values that make it work for long. Some end, some throw, some use up their memory or
/// time: each answers, and the engine serves the next call.
#[test]
fn every_built_in_function_ends_with_its_call() {
    let text = r#"
        function found() {
            var list = [], seen = new Set(), open = [["", globalThis, 0]];
            while (open.length > 0) {
                var next = open.shift(), path = next[0], object = next[1];
                for (; object && !seen.has(object); object = Object.getPrototypeOf(object)) {
                    seen.add(object);
                    Reflect.ownKeys(object).forEach(function (name) {
                        if (name === "__tollgate") return;
                        var member = Object.getOwnPropertyDescriptor(object, name);
                        [member.value, member.get].forEach(function (value) {
                            if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
                            if (typeof value === "function" && !seen.has(value)) list.push([path + "." + String(name), value]);
                            open.push([path + "." + String(name), value]);
                        });
                    });
                }
            }
            return list;
        }
        function values() {
            var sparse = [];
            sparse.length = 4294967295;
            var many = [];
            for (var i = 0; i < 20000; i++) many.push(20000 - i);
            return [
                "a".repeat(4e6), sparse, many, {length: 9e15}, new Uint8Array(8e6), 3n ** 100000n, /(a+)+$/, new Map(many.map(function (n) { return [n, n] })),
                new Set(many), new Date(0), 4e6, function () { return 0 }, "a".repeat(2e6) + "b",
            ];
        }
        function f(request) {
            var all = found();
            if (request.at === undefined) return JSON.stringify(all.map(function (entry) { return entry[0] }));
            var tried = all[request.at][1], given = values(), ended = 0;
            for (var i = 0; i < given.length; i++) {
                for (var j = 0; j < given.length; j++) {
                    try { tried.call(given[i], given[j], given[(i + j) % given.length], 1e6); ended++ } catch (e) {}
                }
            }
            return JSON.stringify(ended);
        }"#;
    let engine = ScriptEngine::new();
    let lister = load_on(&engine, LIMITS, text, "f", NotedHost::default());
    let names: Vec<String> = serde_json::from_value(lister.answer(json!({}))).unwrap();
    assert!(names.len() > 400, "only {} functions", names.len());
    for known in
        [".Array.prototype.sort", ".String.prototype.normalize", ".JSON.stringify", ".BigInt.asUintN", ".RegExp.prototype.exec"]
    {
        assert!(names.iter().any(|name| name == known), "{known} in {names:?}");
    }
    let tried = load_on(&engine, BRIEF, text, "f", NotedHost::default());
    let mut replies = std::collections::VecDeque::new();
    for (at, name) in names.iter().enumerate() {
        let arguments = [json!({"at": at}), json!({}), json!({}), json!(null)];
        replies.push_back((name, tried.begin(SandboxEntry::Virtual, arguments)));
        if replies.len() == 4 {
            let (name, reply) = replies.pop_front().unwrap();
            assert!(reply.recv_timeout(Duration::from_secs(60)).is_ok(), "{name} never ends");
        }
    }
    for (name, reply) in replies {
        assert!(reply.recv_timeout(Duration::from_secs(60)).is_ok(), "{name} never ends");
    }
    let served = lister.answer(json!({}));
    assert_eq!(served.as_array().map(Vec::len), Some(names.len()));
}
