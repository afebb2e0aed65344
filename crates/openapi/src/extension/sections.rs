//! Sections of the extension that are no single fields: targets with weights, checks of hosts, events, plugins, other errors.

use serde_json::{Map, Value, json};
use tollgate_model::span;

use super::{Writer, place};
use crate::places::{member, put};

/// Maximum entries that the weights of targets expand to.
const TARGETS_MAX: u64 = 10_000;

/// Members of `custom_middleware`, with the sections of the extension that have its plugins, the newer one first.
pub(crate) const PLUGINS: [(&str, &str, &str); 4] = [
    ("pre", "prePlugins", "prePlugin"),
    ("post_key_auth", "postAuthenticationPlugins", "postAuthenticationPlugin"),
    ("post", "postPlugins", "postPlugin"),
    ("response", "responsePlugins", "responsePlugin"),
];

/// Kinds of event handlers.
pub(crate) const HANDLERS: [(&str, &str); 3] =
    [("webhook", "eh_web_hook_handler"), ("custom", "eh_dynamic_handler"), ("log", "eh_log_handler")];

pub(super) fn write(extension: &Value, writer: &mut Writer) {
    targets(extension, writer);
    uptime_tests(extension, writer);
    events(extension, writer);
    plugins(extension, writer);
    error_overrides(extension, writer);
}

/// A weight is the number of times that a target is in the list.
fn targets(extension: &Value, writer: &mut Writer) {
    let dotted = "upstream.loadBalancing.targets";
    let targets = member(extension, dotted).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut list = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let at = place(dotted).index(index);
        let Some(url) = target.get("url").and_then(Value::as_str) else {
            writer.error(&at.key("url"), "must be a URL");
            continue;
        };
        match target.get("weight").unwrap_or(&json!(0)).as_u64() {
            Some(weight) if list.len() as u64 + weight <= TARGETS_MAX => (0..weight).for_each(|_| list.push(json!(url))),
            Some(_) => writer.error(&at.key("weight"), format!("the weights add up to more than {TARGETS_MAX}")),
            None => writer.error(&at.key("weight"), "must be a whole number of at least 0"),
        }
    }
    if list.is_empty() {
        writer.set(&["proxy", "enable_load_balancing"], json!(false));
        writer.set(&["proxy", "check_host_against_uptime_tests"], json!(false));
        return;
    }
    writer.origins.add("$.proxy.target_list".to_owned(), place(dotted).to_string());
    writer.set(&["proxy", "target_list"], Value::Array(list));
}

fn uptime_tests(extension: &Value, writer: &mut Writer) {
    let dotted = "upstream.uptimeTests.tests";
    let Some(tests) = member(extension, dotted).and_then(Value::as_array) else { return };
    let mut list = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let url = test.get("url").and_then(Value::as_str).unwrap_or_default();
        let timeout = test.get("timeout").and_then(Value::as_str).unwrap_or("0");
        let Some(timeout) = span::parse_span(timeout) else {
            writer.error(&place(dotted).index(index).key("timeout"), "must be a span of time such as 10s");
            continue;
        };
        let copied = |name: &str, default: Value| test.get(name).cloned().unwrap_or(default);
        list.push(json!({
            "url": url,
            "protocol": url.split_once("://").map_or("", |(protocol, _)| protocol),
            "timeout": u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            "enable_proxy_protocol": copied("enableProxyProtocol", json!(false)),
            "commands": copied("commands", json!([])),
            "method": copied("method", json!("")),
            "headers": copied("headers", json!({})),
            "body": copied("body", json!("")),
        }));
    }
    writer.origins.add("$.uptime_tests.check_list".to_owned(), place(dotted).to_string());
    writer.set(&["uptime_tests", "check_list"], Value::Array(list));
}

