//! API definitions as tests write them: the shortest one that is served, and edits by path.

use serde_json::{Value, json};

/// A definition without authentication and without versions that forwards `listen_path` to `target`, the prefix cut off.
pub fn api(id: &str, listen_path: &str, target: &str) -> Definition {
    Definition(json!({
        "name": id,
        "api_id": id,
        "org_id": "default",
        "use_keyless": true,
        "auth": {"auth_header_name": "Authorization"},
        "definition": {"location": "header", "key": "x-api-version"},
        "version_data": {
            "not_versioned": true,
            "versions": {"Default": {"name": "Default", "use_extended_paths": true, "extended_paths": {}}}
        },
        "proxy": {"listen_path": listen_path, "target_url": target, "strip_listen_path": true},
        "do_not_track": true
    }))
}

/// An API definition under construction.
#[derive(Debug, Clone)]
pub struct Definition(pub Value);

impl Definition {
    pub fn id(&self) -> &str {
        self.0["api_id"].as_str().unwrap_or("unnamed")
    }

    /// Sets the value at a `/`-separated path, making the objects on the way.
    pub fn set(mut self, path: &str, value: impl Into<Value>) -> Definition {
        let mut at = &mut self.0;
        for step in path.split('/') {
            at = &mut at[step];
        }
        *at = value.into();
        self
    }

    /// Sets a field of the version `Default`.
    pub fn version(self, field: &str, value: impl Into<Value>) -> Definition {
        self.set(&format!("version_data/versions/Default/{field}"), value)
    }

    /// Sets one list of the version's extended paths.
    pub fn list(self, name: &str, entries: Value) -> Definition {
        self.version(&format!("extended_paths/{name}"), entries)
    }

    /// Takes away the key-less switch, so that a key is asked for.
    pub fn with_keys(self) -> Definition {
        self.set("use_keyless", false)
    }
}

/// Lays `over` on `base`: objects are merged, everything else is replaced.
pub fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}
