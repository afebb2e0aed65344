//! Modules written as text: what they see and change, and what bad ones do.

use super::WasmDriver;
use crate::limits::{LOG_LINES_MAX, SHORT_CALLS_TO_RETURN};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::api::{ApiDefinition, CustomMiddleware, PluginEntry};
use tollgate_plugin::{
    ApiPlugins, HookAnswer, HookCall, HookFault, HookKind, LoadFault, LoadedPlugins, PluginApi, PluginDriver, PluginRequest,
    PluginResponse,
};

/// A module with this code at a request's headers. Memory from 1024 on is the code's own; what the gateway returns begins at 4096.
fn module(code: &str) -> String {
    module_with("", &format!("(func (export \"proxy_on_request_headers\") (param $id i32) (param i32 i32) (result i32) {code})"))
}

fn module_with(imports: &str, functions: &str) -> String {
    let imported = [
        ("proxy_log", "i32 i32 i32"),
        ("proxy_get_header_map_value", "i32 i32 i32 i32 i32"),
        ("proxy_replace_header_map_value", "i32 i32 i32 i32 i32"),
        ("proxy_add_header_map_value", "i32 i32 i32 i32 i32"),
        ("proxy_remove_header_map_value", "i32 i32 i32"),
        ("proxy_set_header_map_pairs", "i32 i32 i32"),
        ("proxy_set_buffer_bytes", "i32 i32 i32 i32 i32"),
        ("proxy_send_local_response", "i32 i32 i32 i32 i32 i32 i32 i32"),
        ("proxy_get_property", "i32 i32 i32 i32"),
        ("proxy_http_call", "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32"),
    ];
    let imported: String = imported
        .iter()
        .map(|(name, params)| format!("(import \"env\" \"{name}\" (func ${name} (param {params}) (result i32)))\n"))
        .collect();
    format!(
        r#"(module
            {imported}{imports}
            (memory (export "memory") 1)
            (global $calls (mut i32) (i32.const 0))
            (data (i32.const 0) "x-one")
            (data (i32.const 16) "value")
            (data (i32.const 32) "a\r\nb")
            (func (export "proxy_abi_version_0_2_1"))
            (func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 4096))
            {functions})"#
    )
}

struct Loaded {
    plugins: Arc<dyn LoadedPlugins>,
    _directory: tempfile::TempDir,
}

fn load(text: &str) -> Result<Loaded, LoadFault> {
    load_bytes(&wat::parse_str(text).expect("the text is a module"))
}

fn load_bytes(bytes: &[u8]) -> Result<Loaded, LoadFault> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("plugin.wasm"), bytes).unwrap();
    let plugins = load_from(directory.path(), "plugin.wasm", None)?;
    Ok(Loaded { plugins, _directory: directory })
}

fn load_from(directory: &Path, path: &str, bundle_files: Option<&[String]>) -> Result<Arc<dyn LoadedPlugins>, LoadFault> {
    let entry = PluginEntry { name: "hook".to_owned(), path: path.to_owned(), ..PluginEntry::default() };
    let section = CustomMiddleware { pre: vec![entry.clone()], response: vec![entry], ..CustomMiddleware::default() };
    let definition = ApiDefinition { api_id: "api".to_owned(), config_data: json!({"limit": 7}), ..ApiDefinition::default() };
    let gate = Arc::new(tollgate_plugin::LoadGate::default());
    gate.wait_for_all();
    WasmDriver::new(1, gate).load(&ApiPlugins { definition: &definition, section: &section, directory, bundle_files })
}

impl Loaded {
    fn call(&self, time_max: Duration) -> Result<HookAnswer, HookFault> {
        self.run(HookCall { time_max, ..request() })
    }

    fn run(&self, call: HookCall) -> Result<HookAnswer, HookFault> {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(self.plugins.call(call))
    }
}

