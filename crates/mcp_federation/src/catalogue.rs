//! What all servers offer together: names for clients, and to which server each leads.

use crate::message::text;
use crate::terms::{FederationTerms, ServerTerms, ViewTerms};
use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_schema::{BodyValidator, Budget, InvalidBody};

/// Most bytes of the compiled patterns of a schema, and of all schemas of a server. A schema that needs more is not checked here.
const PATTERN_BYTES_MAX: usize = 1 << 20;
const PATTERNS_BYTES_MAX: usize = 32 << 20;
/// A member of an entry of which only the name was kept. No server's entry has it.
pub(crate) const TOO_LARGE: &str = "\0too large";

/// The lists of one server, as it wrote them.
#[derive(Default, PartialEq)]
pub(crate) struct ServerLists {
    pub tools: Vec<Value>,
    pub prompts: Vec<Value>,
    pub resources: Vec<Value>,
    pub templates: Vec<Value>,
    pub capabilities: Value,
}

/// What clients see.
#[derive(Default)]
pub(crate) struct Catalogue {
    /// Whether any server has told anything.
    pub is_built: bool,
    pub tools: Vec<Value>,
    pub prompts: Vec<Value>,
    pub resources: Vec<Value>,
    pub templates: Vec<Value>,
    tool_routes: HashMap<String, ToolRoute>,
    reserved: HashMap<String, Reservation>,
    /// Compiled schemas, by their digest.
    schemas: HashMap<[u8; 32], Option<Arc<BodyValidator>>>,
    /// What further patterns of each server may take.
    pattern_bytes_left: Vec<usize>,
    prompt_routes: HashMap<String, (usize, String)>,
    resource_routes: HashMap<String, usize>,
    template_routes: Vec<(String, usize)>,
    /// Which servers can do what `capabilities` name.
    capabilities: Vec<Value>,
    /// Tools that clients do not see although the view has them.
    pub withheld: Vec<WithheldTool>,
    /// The digest of each tool that clients see, by their name.
    pub digests: HashMap<String, String>,
}

/// A name that a server keeps, whatever becomes of it: no server behind it gets the name, and none at all if the definition has a digest for it.
struct Reservation {
    server: usize,
    is_pinned: bool,
}

/// A tool that clients do not see.
pub(crate) struct WithheldTool {
    pub server: usize,
    /// The server's own name for it.
    pub name: String,
    pub why: String,
    /// The digest of what the server says of it.
    pub digest: String,
    /// Whether it is withheld because it says something else than what was pinned.
    pub has_changed: bool,
    /// What the server says of it; nothing if that is too large.
    pub entry: Value,
}

/// Where a tool is.
pub(crate) struct ToolRoute {
    pub server: usize,
    /// The server's own name for it.
    pub name: String,
    input: Option<Arc<BodyValidator>>,
    output: Option<Arc<BodyValidator>>,
    input_schema: Value,
}

impl ToolRoute {
    /// What is wrong with a call's arguments.
    pub(crate) fn fault_of(&self, arguments: &Value) -> Option<String> {
        let validator = self.input.as_deref()?;
        let fault = fault(validator, arguments)?;
        // Models write `null` for what they leave out.
        let members = arguments.as_object().filter(|members| members.values().any(Value::is_null));
        let Some(members) = members else { return Some(fault) };
        let said = members.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone()));
        self::fault(validator, &Value::Object(said.collect())).map(|_| fault)
    }

    /// What is wrong with a call's structured result.
    pub(crate) fn fault_of_result(&self, structured: &Value) -> Option<String> {
        fault(self.output.as_deref()?, structured)
    }

    /// The header lines that a modern server wants for arguments: `x-mcp-header` in the schema says which.
    pub(crate) fn argument_headers(&self, arguments: &Value) -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect_headers(&self.input_schema, arguments, 0, &mut found);
        found
    }
}

fn fault(validator: &BodyValidator, value: &Value) -> Option<String> {
    let body = value.to_string().into_bytes();
    match validator.check(&body, Budget::of_body(body.len())) {
        Ok(()) => None,
        Err(InvalidBody::NotJson(error)) => Some(error.to_string()),
        Err(InvalidBody::Mismatches(mismatches)) => Some(mismatches),
        Err(InvalidBody::TooMuchWork) => Some("they take too long to validate".to_owned()),
    }
}

