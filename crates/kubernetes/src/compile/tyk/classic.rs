//! ApiDefinition: a classic definition, with references to other objects in place of ids.

use super::conversion::{Conversion, entries, set, text_members, texts, unquote};
use super::references::target;
use crate::objects::{Key, TykSettings};
use serde_json::{Map, Value, json};

/// Members that only the resource has.
const OWN_MEMBERS: [&str; 5] =
    ["contextRef", "certificate_secret_names", "client_certificate_refs", "pinned_public_keys_refs", "upstream_certificate_refs"];

impl Conversion<'_, '_> {
    /// The definition that an ApiDefinition describes.
    ///
    /// # Errors
    /// The first thing that keeps it from being served.
    pub(super) fn classic(&mut self, settings: &TykSettings) -> Result<Value, String> {
        let mut definition = settings.0.clone();
        OWN_MEMBERS.iter().for_each(|name| drop(definition.remove(*name)));
        set(&mut definition, &["api_id"], json!(self.id));
        if !self.org.is_empty() {
            set(&mut definition, &["org_id"], json!(self.org));
        }
        add_defaults(&mut definition);
        self.name_certificates(settings, &mut definition)?;
        self.name_policies(&mut definition);
        self.loop_inside(&mut definition)?;
        self.take_graph(&mut definition)?;
        Ok(Value::Object(definition))
    }

    fn name_certificates(&mut self, settings: &TykSettings, definition: &mut Map<String, Value>) -> Result<(), String> {
        // The operator takes the first one alone.
        if let Some(name) = texts(settings.0.get("certificate_secret_names")).next().filter(|name| !name.is_empty()) {
            let id = self.own_certificate("spec.certificate_secret_names", name)?;
            set(definition, &["certificates"], json!([id]));
        }
        let names: Vec<&str> = texts(settings.0.get("client_certificate_refs")).collect();
        if !names.is_empty() {
            let ids = names.iter().map(|name| self.certificate("spec.client_certificate_refs", name));
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            set(definition, &["client_certificates"], json!(ids));
        }
        for (host, name) in text_members(settings.0.get("upstream_certificate_refs")) {
            let id = self.own_certificate(&format!("spec.upstream_certificate_refs.{host}"), name)?;
            set(definition, &["upstream_certificates", host], json!(id));
        }
        for (host, name) in text_members(settings.0.get("pinned_public_keys_refs")) {
            let pin = self.public_key(&format!("spec.pinned_public_keys_refs.{host}"), name)?;
            set(definition, &["pinned_public_keys", host], json!(pin));
        }
        Ok(())
    }

    fn name_policies(&self, definition: &mut Map<String, Value>) {
        let name = |written: &mut Value| {
            if let Some(policy) = written.as_str() {
                *written = json!(self.policy_id(policy));
            }
        };
        let listed = definition.get_mut("jwt_default_policies").and_then(Value::as_array_mut);
        listed.into_iter().flatten().for_each(name);
        let mapped = definition.get_mut("jwt_scope_to_policy_mapping").and_then(Value::as_object_mut);
        mapped.into_iter().flat_map(Map::values_mut).for_each(name);
    }

    /// Writes URLs of APIs in place of their names.
    fn loop_inside(&mut self, definition: &mut Map<String, Value>) -> Result<(), String> {
        if let Some(Value::Object(proxy)) = definition.get_mut("proxy")
            && let Some(internal) = proxy.remove("target_internal")
        {
            let url = self.internal_url(&internal, "spec.proxy.target_internal")?;
            proxy.insert("target_url".to_owned(), json!(url));
        }
        let versions = definition.get_mut("version_data").and_then(|data| data.get_mut("versions")).and_then(Value::as_object_mut);
        for (name, version) in versions.into_iter().flatten() {
            let at = format!("spec.version_data.versions.{name}.extended_paths");
            let Some(paths) = version.get_mut("extended_paths") else { continue };
            let breakers = paths.get_mut("circuit_breakers").and_then(Value::as_array_mut).into_iter().flatten();
            for breaker in breakers {
                unquote(breaker.get_mut("threshold_percent"), &format!("{at}.circuit_breakers"))?;
            }
            let rewrites = paths.get_mut("url_rewrites").and_then(Value::as_array_mut).into_iter().flatten();
            for rewrite in rewrites {
                self.rewrite_inside(rewrite, &at)?;
                for trigger in rewrite.get_mut("triggers").and_then(Value::as_array_mut).into_iter().flatten() {
                    self.rewrite_inside(trigger, &at)?;
                }
            }
        }
        Ok(())
    }

    fn rewrite_inside(&mut self, rewrite: &mut Value, at: &str) -> Result<(), String> {
        let Some(members) = rewrite.as_object_mut() else { return Ok(()) };
        if let Some(internal) = members.remove("rewrite_to_internal") {
            let url = self.internal_url(&internal, &format!("{at}.url_rewrites"))?;
            members.insert("rewrite_to".to_owned(), json!(url));
        }
        Ok(())
    }

    fn internal_url(&mut self, internal: &Value, at: &str) -> Result<String, String> {
        let key = target(internal.get("target").unwrap_or(&Value::Null), &self.metadata.namespace);
        let (_, id) = self.names.api(&key).ok_or_else(|| format!("{at}: the ApiDefinition {key} does not exist"))?;
        let text = |name: &str| internal.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let path = text("path").map(|path| format!("/{}", path.trim_start_matches('/'))).unwrap_or_default();
        let query = text("query").map(|query| format!("?{}", query.trim_start_matches('?'))).unwrap_or_default();
        self.targets.insert(key);
        Ok(format!("tyk://{id}{path}{query}"))
    }

