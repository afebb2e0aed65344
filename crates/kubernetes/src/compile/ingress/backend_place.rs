//! Where requests for a backend go.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(super) enum BackendPlace {
    /// Its name in the table of backends.
    Named(String),
    /// The same in the place of one without endpoints: it gets these headers.
    InPlace { name: String, headers: Value },
    /// A host that is no part of the cluster.
    Elsewhere(String),
}

impl BackendPlace {
    /// An entry of `backends` of a rule.
    pub(super) fn document(&self, weight: Option<u64>) -> Value {
        let mut document = match self {
            BackendPlace::Named(name) => json!({"backend": name}),
            BackendPlace::InPlace { name, headers } => json!({"backend": name, "request_headers": {"set": headers}}),
            BackendPlace::Elsewhere(url) => json!({"url": url}),
        };
        if let (Some(weight), Value::Object(members)) = (weight, &mut document) {
            members.insert("weight".to_owned(), json!(weight));
        }
        document
    }
}