fn collect_headers(schema: &Value, value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|_| depth < 16);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = value.get(name) else { continue };
        let plain = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        if let (Some(header), Some(plain)) = (text(property, &["x-mcp-header"]), plain) {
            found.push((format!("Mcp-Param-{header}"), plain));
        }
        collect_headers(property, value, depth + 1, found);
    }
}

impl Catalogue {
    /// Puts the lists of all servers together; `None` for a server that is not there. Of two entries of one name, the first server's counts. `known`
    /// is the catalogue before.
    pub(crate) fn build(terms: &FederationTerms, lists: &[Option<Arc<ServerLists>>], known: &Catalogue) -> Self {
        let mut made = Catalogue { is_built: true, ..Catalogue::default() };
        made.pattern_bytes_left = vec![PATTERNS_BYTES_MAX; terms.servers.len()];
        for (at, server) in terms.servers.iter().enumerate() {
            for own in server.view.pins.keys() {
                let reservation = Reservation { server: at, is_pinned: true };
                made.reserved.entry(shown_name(&server.view, own)).or_insert(reservation);
            }
        }
        for (at, _) in lists.iter().enumerate().filter(|(_, lists)| lists.is_none()) {
            let had = known.tool_routes.iter().filter(|(_, route)| route.server == at).map(|(name, _)| name);
            let had = had.chain(known.reserved.iter().filter(|(_, kept)| kept.server == at).map(|(name, _)| name));
            for name in had {
                made.reserved.entry(name.clone()).or_insert(Reservation { server: at, is_pinned: false });
            }
        }
        for (at, (server, lists)) in terms.servers.iter().zip(lists).enumerate() {
            let Some(lists) = lists else {
                made.capabilities.push(Value::Null);
                continue;
            };
            made.capabilities.push(lists.capabilities.clone());
            for tool in &lists.tools {
                made.add_tool(at, server, tool, known);
            }
            for prompt in &lists.prompts {
                made.add_prompt(at, &server.view, prompt);
            }
            for resource in &lists.resources {
                if let Some(uri) = text(resource, &["uri"]).filter(|uri| !made.resource_routes.contains_key(*uri)) {
                    made.resource_routes.insert(uri.to_owned(), at);
                    made.resources.push(resource.clone());
                }
            }
            for template in &lists.templates {
                if let Some(uri) = text(template, &["uriTemplate"]) {
                    made.template_routes.push((uri.to_owned(), at));
                    made.templates.push(template.clone());
                }
            }
        }
        made
    }

    fn add_tool(&mut self, at: usize, server: &ServerTerms, tool: &Value, known: &Catalogue) {
        let Some(own) = text(tool, &["name"]).filter(|name| !name.is_empty()) else { return };
        let view = &server.view;
        let is_wanted = view.include.is_empty() || view.include.iter().any(|glob| glob.is_match(own));
        if !is_wanted || view.exclude.iter().any(|glob| glob.is_match(own)) {
            return;
        }
        let digest = tool_digest(tool);
        let shown = shown_name(view, own);
        let is_too_large = tool.get(TOO_LARGE).is_some();
        let is_taken = {
            let keeps = |kept: &Reservation| kept.server < at || (kept.is_pinned && kept.server != at);
            self.tool_routes.contains_key(&shown) || self.reserved.get(&shown).is_some_and(keeps)
        };
        let has_changed = view.pins.get(own).is_some_and(|pin| *pin != digest);
        let why = match () {
            () if is_too_large => Some("its description is too large".to_owned()),
            () if is_taken => Some(format!("another server has a tool with the name {shown:?}")),
            () if has_changed => Some(format!("it has changed: its digest is {digest}, not the pinned one")),
            () => None,
        };
        if let Some(why) = why {
            // What another tool's name hides would stay hidden if it were agreed to.
            let has_changed = has_changed && !is_too_large && !is_taken;
            let entry = if is_too_large { Value::Null } else { tool.clone() };
            return self.withheld.push(WithheldTool { server: at, name: own.to_owned(), why, digest, has_changed, entry });
        }
        let mut tool = tool.clone();
        let Some(members) = tool.as_object_mut() else { return };
        members.insert("name".to_owned(), shown.clone().into());
        if let Some(replaced) = view.overrides.get(own) {
            let parts =
                [("description", replaced.description.clone().map(Value::from)), ("inputSchema", replaced.input_schema.clone())];
            for (name, value) in parts {
                value.into_iter().for_each(|value| drop(members.insert(name.to_owned(), value)));
            }
        }
        let input_schema = members.get("inputSchema").cloned().unwrap_or_else(|| json!({}));
        let input = self.compiled(at, &input_schema, known);
        let output = members.get("outputSchema").and_then(|schema| self.compiled(at, schema, known));
        let route = ToolRoute { server: at, name: own.to_owned(), input, output, input_schema };
        self.tool_routes.insert(shown.clone(), route);
        self.digests.insert(shown, digest);
        self.tools.push(tool);
    }

