//! Reads the targets in the answer of a discovery service: Consul's, etcd's, Eureka's, or any other JSON with hosts at a path.

use serde_json::Value;
use tollgate_balance::TARGETS_MAX;
use tollgate_data::target_watch::AnswerShape;
use tollgate_text::byte_order_mark;

/// Reads the URLs of the targets. `Err` says why there are none.
pub(super) fn targets(answer: &[u8], shape: &AnswerShape) -> Result<Vec<String>, String> {
    let answer: Value =
        serde_json::from_slice(byte_order_mark::without(answer)).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let texts = nested_answers(&answer, shape)?;
    let parents: Vec<&Value> = match (&shape.parent_path, &texts) {
        (None, _) => vec![&answer],
        (Some(_), Some(texts)) => texts.iter().collect(),
        (Some(path), None) => at(&answer, path),
    };
    if let Some(path) = shape.parent_path.as_ref().filter(|_| parents.is_empty()) {
        return Err(format!("the answer has nothing at {path}"));
    }
    if shape.is_list && !answer.is_array() && !(shape.is_nested && parents.iter().all(|parent| parent.is_array())) {
        return Err("the answer is not a list".to_owned());
    }
    let mut urls = Vec::new();
    // Each item has its own port; within one, the first port is for all hosts that have none beside them.
    for item in parents.into_iter().flat_map(items) {
        let hosts: Vec<String> = at(item, &shape.host_path).into_iter().filter_map(text).collect();
        let ports: Vec<String> = match shape.port_path.as_str() {
            "" => Vec::new(),
            path => at(item, path).into_iter().filter_map(text).collect(),
        };
        for (index, host) in hosts.iter().enumerate() {
            urls.push(url(host, ports.get(index).or(ports.first()), shape)?);
        }
    }
    urls.truncate(if shape.takes_all { TARGETS_MAX } else { 1 });
    if urls.is_empty() { Err(format!("the answer has no host at {}", shape.host_path)) } else { Ok(urls) }
}

/// What the texts at the parent's path say, if they are JSON themselves.
fn nested_answers(answer: &Value, shape: &AnswerShape) -> Result<Option<Vec<Value>>, String> {
    let Some(path) = shape.parent_path.as_ref().filter(|_| shape.is_nested) else { return Ok(None) };
    let read = |value: &Value| match value {
        Value::String(text) => serde_json::from_str(text).map_err(|error| format!("the text at {path} is not JSON: {error}")),
        value => Ok(value.clone()),
    };
    at(answer, path).into_iter().map(read).collect::<Result<_, String>>().map(Some)
}

/// The items of a list; anything else is one item.
fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        value => vec![value],
    }
}

/// All values at a path. A list on the way stands for each of its items, unless a number follows that selects one.
fn at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for name in path.split('.').filter(|_| !path.is_empty()) {
        // As in Tyk's library, `~1` is a dot in a name.
        let name = name.replace("~1", ".").replace("~0", "~");
        let index = name.parse::<usize>().ok();
        let below = |value: &'v Value| match (value, index) {
            (Value::Array(list), Some(index)) => list.get(index).into_iter().collect(),
            _ => items(value).into_iter().filter_map(|item| item.get(&name)).collect::<Vec<_>>(),
        };
        found = found.into_iter().flat_map(below).collect();
    }
    found.into_iter().flat_map(items).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn url(host: &str, port: Option<&String>, shape: &AnswerShape) -> Result<String, String> {
    let is_plain = |byte: u8| byte > 0x20 && byte != 0x7f && byte.is_ascii();
    if !host.bytes().all(is_plain) {
        return Err(format!("{host:?} is not a host"));
    }
    let scheme = if shape.scheme.is_empty() { "http" } else { shape.scheme };
    let start = if host.contains("://") { String::new() } else { format!("{scheme}://") };
    let host = host.trim_end_matches('/');
    let port = match port {
        None => String::new(),
        Some(port) => format!(":{}", port.parse::<u16>().map_err(|_| format!("{port:?} is not a port"))?),
    };
    Ok(format!("{start}{host}{port}{}", shape.target_path))
}

#[cfg(test)]
mod tests;
