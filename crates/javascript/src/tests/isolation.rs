//! Nothing of one call is left for the next.

use super::*;

#[test]
fn calls_leave_no_trace() {
    for (what, change, look, expected) in [
        ("a variable", "counter++;", "counter", json!(0)),
        ("a closure's variable", "next();", "next()", json!(1)),
        ("a global without var", "leak = request;", "typeof leak", json!("undefined")),
        (
            "a member of the global object",
            "globalThis.leak = 1; this.leak2 = 2;",
            "[typeof leak, typeof leak2]",
            json!(["undefined", "undefined"]),
        ),
        (
            "a global by eval",
            "(0, eval)('var leak = 1; function leak2() {}')",
            "[typeof leak, typeof leak2]",
            json!(["undefined", "undefined"]),
        ),
        ("a fixed global", "Object.defineProperty(globalThis, 'leak', {value: 1})", "typeof leak", json!("undefined")),
        (
            "a built-in function",
            "Array.prototype.map = null; JSON.parse = null;",
            "[1].map(function (x) { return x + 1 })",
            json!([2]),
        ),
        (
            "a new member of a prototype",
            "Array.prototype.leak = 1; Object.prototype.leak = 1;",
            "[typeof [].leak, typeof ({}).leak]",
            json!(["undefined", "undefined"]),
        ),
        (
            "a prototype that no name leads to",
            "Object.getPrototypeOf(function* () {}).leak = 1;",
            "typeof Object.getPrototypeOf(function* () {}).leak",
            json!("undefined"),
        ),
        (
            "a built-in name",
            "log = 1; b64enc = 2; JSON = 3;",
            "[typeof log, typeof b64enc, typeof JSON]",
            json!(["function", "function", "object"]),
        ),
        (
            "Tyk's objects",
            "TykJS.leak = 1; TykJS.TykMiddleware.NewMiddleware.prototype.leak = 1;",
            "[typeof TykJS.leak, typeof new TykJS.TykMiddleware.NewMiddleware({}).leak]",
            json!(["undefined", "undefined"]),
        ),
        (
            "the library",
            "__tollgate.harden(); try { __tollgate.load(function () { return [function () { return '1' }] }, []) } catch (e) {}",
            "typeof __tollgate",
            json!("function"),
        ),
        ("a configuration", "config.config_data.c = 9", "config.config_data.c", json!(2)),
        (
            "a promise",
            "Promise.resolve().then(function () { globalThis.leak = 1; counter = 9; });",
            "[typeof leak, counter]",
            json!(["undefined", 0]),
        ),
    ] {
        let text = format!(
            "var counter = 0; var next = (function () {{ var n = 0; return function () {{ return ++n }} }})();
            function f(request, session, config) {{ if (request.Body) {{ {change} }} return JSON.stringify({look}) }}"
        );
        let script = load(&text, "f");
        for _ in 0..2 {
            script.answer(json!({"Body": "change"}));
            assert_eq!(script.answer(json!({"Body": ""})), expected, "{what}");
        }
    }
}

#[test]
fn scripts_may_give_objects_members_that_built_in_ones_have() {
    let text = r#"function f() {
        function Shape() {}
        Shape.prototype = {};
        Shape.prototype.constructor = Shape;
        Shape.prototype.toString = function () { return "shape" };
        function Failure(message) { this.message = message; this.name = "Failure" }
        Failure.prototype = Object.create(Error.prototype);
        Failure.prototype.constructor = Failure;
        var list = [1, 2];
        list.toString = function () { return "list" };
        var made = {valueOf: function () { return 5 }};
        made.hasOwnProperty = function () { return "own" };
        var error = new Error();
        error.message = "changed";
        return JSON.stringify([
            "" + new Shape(), new Shape().constructor === Shape, "" + new Failure("m"), "" + list, made + 1, made.hasOwnProperty(), error.message,
            ({}).hasOwnProperty("a"), {a: 1}.toString(), Object.keys(made)
        ]);
    }"#;
    let expected =
        json!(["shape", true, "Failure: m", "list", 6, "own", "changed", false, "[object Object]", ["valueOf", "hasOwnProperty"]]);
    assert_eq!(load(text, "f").answer(json!({})), expected);
}

#[test]
fn top_level_code_may_extend_built_in_objects() {
    let text = r#"
        String.prototype.shout = function () { return this + "!" };
        if (!Array.prototype.last) Array.prototype.last = function () { return this[this.length - 1] };
        lib = {twice: function (x) { return 2 * x }};
        this.other = 3;
        function f() { return JSON.stringify(["a".shout(), [1, 2].last(), lib.twice(4), other]) }"#;
    let script = load(text, "f");
    for _ in 0..3 {
        assert_eq!(script.answer(json!({})), json!(["a!", 2, 8, 3]));
    }
}

#[test]
fn random_numbers_go_on_from_call_to_call() {
    let script = load("function f() { return JSON.stringify(Math.random()) }", "f");
    assert_ne!(script.answer(json!({})), script.answer(json!({})));
}
