//! What all servers offer together: names for clients, and to which server each leads.

use crate::entry_check::{check_prompt, check_resource, check_tool, without_nulls};
use crate::message::{set, text};
use crate::tasks;
use crate::terms::{FederationTerms, ServerTerms, ViewTerms};
use crate::tool_route::ToolRoute;
use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_schema::BodyValidator;

/// Most bytes of the compiled patterns of a schema, and of all schemas of a server. A schema that needs more is not checked here.
const PATTERN_BYTES_MAX: usize = 1 << 20;
const PATTERNS_BYTES_MAX: usize = 32 << 20;
/// A member of an entry of which only the name is known: why clients do not see it.
pub(crate) const WITHHELD: &str = "\0withheld";

/// The lists of one server, as it wrote them.
#[derive(Default, PartialEq)]
pub(crate) struct ServerLists {
    pub tools: Vec<Value>,
    pub prompts: Vec<Value>,
    pub resources: Vec<Value>,
    pub templates: Vec<Value>,
    pub capabilities: Value,
    /// Lists of which only the first pages were read.
    pub cut: Vec<&'static str>,
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
    /// Entries that clients do not see although the view has them.
    pub withheld: Vec<WithheldEntry>,
    /// The digest of each tool that clients see, by their name.
    pub digests: HashMap<String, String>,
}

/// A name that a server keeps, whatever becomes of it: no server behind it gets the name, and none at all if the definition has a digest for it.
struct Reservation {
    server: usize,
    is_pinned: bool,
}

