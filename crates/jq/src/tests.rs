//! Filters are held against the `jq` program, against their limits, and against what cannot be compiled.

use crate::{FilterFailure, JqFilter, JqLimit, JqValue};
use std::io::Write;
use std::process::{Command, Stdio};

const NOW: f64 = 1_425_599_621.0;

fn run(filter: &str, input: &str) -> Result<String, FilterFailure> {
    let filter = JqFilter::compile(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let input = JqValue::read(input.as_bytes()).unwrap().unwrap_or_default();
    filter.run(input, NOW).map(|value| value.to_json())
}

/// What the program makes of it: its first output, or `None` for an error or no output.
fn asked(filter: &str, input: &str) -> Option<serde_json::Value> {
    let mut program = Command::new("jq")
        .args(["-c", filter])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().next().map(|line| serde_json::from_str(line).unwrap())
}

const ORDER: &str = r#"{"body": {"id": 7, "name": "Ann Lee", "tags": ["b", "a", "b"], "price": 12.5, "note": null, "ok": true,
    "user": {"first": "Ann", "mail": "ann@example.org", "roles": ["admin", "dev"]},
    "items": [{"sku": "x1", "n": 2, "p": 3.5, "kind": "a"}, {"sku": "y2", "n": 1, "p": 10, "kind": "b"}, {"sku": "z3", "n": 5, "p": 1, "kind": "a"}],
    "created": "2015-03-05T23:51:47Z", "csv": "a,b,,c", "text": "héllo <b>&\"'\\ wörld\n"},
    "_tyk_context": {"path": "/jq", "headers_User_Agent": "curl/8", "request_data": {"q": ["1", "2"]}}}"#;

