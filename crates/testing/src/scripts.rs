//! Scripts as definitions have them: hooks in files, and virtual endpoints.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

use crate::Definition;

/// A folder of scripts.
pub struct Scripts(TempDir);

impl Scripts {
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Scripts {
        Scripts(tempfile::tempdir().unwrap())
    }

    /// A hook with this code.
    pub fn hook(&self, name: &str, code: &str) -> Value {
        let path = self.0.path().join(format!("{name}.js"));
        fs::write(&path, code).unwrap();
        json!({"name": name, "path": path})
    }

    /// A hook whose function for requests has this body.
    pub fn on_request(&self, name: &str, body: &str) -> Value {
        self.hook(name, &middleware(name, "NewProcessRequest", "request, session, config", body))
    }
}

pub fn middleware(name: &str, method: &str, parameters: &str, body: &str) -> String {
    format!("var {name} = new TykJS.TykMiddleware.NewMiddleware({{}});\n{name}.{method}(function ({parameters}) {{ {body} }});")
}

pub fn with_hooks(definition: Definition, hooks: Value) -> Definition {
    definition.set("custom_middleware", hooks)
}

/// The endpoint `/v`, which a function of this script answers.
pub fn virtual_endpoint(function: &str, script: &str) -> Value {
    json!({"path": "/v", "method": "GET", "response_function_name": function, "function_source_type": "blob",
        "function_source_uri": STANDARD.encode(script)})
}
