//! Reports unresolvable secret references in a definition's texts: each is a warning and becomes an empty string, as in Tyk.

use serde_json::Value;
use tollgate_data::middleware::Context;
use tollgate_data::template::missing_secrets;

/// Checks all texts of a definition.
pub(super) fn check(document: &Value, context: &mut Context<'_>) {
    check_below(document, "$", context);
}

fn check_below(value: &Value, path: &str, context: &mut Context<'_>) {
    match value {
        Value::String(text) if text.contains("$secret_") => {
            for (written, why) in missing_secrets(text, &context.settings.documents.secrets) {
                context.warning(path, format!("{written} {why}: nothing takes its place"));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_below(item, &format!("{path}[{index}]"), context);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                check_below(member, &format!("{path}.{name}"), context);
            }
        }
        _ => {}
    }
}
