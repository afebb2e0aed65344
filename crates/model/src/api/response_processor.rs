//! `response_processors`: what of the list acts. Two of Tyk's names act by `extended_paths` whether they are listed or not; these have options.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::decode::decode;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_framing_header, is_header_value, is_token};

/// A response processor, which Tyk requires to be listed by name.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResponseProcessor {
    /// `header_injector` or `header_transform`; `response_body_transform` acts without being listed.
    pub name: String,
    /// Its options, different for each.
    pub options: Value,
}

/// The options of `header_injector`: changes to every response of the API.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct InjectedHeaders {
    /// Headers to set.
    pub add_headers: BTreeMap<String, String>,
    /// Headers to remove, before others are set.
    pub remove_headers: Vec<String>,
}

/// `rev_proxy_header_cleanup` of `header_transform`: the upstream's URL in response headers becomes the gateway's.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ReverseHeaderOptions {
    /// Names of the headers.
    pub headers: Vec<String>,
    /// The URL of the gateway, of which scheme and host are used.
    pub target_host: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeaderTransformOptions {
    rev_proxy_header_cleanup: ReverseHeaderOptions,
}

/// What a processor does.
#[derive(Debug, Clone, PartialEq)]
pub enum ProcessorAction {
    /// Changes headers of every response.
    Inject(InjectedHeaders),
    /// Rewrites URLs of the upstream in headers.
    Reverse(ReverseHeaderOptions),
}

impl ResponseProcessor {
    /// What it does; `None` for one that does nothing by itself.
    pub fn action(&self) -> Option<ProcessorAction> {
        match self.name.as_str() {
            "header_injector" => decode(&self.options).value.map(ProcessorAction::Inject),
            "header_transform" => {
                let options: Option<HeaderTransformOptions> = decode(&self.options).value;
                options.map(|options| ProcessorAction::Reverse(options.rev_proxy_header_cleanup))
            }
            _ => None,
        }
    }
}

/// Finds problems of the list.
pub(super) fn check(processors: &[ResponseProcessor], findings: &mut Findings) {
    for (index, processor) in processors.iter().enumerate() {
        let at = JsonPath::of("response_processors").index(index);
        match processor.name.as_str() {
            "header_injector" => check_injector(processor, &at.key("options"), findings),
            "header_transform" => check_transform(processor, &at.key("options"), findings),
            // They act through `extended_paths`.
            "response_body_transform" | "response_body_transform_jq" => {}
            // It acts through `custom_middleware.response`.
            "custom_mw_res_hook" | "custom_mw_js_res_hook" => {}
            "goplugin_res_hook" => {
                findings.ignored(&at, format!("response processor {:?} is not supported yet", processor.name));
            }
            name => findings.ignored(&at, format!("there is no response processor {name:?}")),
        }
    }
}

fn check_injector(processor: &ResponseProcessor, at: &JsonPath, findings: &mut Findings) {
    let options: InjectedHeaders = decoded(&processor.options, at, findings);
    for (name, value) in &options.add_headers {
        let at = at.key("add_headers").key(name);
        check_name(name, &at, findings);
        if !is_header_value(value) {
            findings.error(&at, "must not contain line ends or other control characters");
        }
    }
    for (index, name) in options.remove_headers.iter().enumerate() {
        check_name(name, &at.key("remove_headers").index(index), findings);
    }
}

fn check_transform(processor: &ResponseProcessor, at: &JsonPath, findings: &mut Findings) {
    let options: HeaderTransformOptions = decoded(&processor.options, at, findings);
    let (options, at) = (options.rev_proxy_header_cleanup, at.key("rev_proxy_header_cleanup"));
    for (index, name) in options.headers.iter().enumerate() {
        check_name(name, &at.key("headers").index(index), findings);
    }
    if !options.headers.is_empty() && options.target_host.split_once("://").is_none_or(|(_, host)| host.is_empty()) {
        findings.warning(&at.key("target_host"), "must be a URL such as https://api.example.com: the headers stay as they are");
    }
}

fn check_name(name: &str, at: &JsonPath, findings: &mut Findings) {
    if !is_token(name) {
        findings.error(at, "is not a header name");
    } else if is_framing_header(name) {
        findings.ignored(at, "has no effect: the gateway writes this header itself");
    }
}

/// Options, with what is wrong with them noted.
fn decoded<T: serde::de::DeserializeOwned + Default>(options: &Value, at: &JsonPath, findings: &mut Findings) -> T {
    let empty = Value::Object(serde_json::Map::new());
    let decoded = decode::<T>(if options.is_null() { &empty } else { options });
    for (path, message) in &decoded.mistakes {
        findings.error(&at.join(path), message.clone());
    }
    for (path, _) in &decoded.unknown {
        findings.ignored(&at.join(path), "unknown field");
    }
    decoded.value.unwrap_or_default()
}

#[cfg(test)]
mod tests;