/// An entry of a list that clients do not see.
pub(crate) struct WithheldEntry {
    pub server: usize,
    /// `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    /// The server's own name for it, or its URI; empty if it has none.
    pub name: String,
    pub why: String,
    /// The digest of what the server says of a tool.
    pub digest: String,
    /// Whether it is withheld because it says something else than what was pinned.
    pub has_changed: bool,
    /// What the server says of it; nothing if that is too large.
    pub entry: Value,
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
                made.add_resource(at, resource);
            }
            for template in &lists.templates {
                made.add_template(at, template);
            }
        }
        made
    }

    fn add_tool(&mut self, at: usize, server: &ServerTerms, tool: &Value, known: &Catalogue) {
        let Some(own) = self.name_of(at, "tool", "name", tool) else { return };
        let view = &server.view;
        let is_wanted = view.include.is_empty() || view.include.iter().any(|glob| glob.is_match(own));
        if !is_wanted || view.exclude.iter().any(|glob| glob.is_match(own)) {
            return;
        }
        let digest = tool_digest(tool);
        let shown = shown_name(view, own);
        let is_known = tool.get(WITHHELD).is_none();
        let mut entry = without_nulls(tool);
        set(&mut entry, "name", shown.clone());
        if let Some(replaced) = view.overrides.get(own) {
            let parts =
                [("description", replaced.description.clone().map(Value::from)), ("inputSchema", replaced.input_schema.clone())];
            for (name, value) in parts {
                value.into_iter().for_each(|value| set(&mut entry, name, value));
            }
        }
        let holder = self.tool_routes.get(&shown).map(|route| route.server).or_else(|| {
            let kept = self.reserved.get(&shown)?;
            (kept.server < at || (kept.is_pinned && kept.server != at)).then_some(kept.server)
        });
        let has_changed = view.pins.get(own).is_some_and(|pin| *pin != digest);
        let changed = || has_changed.then(|| format!("it has changed: its digest is {digest}, not the pinned one"));
        let hindered = hindrance(at, "tool", &shown, &entry, holder);
        let why = hindered.or_else(changed).or_else(|| check_tool(&entry).err());
        if let Some(why) = why {
            // What another tool's name hides would stay hidden if it were agreed to.
            let has_changed = has_changed && is_known && holder.is_none();
            let withheld = WithheldEntry { digest, has_changed, ..withheld(at, "tool", own, why, tool) };
            return self.withheld.push(withheld);
        }
        let input_schema = entry.get("inputSchema").cloned().unwrap_or_else(|| json!({}));
        let input = self.compiled(at, &input_schema, known);
        let output = entry.get("outputSchema").and_then(|schema| self.compiled(at, schema, known));
        let route = ToolRoute { server: at, name: own.to_owned(), input, output, input_schema };
        self.tool_routes.insert(shown.clone(), route);
        self.digests.insert(shown, digest);
        self.tools.push(entry);
    }

    /// The name of an entry. One without a name is withheld.
    fn name_of<'e>(&mut self, at: usize, kind: &'static str, member: &str, entry: &'e Value) -> Option<&'e str> {
        let name = text(entry, &[member]).filter(|name| !name.is_empty());
        if name.is_none() {
            self.withheld.push(withheld(at, kind, "", format!("it has no {member}"), entry));
        }
        name
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
        let Some(own) = self.name_of(at, "prompt", "name", prompt) else { return };
        let (shown, mut entry) = (format!("{}{own}", view.prefix), without_nulls(prompt));
        let holder = self.prompt_routes.get(&shown).map(|(server, _)| *server);
        if let Some(why) = hindrance(at, "prompt", &shown, &entry, holder).or_else(|| check_prompt(&entry).err()) {
            return self.withheld.push(withheld(at, "prompt", own, why, prompt));
        }
        self.prompt_routes.insert(shown.clone(), (at, own.to_owned()));
        set(&mut entry, "name", shown);
        self.prompts.push(entry);
    }

    fn add_resource(&mut self, at: usize, resource: &Value) {
        let Some(uri) = self.name_of(at, "resource", "uri", resource) else { return };
        let (holder, entry) = (self.resource_routes.get(uri).copied(), without_nulls(resource));
        if let Some(why) = hindrance(at, "resource", uri, &entry, holder).or_else(|| check_resource(&entry).err()) {
            return self.withheld.push(withheld(at, "resource", uri, why, resource));
        }
        self.resource_routes.insert(uri.to_owned(), at);
        self.resources.push(entry);
    }

    fn add_template(&mut self, at: usize, template: &Value) {
        let Some(uri) = self.name_of(at, "template", "uriTemplate", template) else { return };
        let (holder, entry) = (self.template(uri), without_nulls(template));
        if let Some(why) = hindrance(at, "template", uri, &entry, holder).or_else(|| check_resource(&entry).err()) {
            return self.withheld.push(withheld(at, "template", uri, why, template));
        }
        self.template_routes.push((uri.to_owned(), at));
        self.templates.push(entry);
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

    /// Whether a server takes calls in a session as tasks.
    pub(crate) fn takes_tasks(&self, server: usize) -> bool {
        self.capabilities.get(server).is_some_and(tasks::are_offered)
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
    if let Some(tasks) = tasks::offered(servers).filter(|_| is_session) {
        offered.insert("tasks".to_owned(), tasks);
    }
    Value::Object(offered)
}

/// What a server can do, without what it would tell in a session.
pub(crate) fn without_session(capabilities: &Value) -> Value {
    let mut left = capabilities.clone();
    if let Some(members) = left.as_object_mut() {
        members.remove("logging");
        members.remove("tasks");
        members.get_mut("resources").and_then(Value::as_object_mut).map(|resources| resources.remove("subscribe"));
    }
    left
}

/// Why clients do not see an entry, whatever is in it. `holder` is the server that has its name already.
fn hindrance(at: usize, kind: &str, shown: &str, entry: &Value, holder: Option<usize>) -> Option<String> {
    let told = text(entry, &[WITHHELD]).map(str::to_owned);
    told.or_else(|| holder.map(|holder| taken(holder == at, kind, shown)))
}

fn taken(is_same_server: bool, kind: &str, shown: &str) -> String {
    let who = if is_same_server { "the server has another" } else { "another server has a" };
    format!("{who} {kind} with the name {shown:?}")
}

fn withheld(server: usize, kind: &'static str, name: &str, why: String, entry: &Value) -> WithheldEntry {
    let entry = if entry.get(WITHHELD).is_some() { Value::Null } else { entry.clone() };
    WithheldEntry { server, kind, name: name.to_owned(), why, digest: String::new(), has_changed: false, entry }
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