/// Filters as people write them for gateways, and every function and operator that there is.
const FILTERS: &[&str] = &[
    r#"{body: (.body + {path: ._tyk_context.path, user_agent: ._tyk_context.headers_User_Agent}), rewrite_headers: {"X-Added": .body.name}, tyk_context: {"foo-val": .body.id}}"#,
    "{body: .body.items | map(select(.n > 1)), rewrite_headers: {}}",
    "{body: {total: ([.body.items[] | .n * .p] | add), count: (.body.items | length)}}",
    "{body: [.body.items[] | {id: .sku, amount: (.n * .p)}]}",
    "{body: .body | del(.items, .user.mail)}",
    "{body: .body | del(.items[0, 2]), n: 1}",
    "{body: .body | del(.items[] | select(.kind == \"a\"))}",
    "{body: .body | del(.absent.a, .user.none, .tags[9], .user.roles[7], .note.x, .absent[0])}",
    "{body: .body | del(.[\"absent\"]?[\"a\"]?) | delpaths([[\"absent\", \"b\"], [\"tags\", 12, \"x\"], [\"user\", \"none\", 1]])}",
    "{body: .body | with_entries(select(.value | type == \"string\"))}",
    "{body: .body | with_entries(.key |= \"x_\" + .)}",
    "{body: (.body.user | to_entries)}",
    "[{\"name\": \"a\", \"value\": 1}, {\"key\": \"b\", \"value\": null}] | from_entries",
    ".body.user as {first: $first, roles: [$one, $two]} | {$first, two: $two, one: $one}",
    ".body.missing // \"none\"",
    ".body.note // .body.name",
    "(.body.tags[] , \"x\") as $t | $t",
    "[.body.tags[] | ascii_upcase] | unique",
    ".body.tags | sort, unique | join(\"-\")",
    ".body.items | group_by(.kind) | map({kind: .[0].kind, n: (map(.n) | add)})",
    ".body.items | sort_by(.p) | map(.sku)",
    ".body.items | sort_by(.kind, -.n) | map(.sku)",
    ".body.items | (min_by(.p), max_by(.p)) | .sku",
    ".body.items | unique_by(.kind) | length",
    "[.body.items[] | .sku, .n]",
    "reduce .body.items[] as $i (0; . + $i.n * $i.p)",
    "reduce .body.items[] as {sku: $k, n: $n} ({}; .[$k] = $n)",
    "[foreach .body.items[] as $i (0; . + $i.n; [$i.sku, .])]",
    "[foreach range(5) as $i (0; . + $i)]",
    "[limit(3; .body.items[].sku, 1, 2)]",
    "first(.body.items[] | select(.n == 1)) | .sku",
    "[first(range(10; 0; -3)), last(range(5)), nth(2; range(9))]",
    "[range(0; 10; 3)], [range(3)]",
    "try (.body.name | tonumber) catch \"no number\"",
    "try error({code: 5}) catch .code",
    "[.body[] | tonumber?]",
    "[.body.id, \"12\", \"1.5\", \"-3\"] | map(tonumber)",
    "[.[] | .. | numbers] | add",
    "[.. | strings] | length",
    "\"Hello \\(.body.name), \\(.body.items | length) items: \\(.body.tags)\"",
    "@base64 \"x \\(.body.name)\", .body.text | @base64",
    "\"aGVsbG8=\" | @base64d",
    "@uri \"https://x/?q=\\(.body.csv + \"/é ~-_.\")&n=\\(.body.id)\"",
    "\"<b>&\\\"é\" | @html",
    ".body.tags, [1, \"a\\\"b\", null, true, 1.5] | @csv",
    "[\"a\\tb\", 1, null] | @tsv",
    "[\"it's\", 2] | @sh",
    "[.body.text | @json, @text]",
    ".body.user.mail | test(\"^[a-z]+@\"), test(\"ANN\"; \"i\")",
    ".body.user.mail | match(\"(?<user>[a-z]+)@(?<host>[a-z.]+)\") | [.offset, .length, .string, .captures[].name]",
    "\"foo bar föö\" | [match(\"(f)(x)?(o|ö)\"; \"g\")]",
    ".body.user.mail | capture(\"(?<user>[a-z]+)@(?<host>.*)\")",
    ".body.name | sub(\"(?<f>[A-Z])[a-z]*\"; \"\\(.f).\")",
    ".body.name | gsub(\"[aeiou]\"; \"*\"), gsub(\"(?<c>[A-Z])\"; .c + .c)",
    "[\"a1b22c333\" | scan(\"[0-9]+\"), scan(\"([a-z])([0-9]+)\")]",
    ".body.csv | split(\",\"), [splits(\", *\")], split(\",+\"; null)",
    "\"ab,c\" / \",\", \"abc\" / \"\"",
    ".body.csv | explode | implode",
    ".body.text | length, utf8bytelength, ascii_downcase",
    ".body.name | startswith(\"Ann\"), endswith(\"x\"), ltrimstr(\"Ann \"), rtrimstr(\"Lee\"), .[0:3], .[-3:]",
    ".body.name | index(\"e\"), rindex(\"e\"), indices(\"n\"), contains(\"Lee\"), inside(\"Ann Lee Kim\")",
    ".body.items | .[1:], .[:-1], .[1:2], first, last | length",
    "[1, 2, 1, 2] | index(2), rindex(2), indices([1, 2]), .[[1, 2]]",
    ".body | has(\"id\"), has(\"x\"), (.tags | has(0)), (keys | length), (.tags | keys)",
    "\"id\" | in({\"id\": 1})",
    "{\"a\": [1, {\"b\": 2}]} | contains({a: [{b: 2}]}), contains({a: [3]})",
    "[paths], [paths(type == \"number\")], [leaf_paths] | length",
    "[.body.user | paths | join(\".\")]?",
    "[.body.user | path(.roles[0]), path(..)]",
    ".body | getpath([\"user\", \"roles\", 1]), getpath([\"x\", \"y\"])",
    ".body | setpath([\"user\", \"age\"]; 5) | .user",
    ".body | delpaths([[\"items\"], [\"user\", \"first\"]]) | keys",
    ".body | to_entries | map(.key) | sort",
    ".body.user | map_values(length)",
    ".body.items |= map(.n) | .body.items",
    ".body.items[].n += 1 | [.body.items[].n]",
    ".body.price *= 2 | .body.price //= 1 | .body.note //= \"n\" | [.body.price, .body.note]",
    ".body.a.b[2].c = 1 | .body.a",
    ".body.items[1:] = [] | .body.items | length",
    ".body.tags |= (sort | reverse) | .body.tags",
    "(.body.items[] | select(.n > 1) | .sku) |= ascii_upcase | [.body.items[].sku]",
    "(.body | .id, .price) = 0 | [.body.id, .body.price]",
    "walk(if type == \"string\" then ascii_upcase else . end) | .body.tags",
    "[.body.tags, [1, [2, [3]]]] | flatten, flatten(1)",
    "[[1, 2], [3]] | transpose, [combinations], add",
    "[1, 2] | [combinations(2)]",
    "{a: {b: 1, c: 2}} * {a: {b: null, d: 3}}",
    "{a: 1} + {b: 2} + null, [1, 2, 3, 1] - [1], \"ab\" * 3, 7 % 3, -7 % 3, 7 / 2, 1 - 0.9",
    "1 == 1.0, [1] == [1.0], {a: 1, b: 2} == {b: 2, a: 1}, \"a\" < \"b\", null < false, [] < {}",
    "[null, true, false, 0, \"a\", [], {}, [0], {\"a\": 1}, -1, \"\"] | sort",
    "[.body[] | type] | unique",
    "[.body.ok, .body.note, .body.id] | any, all, map(not)",
    "[any(.body.items[]; .n > 4), all(.body.items[]; .n > 4), any(.body.tags[]; . == \"a\")]",
    ".body.ok and .body.note, (.body.ok or error)",
    "if .body.id > 5 then \"big\" elif .body.id > 3 then \"mid\" else \"small\" end",
    "[.body.items[] | if .n > 1 then .sku else empty end]",
    "[recurse(if . < 3 then . + 1 else empty end)]?",
    "[1 | recurse(if . < 20 then . * 3 else empty end)]",
    "[1 | while(. < 50; . * 2)], (1 | until(. > 50; . * 2)), [limit(3; 1 | repeat(. * 2))]",
    "label $out | foreach .body.items[] as $i (0; . + 1; if $i.n == 1 then ., break $out else empty end)",
    "def f(x): x * x; def g($a; b): $a + b; f(.body.id) + g(1; 2)",
    "def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; [10, 5] | map(fac)",
    "def sum(f): reduce .[] as $x (0; . + ($x | f)); .body.items | sum(.n * .p)",
    "[.body.created | fromdate, (strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime, .)]",
    "1425599621 | todate, (gmtime | mktime), strftime(\"%A, %B %d, %Y %H:%M\"), gmtime",
    "\"10:20 5 Mar 2015\" | strptime(\"%H:%M %d %b %Y\")",
    "[1.1, 2.5, -1.5, 7] | map(floor), map(ceil), map(round), map(sqrt?), map(fabs)",
    "[pow(2; 10), (100 | log10), (1 | exp | log)]",
    "[infinite, -infinite, nan] | map(isinfinite), map(isnan)",
    "[.[] | tojson | fromjson] | length",
    "[1, 1.5, 100000000, 0.1, 1e3, -0.0001] | tojson, (map(tostring))",
    "[.body.tags[] as $t | .body.items[] as $i | \"\\($t)\\($i.n)\"] | length",
    "{(.body.tags[]): 1}",
    "[{a: (1, 2), b: (3, 4)}] | length",
    "{\"a b\": 1} | .\"a b\", .[\"a b\"], [.[\"x\"]?]",
    "{a: 1} | {a, b: .a, \"c\": 2, @base64 \"d\": 3, (\"e\" + \"f\"): 4}",
    "[.body.items[]?.sku?], [.body.id[]?]",
    "[splits(\"a\")?]",
    "INDEX(.body.items[]; .sku) | keys",
    ".body.items | INDEX(.sku) | .y2.n",
    "[.body.tags[] | IN(\"a\", \"c\")]",
    "[tostream] | length",
    "[.body.tags | to_entries[]?]",
    "[.body.tags[1:][]] | length as $n | $n",
    "ascii_downcase?, \"done\"",
];