fn request() -> HookCall {
    HookCall {
        core: 0,
        kind: HookKind::Pre,
        index: 0,
        name: "hook".into(),
        api: Arc::new(PluginApi::default()),
        request: PluginRequest {
            method: "GET".to_owned(),
            url: "/a/x".to_owned(),
            headers: vec![("X-One".to_owned(), "1".to_owned())],
            ..PluginRequest::default()
        },
        session: None,
        token: None,
        response: None,
        raw_body_only: false,
        trace_parent: None,
        time_max: Duration::from_secs(5),
    }
}

const SET: &str = "(call $proxy_replace_header_map_value (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 5))";
const ADD: &str = "(call $proxy_add_header_map_value (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 5))";

#[test]
fn a_module_changes_headers() {
    let answer = load(&module(SET)).unwrap().call(Duration::from_secs(5)).unwrap();
    assert_eq!(answer.request.set_headers, [("X-One".to_owned(), "value".to_owned())]);
    let answer = load(&module(ADD)).unwrap().call(Duration::from_secs(5)).unwrap();
    assert_eq!(answer.request.set_headers, [("X-One".to_owned(), "1".to_owned())]);
    assert_eq!(answer.request.add_headers, [("X-One".to_owned(), "value".to_owned())]);
    let remove = "(call $proxy_remove_header_map_value (i32.const 0) (i32.const 0) (i32.const 5))";
    let answer = load(&module(remove)).unwrap().call(Duration::from_secs(5)).unwrap();
    assert_eq!((answer.request.delete_headers, answer.request.set_headers), (vec!["X-One".to_owned()], vec![]));
}

#[test]
fn an_instance_is_used_again_unless_it_failed() {
    // Fails at the second call of an instance.
    let code = format!(
        "{SET} drop (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         (if (i32.eq (global.get $calls) (i32.const 2)) (then unreachable)) (i32.const 0)"
    );
    let loaded = load(&module(&code)).unwrap();
    for expected in [true, false, true, false] {
        assert_eq!(loaded.call(Duration::from_secs(5)).is_ok(), expected);
    }
}

#[test]
fn a_bad_module_fails_its_own_call() {
    let log = "(call $proxy_log (i32.const 2) (i32.const 0) (i32.const 5)) drop";
    let forever = |code: &str| format!("(loop {code} (br 0)) (i32.const 0)");
    for (what, code, reason) in [
        ("traps", "unreachable".to_owned(), "unreachable"),
        ("divides by zero", "(i32.div_u (i32.const 1) (i32.const 0))".to_owned(), "divide by zero"),
        ("reads outside its memory", "(i32.load (i32.const -8))".to_owned(), "out of bounds"),
        ("calls itself without end", "(call $endless) (i32.const 0)".to_owned(), "stack"),
        ("floods with headers", forever(&format!("{ADD} drop")), "too many headers"),
        (
            "floods with a body",
            forever(
                "(call $proxy_set_buffer_bytes (i32.const 0) (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 60000)) drop",
            ),
            "too large a body",
        ),
        ("pauses without end", "(i32.const 1)".to_owned(), "paused"),
        ("logs why it traps", format!("{log} unreachable"), "unreachable` instruction executed: x-one"),
    ] {
        let functions = format!(
            "(func $endless (call $endless))
             (func (export \"proxy_on_request_headers\") (param i32 i32 i32) (result i32) {code})"
        );
        let outcome = load(&module_with("", &functions)).unwrap().call(Duration::from_secs(5));
        match outcome {
            Err(HookFault::Failed(why)) => assert!(why.contains(reason), "{what}: {why}"),
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn a_module_that_eats_memory_gets_no_more_and_goes_on() {
    // Grows until it gets no more, and returns the pages as the status of a response.
    let code = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
        (call $proxy_send_local_response (memory.size) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const -1))
        drop (i32.const 1)";
    let loaded = load(&module(code)).unwrap();
    // An instance that has grown is not used again.
    for _ in 0..2 {
        let answer = loaded.call(Duration::from_secs(5)).unwrap();
        assert_eq!(answer.request.overrides.unwrap().status, 1_009, "64 MiB are 1024 pages");
    }
}

#[test]
fn a_call_that_never_ends_is_ended_and_leaves_the_data_thread_soon() {
    let loaded = load(&module("(loop (br 0)) (i32.const 0)")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut call = std::pin::pin!(loaded.plugins.call(HookCall { time_max: Duration::from_secs(2), ..request() }));
        // The first poll runs on this thread; it ends long before the call does.
        assert!(std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context))).await.is_pending());
        assert_eq!(call.await.err(), Some(HookFault::Timeout));
    });
    // Dropping a call ends it too: otherwise its hook would soon have no thread left.
    for _ in 0..20 {
        let call = loaded.plugins.call(HookCall { time_max: Duration::from_secs(60), ..request() });
        let _ = runtime.block_on(async { tokio::time::timeout(Duration::from_millis(5), call).await });
    }
    assert_eq!(loaded.call(Duration::from_millis(300)).err(), Some(HookFault::Timeout));
}

