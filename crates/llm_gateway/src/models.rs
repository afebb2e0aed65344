//! The lists of models, in the client's form.

use crate::answer::{AnswerBody, fault, whole};
use crate::routes::Routes;
use http::Response;
use serde_json::{Value, json};
use tollgate_llm::{ClientApi, Fault, FaultKind};

/// Most names in an error's words.
const NAMES_MAX: usize = 50;

/// All models.
pub(crate) fn list(routes: &Routes, form: ClientApi) -> Response<AnswerBody> {
    let data: Vec<Value> = routes.names().into_iter().map(|name| entry(name, form)).collect();
    let list = match form {
        ClientApi::AnthropicMessages => {
            let (first, last) = (data.first().map(|entry| entry["id"].clone()), data.last().map(|entry| entry["id"].clone()));
            json!({"data": data, "has_more": false, "first_id": first, "last_id": last})
        }
        ClientApi::Gemini => json!({"models": data}),
        ClientApi::OpenAiChat | ClientApi::OpenAiResponses => json!({"object": "list", "data": data}),
    };
    whole(200, list.to_string().into_bytes())
}

/// One model.
pub(crate) fn one(routes: &Routes, name: &str, form: ClientApi) -> Response<AnswerBody> {
    match routes.to(name) {
        Some(_) => whole(200, entry(name, form).to_string().into_bytes()),
        None => fault(form, &unknown(routes, name), None),
    }
}

/// There is no such model.
pub(crate) fn unknown(routes: &Routes, name: &str) -> Fault {
    let names = routes.names();
    let more = if names.len() > NAMES_MAX { ", ..." } else { "" };
    let known = names.into_iter().take(NAMES_MAX).collect::<Vec<_>>().join(", ");
    let name: String = name.chars().take(200).collect();
    Fault::new(FaultKind::NotFound, format!("there is no model `{name}`; there are: {known}{more}"))
}

fn entry(name: &str, form: ClientApi) -> Value {
    match form {
        ClientApi::AnthropicMessages => {
            json!({"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"})
        }
        ClientApi::Gemini => {
            let verbs = ["generateContent", "streamGenerateContent"];
            json!({"name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": verbs})
        }
        ClientApi::OpenAiChat | ClientApi::OpenAiResponses => {
            json!({"id": name, "object": "model", "created": 0, "owned_by": "tollgate"})
        }
    }
}