#[test]
fn filters_have_the_answers_of_the_jq_program() {
    if Command::new("jq").arg("--version").output().is_err() {
        assert!(std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some(), "jq is not installed (scripts/test-deps.sh)");
        println!("skipped: jq is not installed");
        return;
    }
    let mut wrong = Vec::new();
    for filter in FILTERS {
        // All outputs at once.
        let all = format!("[{filter}]");
        let ours = run(&all, ORDER).ok().map(|text| serde_json::from_str(&text).unwrap());
        let theirs = asked(&all, ORDER);
        if !same(&ours, &theirs) {
            wrong.push(format!("{filter}\n  ours   {}\n  theirs {}", shown(&ours), shown(&theirs)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FILTERS.len(), wrong.join("\n"));
}

fn shown(value: &Option<serde_json::Value>) -> String {
    value.as_ref().map_or_else(|| "an error".to_owned(), ToString::to_string)
}

/// Equal, with numbers compared as numbers.
fn same(left: &Option<serde_json::Value>, right: &Option<serde_json::Value>) -> bool {
    use serde_json::Value;
    fn equal(left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
            (Value::Array(left), Value::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(a, b)| equal(a, b))
            }
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len() && left.iter().all(|(name, a)| right.get(name).is_some_and(|b| equal(a, b)))
            }
            _ => left == right,
        }
    }
    match (left, right) {
        (Some(left), Some(right)) => equal(left, right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

/// Filters that would run for ever, or take all stack or memory.
const ENDLESS: &[&str] = &[
    "[range(1e12)]",
    "range(1e12) | empty",
    "last(range(1e12))",
    "reduce range(1e12) as $x (0; .)",
    "[foreach range(1e12) as $x (0; . + 1)]",
    "def f: f; f",
    "def f: 1 + f; f",
    "def f: f | f; f",
    "def f: f, f; [f]",
    "def f: try f catch f; f",
    "def f: try f catch empty, try f catch empty; [f]",
    "def f: (f?), (f?); [f]",
    "def f(g): f(g | g); f(.)",
    "def f(g): if . > 1000000 then g else . + 1 | f(g | .) end; 0 | f(.)",
    "def f(g): def h: f(h); h; f(.)",
    "def f(g): g | g; f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(.))))))))))))))))))))))))))))))",
    "def f($x): f($x + 1); f(0)",
    "def f($x): f([$x]); f(0)",
    "\"x\" * 1e9",
    "\"x\" * 1e300",
    "reduce range(60) as $i (\"x\"; . + .)",
    "reduce range(60) as $i ([1]; . + .)",
    "reduce range(60) as $i (1; [., .])",
    "reduce range(60) as $i (1; {a: ., b: .})",
    "reduce range(60) as $i (1; [., .]) | tojson",
    "reduce range(28) as $i (1; [., .]) as $a | reduce range(28) as $i (1; [., .]) as $b | $a == $b",
    "reduce range(1e6) as $i (0; [.])",
    "reduce range(1e6) as $i (0; {a: .})",
    "def f: [f]; f",
    "[recurse(. + 1)]",
    "[recurse([.])]",
    "[repeat(1)]",
    "[limit(1e12; repeat(1))]",
    "[skip(1e12; range(1e13))]",
    "0 | until(false; . + 1)",
    "[0 | while(true; . + 1)]",
    "[path(repeat(.a))]",
    "path(def f: .a | f; f)",
    "path(reduce range(1e6) as $i (.; .a))",
    "path(last(recurse(.a)))",
    "getpath([range(1e5) | \"a\"]) = 1",
    "setpath([range(1e5) | 0]; 1)",
    "def f: .a | f; f |= 1",
    ".[1e9] = 1",
    ".[1e12] = 1",
    "[limit(40; repeat([1, 2]))] | combinations | empty",
    "[range(400)] | .[] as $a | .[] as $b | .[] as $c | .[] as $d | empty",
    "[range(30) as $i | (1, 2)] | (.[], .[]) as $a | (.[], .[]) as $b | (.[], .[]) as $c | (.[], .[]) as $d | empty",
    "[range(3e5)] | map([., .]) | sort_by(.[0]) | group_by(.[0]) | map(tojson) | add",
    "[\"a\" * 1e6 | explode[]] | implode | explode | tojson | fromjson | map(tojson)",
    "\"a\" * 3e7 | gsub(\"a\"; \"bb\")",
    "[range(1e5) | tostring] | reduce .[] as $t (\"\"; . + $t)",
    "def f: gsub(\"a\"; \"aa\") | f; \"a\" | f",
    "def f: @base64 | f; \"a\" | f",
    "def f: @json | f; \"\\\"\" | f",
    "def f: ascii_upcase | f; \"a\" * 1e6 | f",
    "label $out | repeat(1) | if . == 2 then break $out else empty end",
    "[.[]?, repeat(.)] | length",
    "[splits(\"a\"; null)?, repeat(0)]",
    "def f: walk([.]) | f; 1 | f",
    "def f: . as [$a] | [[$a]] | f; f",
    "def f: to_entries | f; {} | f",
    "[limit(1e9; range(1e9))] | length",
    "any(range(1e12); false)",
    "isempty(range(1e12) | empty)",
    "[range(1e12)?]",
    "first(range(1e12) | select(. < 0))",
    ".. |= [.] | until(false; .. |= [.])",
    "1 as $x | until(false; [$x, .])",
];

#[test]
fn a_filter_that_would_not_end_fails_within_its_limits() {
    for filter in ENDLESS {
        let ended = run(filter, "null");
        assert!(matches!(ended, Err(FilterFailure::Limit(_))), "{filter}: {ended:?}");
        // The next run has a budget of its own.
        assert_eq!(run("1 + 1", "null").as_deref(), Ok("2"), "{filter}");
    }
}

#[test]
fn each_limit_says_which_it_is() {
    for (filter, limit) in [
        ("[range(1e12)]", JqLimit::Work),
        ("\"x\" * 1e9", JqLimit::Work),
        ("def f: 1 + f; f", JqLimit::Stack),
        ("reduce range(1e6) as $i (0; [.])", JqLimit::Depth),
    ] {
        assert_eq!(run(filter, "null"), Err(FilterFailure::Limit(limit)), "{filter}");
    }
}

#[test]
fn large_inputs_that_people_have_are_within_the_limits() {
    let row = r#"{"id": 123456, "name": "some name", "price": 12.5, "tags": ["a", "b"], "nested": {"x": 1}}"#;
    let rows = vec![row; 13_000].join(",");
    let input = format!("{{\"body\": [{rows}]}}");
    assert!(input.len() > 1 << 20);
    for filter in [
        "{body: [.body[] | {id, name}]} | .body | length",
        "{body: .body | map(select(.price > 10) | {id: .id, label: \"\\(.name) (\\(.price))\"})} | .body | length",
        "{body: .body | map(.name |= ascii_upcase)} | .body | length",
        "{body: .body | map(del(.tags))} | .body | length",
        "reduce .body[] as $row ([]; . + [$row.id]) | length",
        ".body | group_by(.id) | map(length) | add",
        "[.body[].name] | join(\",\") | length | . + 1 | . / 10",
    ] {
        assert_eq!(run(filter, &input).as_deref(), Ok("13000"), "{filter}");
    }
}

#[test]
fn what_cannot_be_compiled_says_what_and_where() {
    for (filter, message) in [
        ("{body: .body,\n  x: nonesuch(1; 2)}", "line 2: unknown function nonesuch/2"),
        ("env", "line 1: unknown function env/0"),
        ("$ENV.PATH", "line 1: unknown variable $ENV"),
        ("input", "line 1: unknown function input/0"),
        ("[inputs]", "line 1: unknown function inputs/0"),
        ("halt", "line 1: unknown function halt/0"),
        ("halt_error", "line 1: unknown function halt_error/0"),
        ("input_line_number", "line 1: unknown function input_line_number/0"),
        ("input_filename", "line 1: unknown function input_filename/0"),
        ("$__prog_args", "line 1: unknown variable $__prog_args"),
        ("def a: f; 1", "line 1: unknown function f/0"),
        ("break $x", "line 1: unknown label $x"),
        ("{body: .body", "line 1: expected closing brace at the end"),
        (".a |", "line 1: expected term at the end"),
        ("", "line 1: expected term at the end"),
        (".a\n]", "line 2: expected token, found \"]\""),
        ("import \"x\" as x; .", "line 1: expected nothing, found \"\\\"x\\\"\""),
        ("include \"x\"; .", "line 1: expected nothing, found \"\\\"x\\\"\""),
        (
            ".a | test(\"(?=x)\")",
            "line 1: (?=x) (at offset 0) is not a valid regex: look-around, including look-ahead and look-behind, is not supported",
        ),
    ] {
        let error = JqFilter::compile(filter).unwrap_err();
        assert_eq!(error.to_string(), message, "{filter}");
    }
}

#[test]
fn texts_that_are_too_long_or_too_deep_are_refused() {
    let many = |piece: &str, times: usize| piece.repeat(times);
    for filter in [
        many("[", 30_000),
        format!("{}1{}", many("[", 30_000), many("]", 30_000)),
        format!("1{}", many("+1", 30_000)),
        format!(".{}", many("|.", 30_000)),
        format!("1{}", many(",1", 30_000)),
        format!("{}1", many("-", 60_000)),
        format!("{}1{}", many("if 1 then ", 5_000), many(" end", 5_000)),
        many(" ", 1 << 20),
    ] {
        assert!(JqFilter::compile(&filter).is_err(), "{}", &filter[..20]);
    }
}

#[test]
fn documents_are_written_as_go_writes_them() {
    for (input, wanted) in [
        (
            r#"{"b": 1, "a": [1.0, 1e21, 1e-7, 0.1, -0.0, 12345678901234567890, 9007199254740993]}"#,
            r#"{"a":[1,1e+21,1e-7,0.1,-0,12345678901234567000,9007199254740993],"b":1}"#,
        ),
        ("\"<a&b>\\u2028 \\u0001\\t\\u007f é\"", "\"\\u003ca\\u0026b\\u003e\\u2028 \\u0001\\t\u{7f} é\""),
        ("{} trailing", "{}"),
        (r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#),
    ] {
        let value = JqValue::read(input.as_bytes()).unwrap().unwrap();
        assert_eq!(String::from_utf8(value.write(usize::MAX).unwrap()).unwrap(), wanted);
        assert_eq!(value.write(wanted.len() - 1), None);
    }
    assert!(JqValue::read(b"  ").unwrap().is_none());
    for broken in [&b"{"[..], b"[1,", b"nope", b"\"\xff\"", &b"[".repeat(100_000)] {
        assert!(JqValue::read(broken).is_err());
    }
}

#[test]
fn a_run_that_fails_says_why() {
    for (filter, message) in [
        ("empty", FilterFailure::NoOutput),
        (".a.b + 1 | error(\"no\")", FilterFailure::Uncaught("no".to_owned())),
        ("1 | .a", FilterFailure::Uncaught("Cannot index number with string \"a\"".to_owned())),
        ("{} + 1", FilterFailure::Uncaught("object ({}) and number (1) cannot be added".to_owned())),
        ("test(\"(\" + \"a\")", FilterFailure::Uncaught("null (null) cannot be matched, as it is not a string".to_owned())),
    ] {
        assert_eq!(run(filter, "null"), Err(message), "{filter}");
    }
    assert_eq!(run("now | floor", "null").as_deref(), Ok("1425599621"));
}