#[test]
fn a_long_call_ends_on_another_thread_with_the_same_answer() {
    // Some ten milliseconds of work for requests with a method of four letters.
    let code = format!(
        "(local $left i32) {SET} drop
         (local.set $left (i32.const 40000000))
         (loop (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br_if 0 (local.get $left))) (i32.const 0)"
    );
    let loaded = load(&module(&code)).unwrap();
    for _ in 0..3 {
        let answer = loaded.call(Duration::from_secs(20)).unwrap();
        assert_eq!(answer.request.set_headers, [("X-One".to_owned(), "value".to_owned())]);
    }
}

#[test]
fn a_hook_returns_to_the_data_thread_when_its_calls_are_short_again() {
    // The first call of each instance that has a body is long.
    let code = "(local $left i32)
         (local.set $left (i32.const 0))
         (if (i32.eqz (local.get 2)) (then (local.set $left (i32.const 40000000))))
         (block (loop (br_if 1 (i32.eqz (local.get $left))) (local.set $left (i32.sub (local.get $left) (i32.const 1))) (br 0)))
         (i32.const 0)";
    let functions = format!("(func (export \"proxy_on_request_headers\") (param i32 i32 i32) (result i32) {code})");
    let loaded = load(&module_with("", &functions)).unwrap();
    let mut long = request();
    long.request.body = b"long".to_vec();
    long.time_max = Duration::from_secs(20);
    assert!(loaded.run(long).is_ok());
    // Whether it has returned is seen in that the first poll has the answer.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let is_here = || {
        runtime.block_on(async {
            let mut call = loaded.plugins.call(request());
            let here = std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context).is_ready())).await;
            if !here {
                assert!(call.await.is_ok());
            }
            here
        })
    };
    // On a busy machine, another thread may have answered before the first poll.
    assert!((0..SHORT_CALLS_TO_RETURN / 2).any(|_| !is_here()));
    let tries = (0..20 * SHORT_CALLS_TO_RETURN).take_while(|_| !is_here()).count();
    assert!(tries < 20 * SHORT_CALLS_TO_RETURN as usize, "{tries}");
}