fn events(extension: &Value, writer: &mut Writer) {
    let dotted = "server.eventHandlers";
    let Some(handlers) = member(extension, dotted).and_then(Value::as_array) else { return };
    let mut events: Map<String, Value> = Map::new();
    for (index, handler) in handlers.iter().enumerate() {
        let at = place(dotted).index(index);
        let text = |name: &str| handler.get(name).cloned().unwrap_or(json!(""));
        let kind = handler.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some((_, name)) = HANDLERS.iter().find(|(known, _)| *known == kind) else {
            writer.error(&at.key("type"), "must be webhook, custom or log");
            continue;
        };
        let mut meta = json!({
            "disabled": !handler.get("enabled").and_then(Value::as_bool).unwrap_or_default(),
            "id": text("id"),
        });
        match kind {
            "webhook" => {
                let mut headers = Map::new();
                for header in handler.get("headers").and_then(Value::as_array).into_iter().flatten() {
                    if let (Some(name), Some(value)) = (header.get("name").and_then(Value::as_str), header.get("value")) {
                        headers.insert(name.to_owned(), value.clone());
                    }
                }
                let cooldown = handler.get("cooldownPeriod").and_then(Value::as_str).unwrap_or("0");
                match span::parse_span(cooldown) {
                    Some(cooldown) => put(&mut meta, &["event_timeout"], json!(cooldown.as_secs())),
                    None => writer.error(&at.key("cooldownPeriod"), "must be a span of time such as 10s"),
                }
                put(&mut meta, &["name"], text("name"));
                put(&mut meta, &["method"], text("method"));
                put(&mut meta, &["target_path"], text("url"));
                put(&mut meta, &["template_path"], text("bodyTemplate"));
                put(&mut meta, &["header_map"], Value::Object(headers));
            }
            "custom" => {
                put(&mut meta, &["name"], text("functionName"));
                put(&mut meta, &["path"], text("path"));
            }
            _ => put(&mut meta, &["prefix"], text("logPrefix")),
        }
        let trigger = handler.get("trigger").and_then(Value::as_str).unwrap_or_default();
        let entry = json!({"handler_name": name, "handler_meta": meta});
        match events.entry(trigger).or_insert_with(|| json!([])) {
            Value::Array(entries) => entries.push(entry),
            _ => continue,
        }
    }
    writer.origins.add("$.event_handlers".to_owned(), place(dotted).to_string());
    writer.set(&["event_handlers", "events"], Value::Object(events));
}

fn plugins(extension: &Value, writer: &mut Writer) {
    for (hook, newer, older) in PLUGINS {
        let newer = format!("middleware.global.{newer}");
        let older = format!("middleware.global.{older}.plugins");
        let Some((dotted, list)) = [newer, older].into_iter().find_map(|dotted| {
            let list = member(extension, &dotted)?.as_array()?.clone();
            Some((dotted, list))
        }) else {
            continue;
        };
        if list.is_empty() {
            continue;
        }
        let entries = list.iter().map(plugin).collect();
        writer.origins.add(format!("$.custom_middleware.{hook}"), place(&dotted).to_string());
        writer.set(&["custom_middleware", hook], Value::Array(entries));
    }
    let dotted = "middleware.global.trafficLogs.plugins";
    if let Some(first) = member(extension, dotted).and_then(Value::as_array).and_then(|plugins| plugins.first()) {
        let copied = |name: &str, default: Value| first.get(name).cloned().unwrap_or(default);
        let written = json!({
            "enable": copied("enabled", json!(false)),
            "plugin_path": copied("path", json!("")),
            "func_name": copied("functionName", json!("")),
        });
        writer.origins.add("$.analytics_plugin".to_owned(), place(dotted).index(0).to_string());
        writer.set(&["analytics_plugin"], written);
    }
}

/// A plugin as an entry of `custom_middleware`.
pub(super) fn plugin(plugin: &Value) -> Value {
    let copied = |name: &str, default: Value| plugin.get(name).cloned().unwrap_or(default);
    json!({
        "disabled": !plugin.get("enabled").and_then(Value::as_bool).unwrap_or_default(),
        "name": copied("functionName", json!("")),
        "path": copied("path", json!("")),
        "require_session": copied("requireSession", json!(false)),
        "raw_body_only": copied("rawBodyOnly", json!(false)),
    })
}

/// An object with other names of its members; those without another name keep theirs, so that reading it reports them.
pub(super) fn renamed(object: &Value, names: &[(&str, &str)]) -> Value {
    let name_of =
        |name: &String| names.iter().find(|(from, _)| from == name).map_or_else(|| name.clone(), |(_, to)| (*to).to_owned());
    Value::Object(object.as_object().into_iter().flatten().map(|(name, value)| (name_of(name), value.clone())).collect())
}

/// Rules for errors: the same, with names in the other style.
fn error_overrides(extension: &Value, writer: &mut Writer) {
    let dotted = "errorOverrides.value";
    let Some(Value::Object(codes)) = member(extension, dotted) else { return };
    writer.origins.add("$.error_overrides".to_owned(), place(dotted).to_string());
    let mut written = Map::new();
    for (code, rules) in codes {
        let rules = rules.as_array().map(Vec::as_slice).unwrap_or_default();
        let renamed = rules.iter().map(|rule| rename_members(rule, &snake_case)).collect();
        written.insert(code.clone(), Value::Array(renamed));
    }
    writer.set(&["error_overrides"], Value::Object(written));
}

/// Renames the members of an object and of the objects in it, except names of headers.
pub(crate) fn rename_members(value: &Value, rename: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::Object(members) => {
            let renamed = members.iter().map(|(name, member)| {
                let member = if name == "headers" { member.clone() } else { rename_members(member, rename) };
                (rename(name), member)
            });
            Value::Object(renamed.collect())
        }
        other => other.clone(),
    }
}

fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut written, c| {
        if c.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(c.to_ascii_lowercase());
        written
    })
}
