//! The schema that a request has for its answer, also in requests that have more than the one form knows.

use crate::client::ClientApi;
use crate::gemini::json_schema;
use crate::json::{Fields, JsonNode};

/// The JSON text of the schema; `None` if the request has none.
pub fn answer_schema(api: ClientApi, body: &[u8]) -> Option<String> {
    let request = JsonNode::read(body, body.len()).ok()?.object()?;
    let format = match api {
        ClientApi::OpenAiChat => request.object("response_format")?,
        ClientApi::OpenAiResponses => request.object("text")?.object("format")?,
        ClientApi::AnthropicMessages => request.object("output_config")?.object("format")?,
        ClientApi::Gemini => return gemini_schema(body),
    };
    let is_schema = format.text("type").as_deref() == Some("json_schema");
    let holder = if api == ClientApi::OpenAiChat { format.object("json_schema")? } else { format };
    holder.get("schema").filter(|_| is_schema).map(|schema| schema.raw().to_owned())
}

/// As it is, or of Google's own form.
fn gemini_schema(body: &[u8]) -> Option<String> {
    let mut config = Fields::of_google_body(body, body.len()).ok()?.object("generationConfig").ok()??;
    match config.raw_object("responseJsonSchema").ok()? {
        Some(schema) => Some(schema),
        None => json_schema(config.object("responseSchema").ok()??).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::answer_schema;
    use crate::client::ClientApi;

    #[test]
    fn each_api_has_its_place() {
        let cases = [
            (
                ClientApi::OpenAiChat,
                r#"{"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"a":1}}},"n":2}"#,
            ),
            (ClientApi::OpenAiResponses, r#"{"text":{"format":{"type":"json_schema","name":"s","schema":{"a":1}}}}"#),
            (ClientApi::AnthropicMessages, r#"{"output_config":{"format":{"type":"json_schema","schema":{"a":1}}}}"#),
            (ClientApi::Gemini, r#"{"generationConfig":{"responseJsonSchema":{"a":1}}}"#),
            (ClientApi::Gemini, r#"{"generation_config":{"response_json_schema":{"a":1}}}"#),
        ];
        for (api, body) in cases {
            assert_eq!(answer_schema(api, body.as_bytes()).as_deref(), Some(r#"{"a":1}"#), "{body}");
        }
        let own = r#"{"generationConfig":{"responseSchema":{"type":"STRING"}}}"#;
        assert_eq!(answer_schema(ClientApi::Gemini, own.as_bytes()).as_deref(), Some(r#"{"type":"string"}"#));
        for body in ["", "{}", r#"{"response_format":{"type":"json_object"}}"#] {
            assert_eq!(answer_schema(ClientApi::OpenAiChat, body.as_bytes()), None, "{body}");
        }
    }
}