    /// A compiled schema: that of the catalogue before if it is the same.
    fn compiled(&mut self, at: usize, schema: &Value, known: &Catalogue) -> Option<Arc<BodyValidator>> {
        let key = *blake3::hash(schema.to_string().as_bytes()).as_bytes();
        if let Some(done) = self.schemas.get(&key) {
            return done.clone();
        }
        let left = self.pattern_bytes_left.get_mut(at)?;
        let compile = || BodyValidator::compile_within(schema, PATTERN_BYTES_MAX.min(*left)).ok().map(Arc::new);
        let done = known.schemas.get(&key).cloned().flatten().or_else(compile);
        *left = left.saturating_sub(done.as_ref().map_or(PATTERN_BYTES_MAX, |done| done.pattern_bytes()));
        self.schemas.insert(key, done.clone());
        done
    }

    fn add_prompt(&mut self, at: usize, view: &ViewTerms, prompt: &Value) {
        let Some(own) = text(prompt, &["name"]).filter(|name| !name.is_empty()) else { return };
        let shown = format!("{}{own}", view.prefix);
        if self.prompt_routes.contains_key(&shown) || prompt.get(TOO_LARGE).is_some() {
            return;
        }
        self.prompt_routes.insert(shown.clone(), (at, own.to_owned()));
        let mut prompt = prompt.clone();
        if let Some(members) = prompt.as_object_mut() {
            members.insert("name".to_owned(), shown.into());
        }
        self.prompts.push(prompt);
    }

    /// The tool that clients know by a name.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolRoute> {
        self.tool_routes.get(name)
    }

    /// The server of a prompt, and its own name for it.
    pub(crate) fn prompt(&self, name: &str) -> Option<(usize, &str)> {
        self.prompt_routes.get(name).map(|(server, own)| (*server, own.as_str()))
    }

    /// The server of a resource.
    pub(crate) fn resource(&self, uri: &str) -> Option<usize> {
        let of_template = || self.template_routes.iter().find(|(template, _)| fits(template, uri)).map(|(_, server)| *server);
        self.resource_routes.get(uri).copied().or_else(of_template).or_else(|| self.only_server_with("resources"))
    }

    /// The server that can do something, if it is the only one: what it does not list can be nowhere else.
    fn only_server_with(&self, capability: &str) -> Option<usize> {
        let mut able = self.servers_with(capability);
        able.next().filter(|_| able.next().is_none())
    }

    /// The server of a template of resources.
    pub(crate) fn template(&self, template: &str) -> Option<usize> {
        self.template_routes.iter().find(|(known, _)| known == template).map(|(_, server)| *server)
    }

    /// The server of a resource that is in a list.
    pub(crate) fn server_of_listed(&self, uri: &str) -> Option<usize> {
        self.resource_routes.get(uri).copied()
    }

    /// Templates of resources, each with its server.
    pub(crate) fn templates_with_servers(&self) -> impl Iterator<Item = (&Value, usize)> {
        self.templates.iter().zip(self.template_routes.iter().map(|(_, server)| *server))
    }

    /// How many tools, prompts and resources with templates clients see of a server.
    pub(crate) fn counts(&self, server: usize) -> [usize; 3] {
        let tools = self.tool_routes.values().filter(|route| route.server == server).count();
        let prompts = self.prompt_routes.values().filter(|(own, _)| *own == server).count();
        let resources = self.resource_routes.values().chain(self.template_routes.iter().map(|(_, own)| own));
        [tools, prompts, resources.filter(|own| **own == server).count()]
    }

    /// Servers that say that they can do something.
    pub(crate) fn servers_with<'c>(&'c self, capability: &'c str) -> impl Iterator<Item = usize> + 'c {
        self.capabilities.iter().enumerate().filter(move |(_, all)| all.get(capability).is_some()).map(|(at, _)| at)
    }

    /// What the federation can do for clients whose requests each stand for themselves.
    pub(crate) fn offered(&self) -> Value {
        offered(&self.capabilities.iter().collect::<Vec<_>>(), false)
    }

    /// The same for a client with a session. `begun` has what servers can do in sessions that they have begun for it.
    pub(crate) fn offered_in_session(&self, begun: &HashMap<usize, Value>) -> Value {
        let without_session = |at: usize| self.capabilities.get(at).map(without_session).unwrap_or_default();
        let all: Vec<Value> =
            (0..self.capabilities.len()).map(|at| begun.get(&at).cloned().unwrap_or_else(|| without_session(at))).collect();
        offered(&all.iter().collect::<Vec<_>>(), true)
    }

    /// Whether clients see the same.
    pub(crate) fn shows_as(&self, other: &Catalogue) -> bool {
        fn all(of: &Catalogue) -> [&Vec<Value>; 4] {
            [&of.tools, &of.prompts, &of.resources, &of.templates]
        }
        all(self) == all(other)
    }
}

