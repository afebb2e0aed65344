//! Sections of a classic definition that are no single fields: checks of hosts, events, plugins, other errors.

use serde_json::{Map, Value, json};

use super::classic::OpenApiWriter;
use super::{is_zero, members};
use crate::extension::{HANDLERS, PLUGINS, rename_members};
use crate::places::member;

impl OpenApiWriter {
    pub(super) fn sections(&mut self, definition: &Value) {
        let list = |dotted: &str| member(definition, dotted).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let tests: Vec<Value> = list("uptime_tests.check_list").iter().map(uptime_test).collect();
        if !tests.is_empty() {
            self.set("upstream.uptimeTests.tests", tests.into());
            self.set("upstream.uptimeTests.enabled", json!(member(definition, "uptime_tests.disabled") != Some(&json!(true))));
        }
        let events = members(member(definition, "event_handlers.events"));
        let handlers: Vec<Value> = events
            .flat_map(|(event, handlers)| handlers.as_array().into_iter().flatten().map(move |handler| (event, handler)))
            .filter_map(|(event, handler)| event_handler(event, handler))
            .collect();
        if !handlers.is_empty() {
            self.set("server.eventHandlers", handlers.into());
        }
        for (hook, section, _) in PLUGINS {
            let plugins: Vec<Value> = list(&format!("custom_middleware.{hook}")).iter().map(plugin).collect();
            if !plugins.is_empty() {
                self.set(&format!("middleware.global.{section}"), plugins.into());
            }
        }
        let overrides: Map<String, Value> = members(definition.get("error_overrides"))
            .map(|(code, rules)| {
                let rules = rules.as_array().into_iter().flatten().map(|rule| rename_members(rule, &camel_case)).collect();
                (code.clone(), rules)
            })
            .collect();
        if !overrides.is_empty() {
            self.set("errorOverrides.value", Value::Object(overrides));
            let is_on = definition.get("error_overrides_disabled") != Some(&json!(true));
            self.set("errorOverrides.enabled", json!(is_on));
        }
    }
}

/// The times of classic definitions are nanoseconds.
fn uptime_test(test: &Value) -> Value {
    let timeout_ms = test.get("timeout").and_then(Value::as_u64).unwrap_or_default() / 1_000_000;
    let protocol = test.get("protocol").and_then(Value::as_str).unwrap_or_default();
    let url = test.get("url").and_then(Value::as_str).unwrap_or_default();
    let is_named = url.contains("://") || protocol.is_empty();
    let url = if is_named { url.to_owned() } else { format!("{protocol}://{url}") };
    let mut made = json!({"url": url, "timeout": format!("{timeout_ms}ms")});
    for (name, classic) in [
        ("enableProxyProtocol", "enable_proxy_protocol"),
        ("commands", "commands"),
        ("method", "method"),
        ("headers", "headers"),
        ("body", "body"),
    ] {
        if let (Value::Object(made), Some(value)) = (&mut made, test.get(classic).filter(|value| !is_zero(value))) {
            made.insert(name.to_owned(), value.clone());
        }
    }
    made
}

/// `None` for a kind that the extension does not have.
fn event_handler(event: &str, handler: &Value) -> Option<Value> {
    let name = handler.get("handler_name").and_then(Value::as_str).unwrap_or_default();
    let (kind, _) = HANDLERS.iter().find(|(_, known)| *known == name)?;
    let meta = handler.get("handler_meta").unwrap_or(&Value::Null);
    let text = |name: &str| meta.get(name).cloned().unwrap_or(json!(""));
    let mut made = json!({"enabled": meta.get("disabled") != Some(&json!(true)), "trigger": event, "type": kind, "id": text("id")});
    let own = match *kind {
        "webhook" => {
            let headers = members(meta.get("header_map")).map(|(name, value)| json!({"name": name, "value": value}));
            json!({
                "name": text("name"), "method": text("method"), "url": text("target_path"), "bodyTemplate": text("template_path"),
                "cooldownPeriod": format!("{}s", meta.get("event_timeout").and_then(Value::as_u64).unwrap_or_default()),
                "headers": headers.collect::<Vec<Value>>(),
            })
        }
        "custom" => json!({"functionName": text("name"), "path": text("path")}),
        _ => json!({"logPrefix": text("prefix")}),
    };
    if let (Value::Object(made), Value::Object(own)) = (&mut made, own) {
        made.extend(own);
    }
    Some(made)
}

/// A plugin of `custom_middleware` as in the extension.
pub(super) fn plugin(plugin: &Value) -> Value {
    let of = |name: &str, default: Value| plugin.get(name).cloned().unwrap_or(default);
    json!({
        "enabled": plugin.get("disabled") != Some(&json!(true)),
        "functionName": of("name", json!("")), "path": of("path", json!("")),
        "requireSession": of("require_session", json!(false)), "rawBodyOnly": of("raw_body_only", json!(false)),
    })
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut made = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        made.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        made.push_str(letters.as_str());
    }
    made
}