#[test]
fn wrong_arguments_are_answered_and_harm_nobody() {
    // Each status becomes the status of a response, which shows it.
    for (what, code, status) in [
        (
            "a name outside of memory",
            "(call $proxy_get_header_map_value (i32.const 0) (i32.const -8) (i32.const 5) (i32.const 64) (i32.const 68))",
            6,
        ),
        (
            "a place outside of memory",
            "(call $proxy_get_header_map_value (i32.const 0) (i32.const 0) (i32.const 5) (i32.const -8) (i32.const -4))",
            6,
        ),
        (
            "an unknown header",
            "(call $proxy_get_header_map_value (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 64) (i32.const 68))",
            1,
        ),
        (
            "an unknown list",
            "(call $proxy_get_header_map_value (i32.const 99) (i32.const 0) (i32.const 5) (i32.const 64) (i32.const 68))",
            1,
        ),
        ("a list of the response", "(call $proxy_remove_header_map_value (i32.const 2) (i32.const 0) (i32.const 5))", 2),
        ("malformed lines", "(call $proxy_set_header_map_pairs (i32.const 0) (i32.const 0) (i32.const 5))", 2),
        (
            "a body of the response",
            "(call $proxy_set_buffer_bytes (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1))",
            2,
        ),
        ("an unknown property", "(call $proxy_get_property (i32.const 0) (i32.const 5) (i32.const 64) (i32.const 68))", 1),
        (
            "a function that is not here",
            "(call $proxy_http_call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))",
            12,
        ),
    ] {
        let code = format!(
            "(call $proxy_send_local_response (i32.add (i32.const 200) {code}) (i32.const 0) (i32.const 0) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const -1)) drop (i32.const 1)"
        );
        let answer = load(&module(&code)).unwrap().call(Duration::from_secs(5)).unwrap();
        let overrides = answer.request.overrides.unwrap();
        assert_eq!((overrides.status, overrides.body.as_str()), (200 + status, "value"), "{what}");
    }
}

#[test]
fn a_response_hook_changes_the_response() {
    let set = SET.replacen("(i32.const 0)", "(i32.const 2)", 1);
    let functions = format!("(func (export \"proxy_on_response_headers\") (param i32 i32 i32) (result i32) {set})");
    let loaded = load(&module_with("", &functions)).unwrap();
    let response = PluginResponse { status: 201, headers: vec![("X-Two".to_owned(), "2".to_owned())], body: b"body".to_vec() };
    let answer = loaded.run(HookCall { kind: HookKind::Response, response: Some(response), ..request() }).unwrap();
    let response = answer.response.unwrap();
    assert_eq!((response.status, response.body.as_slice()), (201, &b"body"[..]));
    assert_eq!(response.headers, [("X-Two".to_owned(), "2".to_owned()), ("X-One".to_owned(), "value".to_owned())]);
}

#[test]
fn what_cannot_be_loaded_is_told() {
    let start =
        |code: &str| module_with("", &format!("(func (export \"proxy_on_configure\") (param i32 i32) (result i32) {code})"));
    for (text, reason) in [
        ("(module)".to_owned(), "proxy_abi_version_0_2_1"),
        ("(module (func (export \"proxy_abi_version_0_2_1\")))".to_owned(), "exports no memory"),
        (module_with("(import \"env\" \"open_file\" (func (param i32)))", ""), "open_file"),
        (module_with("(import \"other\" \"f\" (func))", ""), "other"),
        (start("(i32.const 0)"), "proxy_on_configure of the plugin returned false"),
        (start("unreachable"), "does not start"),
        (module_with("", "(func (export \"proxy_on_configure\") (param i64))"), "another type"),
        ("(module (memory (export \"memory\") 2000) (func (export \"proxy_abi_version_0_2_1\")))".to_owned(), "does not start"),
    ] {
        let fault = load(&text).err().unwrap_or_else(|| panic!("{text} is loaded"));
        assert_eq!(fault.path, "$.custom_middleware.pre[0].path");
        assert!(fault.message.contains(reason) && fault.message.contains("plugin.wasm"), "{reason}: {}", fault.message);
    }
    let fault = load_bytes(b"no module").err().unwrap();
    assert!(fault.message.contains("is no module"), "{}", fault.message);
    let directory = tempfile::tempdir().unwrap();
    let fault = load_from(directory.path(), "", None).err().unwrap();
    assert!(fault.message.contains("must name the file"), "{}", fault.message);
    let fault = load_from(directory.path(), "missing.wasm", None).err().unwrap();
    assert!(fault.message.contains("missing.wasm: No such file"), "{}", fault.message);
    let fault = load_from(directory.path(), "missing.wasm", Some(&[])).err().unwrap();
    assert!(fault.message.contains("the bundle has no file"), "{}", fault.message);
}

