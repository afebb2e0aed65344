//! What a search finds besides names: descriptions of products, operations of OpenAPI documents, and fields of GraphQL schemas.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::catalogue::{self, ApiProduct};
use crate::door::PublishedApi;
use crate::portal::Portal;
use crate::search_index::SearchAnswers;
use serde_json::{Value, json};
use std::sync::Arc;

/// Operations and fields of all APIs together; a page searches them itself.
const ENTRIES_MAX: usize = 5_000;
/// Characters of a text of an operation.
const TEXT_CHARS_MAX: usize = 300;
const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// Everything that the caller may find.
pub(super) async fn index(call: PortalCall) -> PortalResult {
    let portal = &call.portal;
    let versions = (portal.published_version().await?, portal.door.version());
    let compute = async {
        let products = catalogue::all::<ApiProduct>(&portal.documents).await?;
        let of_those = |sees_all: bool| Arc::from(format!("{}\n", found(portal, &products, sees_all)));
        Ok(SearchAnswers { public: of_those(false), all: of_those(true) })
    };
    let answers = portal.search.answers(versions, compute).await?;
    Ok(PortalAnswer::json_text(if call.developer.is_some() { answers.all } else { answers.public }))
}

fn found(portal: &Portal, products: &[ApiProduct], sees_all: bool) -> Value {
    let mut left = ENTRIES_MAX;
    let mut list = Vec::new();
    for product in products.iter().filter(|product| !product.is_draft && (product.is_public || sees_all)) {
        let mut apis = Vec::new();
        for api in product.apis.iter().filter_map(|id| portal.door.api(id)) {
            let (operations, fields) = entries(&api, left);
            left = left.saturating_sub(operations.len() + fields.len());
            apis.push(json!({"id": api.id, "operations": operations, "fields": fields}));
        }
        list.push(json!({"id": product.id, "description": product.description, "apis": apis}));
    }
    json!({ "products": list })
}

fn entries(api: &PublishedApi, most: usize) -> (Vec<Value>, Vec<String>) {
    match &api.document {
        Some(Value::String(schema)) => (Vec::new(), fields(schema, most)),
        Some(document) => (operations(document, most), Vec::new()),
        None => (Vec::new(), Vec::new()),
    }
}

fn operations(document: &Value, most: usize) -> Vec<Value> {
    let mut found = Vec::new();
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        for method in METHODS {
            let Some(operation) = item.get(method).filter(|operation| operation.is_object()) else { continue };
            if found.len() >= most {
                return found;
            }
            let text = |name: &str| beginning(operation.get(name).and_then(Value::as_str).unwrap_or_default());
            found.push(json!({
                "method": method, "path": beginning(path), "summary": text("summary"), "operation_id": text("operationId"),
            }));
        }
    }
    found
}

fn beginning(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

/// Fields of a schema's types, such as `Query.order`. A schema that is not well-formed has fewer.
fn fields(schema: &str, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    let (mut rest, mut before, mut owner) = (schema, "", "");
    let (mut braces, mut brackets) = (0_u32, 0_u32);
    while let Some(token) = next_token(&mut rest) {
        if found.len() >= most {
            break;
        }
        if matches!(token, ":" | "(") && braces == 1 && brackets == 0 && !owner.is_empty() && is_name(before) {
            found.push(beginning(&format!("{owner}.{before}")));
        }
        match token {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            _ if braces == 0 && matches!(before, "type" | "interface" | "input") => owner = token,
            // Other definitions have no fields.
            "enum" | "union" | "scalar" | "directive" | "schema" if braces == 0 => owner = "",
            _ => {}
        }
        before = token;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The next name or sign of a schema, without comments and descriptions.
fn next_token<'s>(rest: &mut &'s str) -> Option<&'s str> {
    loop {
        *rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if let Some(comment) = rest.strip_prefix('#') {
            *rest = behind(comment, "\n");
        } else if let Some(description) = rest.strip_prefix("\"\"\"") {
            *rest = behind(description, "\"\"\"");
        } else if let Some(description) = rest.strip_prefix('"') {
            *rest = behind(description, "\"");
        } else {
            break;
        }
    }
    let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let end = if name > 0 { name } else { rest.chars().next()?.len_utf8() };
    let (token, after) = rest.split_at_checked(end)?;
    *rest = after;
    Some(token)
}

/// What stands behind an end; nothing if there is no such end.
fn behind<'s>(text: &'s str, end: &str) -> &'s str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests;