    /// Takes schemas over from the graph that is referred to.
    fn take_graph(&mut self, definition: &mut Map<String, Value>) -> Result<(), String> {
        let Some(Value::Object(graphql)) = definition.get_mut("graphql") else { return Ok(()) };
        let Some(Value::String(reference)) = graphql.remove("graph_ref") else { return Ok(()) };
        let key = Key::new(&self.metadata.namespace, &reference);
        match graphql.get("execution_mode").and_then(Value::as_str) {
            Some("subgraph") if !reference.is_empty() => self.take_subgraph(&key, graphql),
            Some("supergraph") if !reference.is_empty() => self.take_supergraph(&key, graphql),
            Some("supergraph") => Err("spec.graphql.graph_ref: must name a SuperGraph".to_owned()),
            _ => Ok(()),
        }
    }

    fn take_subgraph(&mut self, key: &Key, graphql: &mut Map<String, Value>) -> Result<(), String> {
        let graph = self.names.cluster.subgraphs.get(key).filter(|graph| !graph.metadata.is_being_deleted());
        let graph = graph.ok_or_else(|| format!("spec.graphql.graph_ref: the SubGraph {key} does not exist"))?;
        let user = self.names.subgraph_user(key).filter(|user| user.metadata.name != self.metadata.name);
        if let Some(user) = user {
            return Err(format!(
                "spec.graphql.graph_ref: the SubGraph {key} is that of the older ApiDefinition {}: a subgraph has one API",
                user.metadata.key()
            ));
        }
        set(graphql, &["schema"], json!(graph.spec.text("schema")));
        set(graphql, &["subgraph", "sdl"], json!(graph.spec.text("sdl")));
        self.subgraph = Some(key.clone());
        Ok(())
    }

    fn take_supergraph(&mut self, key: &Key, graphql: &mut Map<String, Value>) -> Result<(), String> {
        let at = "spec.graphql.graph_ref";
        let graph = self.names.cluster.supergraphs.get(key).filter(|graph| !graph.metadata.is_being_deleted());
        let graph = graph.ok_or_else(|| format!("{at}: the SuperGraph {key} does not exist"))?;
        let mut subgraphs: Vec<Value> = graphql
            .get("supergraph")
            .and_then(|graph| graph.get("subgraphs"))
            .map(|list| entries(Some(list)).to_vec())
            .unwrap_or_default();
        for reference in entries(graph.spec.0.get("subgraph_refs")) {
            let of = target(reference, &key.namespace);
            let subgraph = self.names.cluster.subgraphs.get(&of).filter(|graph| !graph.metadata.is_being_deleted());
            let subgraph =
                subgraph.ok_or_else(|| format!("{at}: the SuperGraph {key} refers to the SubGraph {of}, which does not exist"))?;
            let user = self.names.subgraph_user(&of);
            let user = user.ok_or_else(|| format!("{at}: the SubGraph {of} of the SuperGraph {key} has no ApiDefinition"))?;
            let api = user.metadata.key();
            let (_, id) = self.names.api(&api).ok_or_else(|| format!("{at}: the ApiDefinition {api} does not exist"))?;
            subgraphs.push(json!({
                "api_id": id,
                "name": user.spec.text("name"),
                "url": format!("tyk://{id}"),
                "sdl": subgraph.spec.text("sdl"),
            }));
        }
        set(graphql, &["supergraph", "subgraphs"], Value::Array(subgraphs));
        for name in ["schema", "merged_sdl"] {
            let text = graph.spec.text(name);
            let path: &[&str] = if name == "schema" { &["schema"] } else { &["supergraph", "merged_sdl"] };
            if !text.is_empty() {
                set(graphql, path, json!(text));
            }
        }
        Ok(())
    }
}

/// Members that each turn a way to authenticate on.
const AUTH_MEMBERS: [&str; 8] = [
    "use_standard_auth",
    "use_basic_auth",
    "use_oauth2",
    "use_mutual_tls_auth",
    "use_go_plugin_auth",
    "enable_jwt",
    "enable_coprocess_auth",
    "enable_signature_checking",
];

/// What the operator's webhook adds when an object is written, and what Tyk takes for granted of streams.
fn add_defaults(definition: &mut Map<String, Value>) {
    let versions = definition.get("version_data").and_then(|data| data.get("versions")).and_then(Value::as_object);
    if versions.is_none_or(Map::is_empty) {
        let data = json!({"not_versioned": true, "default_version": "Default", "versions": {"Default": {"name": "Default"}}});
        definition.insert("version_data".to_owned(), data);
    }
    // Nobody can show a key in a stream. One that asks for a key all the same is left to be refused.
    let is_stream = matches!(definition.get("protocol").and_then(Value::as_str), Some("tcp" | "tls"));
    if is_stream && !AUTH_MEMBERS.iter().any(|name| definition.get(*name) == Some(&Value::Bool(true))) {
        definition.insert("use_keyless".to_owned(), Value::Bool(true));
    }
    let uses_keys = definition.get("use_standard_auth").and_then(Value::as_bool).unwrap_or_default();
    let places = definition.get("auth_configs").and_then(|places| places.get("authToken"));
    if uses_keys && places.is_none() {
        set(definition, &["auth_configs", "authToken"], json!({"auth_header_name": "Authorization"}));
    }
}