#[test]
fn a_module_that_starts_for_long_delays_nobody_and_its_calls_wait_for_it() {
    // Some hundred milliseconds on a quick machine.
    let slow = "(func (export \"proxy_on_configure\") (param i32 i32) (result i32) (local $n i32)
        (loop $again (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $again (i32.lt_u (local.get $n) (i32.const 1000000000))))
        (i32.const 1))";
    let endless = "(func (export \"proxy_on_configure\") (param i32 i32) (result i32) (loop $again (br $again)) (i32.const 1))";
    let directory = tempfile::tempdir().unwrap();
    let entry = |name: &str, functions: &str| {
        std::fs::write(directory.path().join(name), wat::parse_str(module_with("", functions)).unwrap()).unwrap();
        PluginEntry { name: "hook".to_owned(), path: name.to_owned(), ..PluginEntry::default() }
    };
    let section =
        CustomMiddleware { pre: vec![entry("slow.wasm", slow), entry("endless.wasm", endless)], ..CustomMiddleware::default() };
    let definition = ApiDefinition { api_id: "api".to_owned(), ..ApiDefinition::default() };
    let driver = WasmDriver::new(1, Arc::default());
    let plugins = ApiPlugins { definition: &definition, section: &section, directory: directory.path(), bundle_files: None };
    let loaded = Loaded { plugins: driver.load(&plugins).unwrap(), _directory: tempfile::tempdir().unwrap() };
    assert!(loaded.run(HookCall { time_max: Duration::from_secs(60), ..request() }).is_ok());
    let fault = loaded.run(HookCall { index: 1, ..request() }).unwrap_err();
    let HookFault::Failed(why) = &fault else { panic!("{fault}") };
    assert!(why.contains("the plugin can't be loaded") && why.contains("does not start within 5 seconds"), "{why}");
}

#[test]
fn programs_that_import_wasi_are_loaded_and_get_harmless_answers() {
    let imports = r#"
        (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))"#;
    let open = "(call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 64))";
    let functions = |code: &str| {
        format!(
            "(func (export \"_start\") (call $proc_exit (i32.const 0)))
             (func (export \"proxy_on_request_headers\") (param i32 i32 i32) (result i32) {code})"
        )
    };
    for (call, status) in [
        (open, 252),
        ("(call $environ (i32.const 64) (i32.const 68))", 200),
        ("(call $random_get (i32.const 64) (i32.const 32))", 200),
        ("(call $poll (i32.const 1024) (i32.const 2048) (i32.const 2) (i32.const 64))", 200),
        ("(call $poll (i32.const -8) (i32.const 2048) (i32.const 1) (i32.const 64))", 221),
        ("(call $random_get (i32.const -8) (i32.const 32))", 221),
        ("(call $fd_write (i32.const 7) (i32.const 64) (i32.const 0) (i32.const 72))", 208),
        ("(call $fd_write (i32.const 1) (i32.const 64) (i32.const 0) (i32.const 72))", 200),
    ] {
        let code = format!(
            "(call $proxy_send_local_response (i32.add (i32.const 200) {call}) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const -1))"
        );
        let answer = load(&module_with(imports, &functions(&code))).unwrap().call(Duration::from_secs(5)).unwrap();
        assert_eq!(answer.request.overrides.unwrap().status, status, "{call}");
    }
    let exits = load(&module_with(imports, &functions("(call $proc_exit (i32.const 3)) (i32.const 0)"))).unwrap();
    match exits.call(Duration::from_secs(5)) {
        Err(HookFault::Failed(why)) => assert_eq!(why, "the plugin exited with 3"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_logs_no_more_than_some_lines() {
    let mut log = crate::plugin_log::PluginLog::default();
    (0..1_000).for_each(|_| log.add(2, b"a line"));
    assert_eq!(log.lines(), LOG_LINES_MAX);
    log.clear();
    (0..3).for_each(|_| log.add(2, &vec![b'x'; 5_000]));
    assert_eq!(log.lines(), 1);
}
