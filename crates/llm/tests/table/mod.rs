//! The rows of the tables, and the names in them.

use serde_json::{Map, Value};
use std::path::PathBuf;
use tollgate_llm::{ClientApi, Flavour, Provider, ProviderApi, ProviderCredential};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row(Map<String, Value>);

impl Row {
    /// A member.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A member that is a text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().expect("a text")
    }

    /// A document: JSON, or a text that may be none.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        match &self.0[name] {
            Value::String(text) => text.clone().into_bytes(),
            value => value.to_string().into_bytes(),
        }
    }

    /// Sets or removes a member.
    pub(crate) fn set(&mut self, name: &str, value: Option<Value>) {
        match value {
            Some(value) => self.0.insert(name.to_owned(), value),
            None => self.0.shift_remove(name),
        };
    }

    /// The provider's stream: events with data alone, with a name before their data, or lines as they are.
    pub(crate) fn stream(&self) -> Vec<u8> {
        let events = self.0["stream"].as_array().expect("an array");
        if self.text("to") == "bedrock" {
            return events.iter().flat_map(frame).collect();
        }
        let mut bytes = Vec::new();
        for event in events {
            let text = match event {
                Value::String(line) => line.clone(),
                Value::Array(event) => format!("event: {}\ndata: {}\n\n", event[0].as_str().expect("a name"), event[1]),
                data => format!("data: {data}\n\n"),
            };
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

/// A binary frame of an event, or of an exception.
fn frame(event: &Value) -> Vec<u8> {
    let kind = event[0].as_str().expect("a type");
    let (message, name) = if kind.ends_with("Exception") { ("exception", ":exception-type") } else { ("event", ":event-type") };
    let mut headers = Vec::new();
    for (name, value) in [(":message-type", message), (name, kind), (":content-type", "application/json")] {
        headers.push(name.len() as u8);
        headers.extend(name.as_bytes());
        headers.push(7);
        headers.extend((value.len() as u16).to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let data = event[1].to_string();
    let mut made = ((16 + headers.len() + data.len()) as u32).to_be_bytes().to_vec();
    made.extend((headers.len() as u32).to_be_bytes());
    made.extend(crc32(&made).to_be_bytes());
    made.extend(headers);
    made.extend(data.as_bytes());
    made.extend(crc32(&made).to_be_bytes());
    made
}

/// The checksum, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// All files with their rows.
pub(crate) fn rows() -> Vec<(String, Vec<Row>)> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder()).expect("the folder").map(|entry| entry.expect("a file").file_name()).collect();
    names.sort();
    let read = |name: std::ffi::OsString| {
        let text = std::fs::read_to_string(folder().join(&name)).expect("a text");
        let rows: Vec<Map<String, Value>> = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name:?}: {why}"));
        (name.into_string().expect("a name"), rows.into_iter().map(Row).collect())
    };
    names.into_iter().map(read).collect()
}

/// Writes a file.
pub(crate) fn save(file: &str, rows: &[Row]) {
    let rows: Vec<_> = rows.iter().map(|row| &row.0).collect();
    let text = serde_json::to_string_pretty(&rows).expect("JSON") + "\n";
    std::fs::write(folder().join(file), text).expect("written");
}

/// The members that differ.
pub(crate) fn difference(before: &Row, after: &Row) -> String {
    let names = before.0.keys().chain(after.0.keys().filter(|name| !before.0.contains_key(*name)));
    let differing = names.filter(|name| before.get(name) != after.get(name));
    let shown = |row: &Row, name: &str| row.get(name).map_or("absent".to_owned(), Value::to_string);
    differing.map(|name| format!("  {name}\n    expected {}\n    got      {}", shown(before, name), shown(after, name))).collect()
}

/// A client's API by name.
pub(crate) fn client(name: &str) -> ClientApi {
    match name {
        "openai_chat" => ClientApi::OpenAiChat,
        "openai_responses" => ClientApi::OpenAiResponses,
        "anthropic" => ClientApi::AnthropicMessages,
        "gemini" => ClientApi::Gemini,
        _ => panic!("no client API {name}"),
    }
}

/// A provider by name.
pub(crate) fn provider(name: &str) -> Provider {
    let api = match name {
        "openai" => ProviderApi::OpenAi(Flavour::OpenAi),
        "mistral" => ProviderApi::OpenAi(Flavour::Mistral),
        "deepseek" => ProviderApi::OpenAi(Flavour::DeepSeek),
        "anthropic" => ProviderApi::Anthropic,
        "gemini" => ProviderApi::Gemini,
        "bedrock" => ProviderApi::Bedrock,
        "cohere" => ProviderApi::Cohere,
        _ => panic!("no provider {name}"),
    };
    Provider { api, base_path: None, credential: ProviderCredential::Key("secret".to_owned()) }
}