/// What servers can do together.
fn offered(servers: &[&Value], is_session: bool) -> Value {
    let mut offered = Map::new();
    for name in ["tools", "prompts", "resources", "completions", "logging"] {
        if !servers.iter().any(|server| server.get(name).is_some()) {
            continue;
        }
        let mut about = json!({});
        if matches!(name, "tools" | "prompts" | "resources")
            && let Some(members) = about.as_object_mut()
        {
            members.insert("listChanged".to_owned(), true.into());
            let subscribes = |server: &&Value| server.get(name).and_then(|of| of.get("subscribe")) == Some(&Value::Bool(true));
            if name == "resources" && is_session && servers.iter().any(subscribes) {
                members.insert("subscribe".to_owned(), true.into());
            }
        }
        offered.insert(name.to_owned(), about);
    }
    Value::Object(offered)
}

/// What a server can do, without what it would tell in a session.
pub(crate) fn without_session(capabilities: &Value) -> Value {
    let mut left = capabilities.clone();
    if let Some(members) = left.as_object_mut() {
        members.remove("logging");
        members.get_mut("resources").and_then(Value::as_object_mut).map(|resources| resources.remove("subscribe"));
    }
    left
}

/// The name of a server's tool for clients.
fn shown_name(view: &ViewTerms, own: &str) -> String {
    format!("{}{}", view.prefix, view.renames.get(own).map_or(own, String::as_str))
}

/// The digest of what a model is told about a tool.
fn tool_digest(tool: &Value) -> String {
    let parts = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    let told: Vec<&Value> = parts.iter().map(|part| tool.get(*part).unwrap_or(&Value::Null)).collect();
    let text = serde_json::to_vec(&told).unwrap_or_default();
    let hex: String = digest(&SHA256, &text).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Whether a URI may come from a template: its texts occur in order. A template without a scheme would take all URIs from other servers.
fn fits(template: &str, uri: &str) -> bool {
    let Some((first, mut rest)) = template.split_once('{') else { return template == uri };
    if !first.contains(':') {
        return false;
    }
    let Some(mut left) = uri.strip_prefix(first) else { return false };
    while let Some((_, behind)) = rest.split_once('}') {
        let (text, more) = behind.split_once('{').map_or((behind, ""), |(text, more)| (text, more));
        if more.is_empty() && !behind.contains('{') {
            return left.len() > text.len() && left.ends_with(text);
        }
        let Some(at) = left.find(text).filter(|_| !text.is_empty()) else { return text.is_empty() };
        left = left.get(at + text.len()..).unwrap_or_default();
        rest = more;
    }
    true
}

#[cfg(test)]
mod tests;
