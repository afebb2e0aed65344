//! `tollgate keys`.

use super::session::{self, SessionGrants, shown};
use super::span::{SpanEnd, moment};
use super::{CommandFailure, Gateway, accepted, document, print, segment, table};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Commands about keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// List the keys, or their hashes.
    List(List),
    /// Show the rights, limits and remaining quota of a key.
    Show(KeyArguments),
    /// Create a key.
    #[command(after_help = "Examples:\n  tollgate keys create --api hello --rate 100 --per 60 --quota 1000 --expires 30d\n  \
                            tollgate keys create --policy gold --alias 'first customer'\n  tollgate keys create --file session.json")]
    Create(CreateKey),
    /// Change a key: other fields and the counters stay.
    Update(Update),
    /// Delete keys: the gateway refuses their next request.
    #[command(visible_alias = "rm")]
    Delete(DeleteKey),
}

/// The columns of a list.
const COLUMNS: [&str; 7] = ["key", "alias", "apis", "rate", "quota", "policies", "expires"];

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only keys that may call this API
    #[arg(long, value_name = "ID")]
    api: Option<String>,
    /// Only keys, or hashes, with this prefix, such as their organisation
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Print only the names, one per line
    #[arg(long, short)]
    quiet: bool,
}

/// The key.
#[derive(Debug, Args)]
pub struct KeyArguments {
    /// The key, or its hash with --hash
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    naming: Naming,
}

/// How to find a key.
#[derive(Debug, Default, Args)]
pub(super) struct Naming {
    /// KEY is a hash
    #[arg(long)]
    hash: bool,
    /// KEY is an id, as `keys list` shows them to operators with a scope where keys are not hashed
    #[arg(long, conflicts_with = "hash")]
    id: bool,
    /// Organisation of a key that is given without it
    #[arg(long = "of-org", value_name = "ID")]
    org: Option<String>,
}

/// The rights and limits of a key.
#[derive(Debug, Default, Args)]
pub(super) struct Wishes {
    #[command(flatten)]
    grants: SessionGrants,
    /// Id of a policy with limits and rights; repeat for several
    #[arg(long = "policy", value_name = "ID")]
    policies: Vec<String>,
    /// When it expires: never, a time from now such as 30d, or a date
    #[arg(long, value_name = "WHEN", value_parser = SpanEnd::parse)]
    expires: Option<SpanEnd>,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    alias: Option<String>,
}

/// Options of `create`.
#[derive(Debug, Args)]
pub struct CreateKey {
    #[command(flatten)]
    wishes: Wishes,
    /// A key of your choice instead of a random one
    #[arg(long, value_name = "KEY")]
    name: Option<String>,
    /// File with the whole session as JSON, - for standard input; other options override it
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print only the key
    #[arg(long, short)]
    quiet: bool,
}

/// Options of `update`.
#[derive(Debug, Args)]
pub struct Update {
    #[command(flatten)]
    key: KeyArguments,
    #[command(flatten)]
    wishes: Wishes,
    /// Refuse the key until it is active again
    #[arg(long, conflicts_with = "active")]
    inactive: bool,
    /// Accept the key again
    #[arg(long)]
    active: bool,
    /// File with the whole new session as JSON, - for standard input; other options override it
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Reset the counters of rates and quotas
    #[arg(long)]
    reset: bool,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct DeleteKey {
    /// Keys, or their hashes with --hash
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    #[command(flatten)]
    naming: Naming,
}

pub(super) fn run(command: KeyCommand, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        KeyCommand::List(options) => list(&options, gateway),
        KeyCommand::Show(key) => show(&key, gateway),
        KeyCommand::Create(options) => create(options, gateway),
        KeyCommand::Update(options) => update(options, gateway),
        KeyCommand::Delete(options) => delete(&options, gateway),
    }
}

impl Naming {
    fn query(&self) -> String {
        let found_by = match (self.hash, self.id) {
            (true, _) => "hashed=true&",
            (_, true) => "by=id&",
            _ => "",
        };
        format!("{found_by}org_id={}", segment(self.org.as_deref().unwrap_or_default()))
    }

    /// The path of a key, with the query that finds it.
    fn path(&self, key: &str) -> String {
        format!("/tyk/keys/{}?{}", segment(key), self.query())
    }
}

fn list(options: &List, gateway: &Gateway) -> Result<(), CommandFailure> {
    let parameter = |value: &Option<String>| segment(value.as_deref().unwrap_or_default());
    let path = format!("/tyk/keys?filter={}&api_id={}", parameter(&options.prefix), parameter(&options.api));
    let answer = match gateway.ask("GET", &path, None)? {
        // Whoever has a scope may not see all keys, but those in it.
        (403, _) => return list_reached(options, gateway),
        answer => accepted(answer)?,
    };
    let keys = answer.get("keys").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    // Of hashed keys, the gateway lists all.
    let keys: Vec<&str> = keys.filter(|key| options.prefix.as_deref().is_none_or(|prefix| key.starts_with(prefix))).collect();
    if gateway.json {
        print(&answer.to_string());
        return Ok(());
    }
    if options.quiet {
        print(&keys.join("\n"));
        return Ok(());
    }
    let mut rows = Vec::with_capacity(keys.len());
    for key in keys {
        // If keys are hashed, the list has hashes; only a request shows which it is. A key may be deleted meanwhile.
        let path = format!("/tyk/keys/{}", segment(key));
        let session = match gateway.find(&path)? {
            Some(session) => session,
            None => gateway.find(&format!("{path}?hashed=true")).ok().flatten().unwrap_or_default(),
        };
        rows.push(vec![
            key.to_owned(),
            shown(&session, "alias"),
            session::apis(&session),
            session::rate(&session),
            session::quota(&session),
            shown(&session, "apply_policies"),
            ends(&session),
        ]);
    }
    print(&table::columns(&COLUMNS, rows));
    Ok(())
}

/// Lists the keys that the caller reaches.
fn list_reached(options: &List, gateway: &Gateway) -> Result<(), CommandFailure> {
    let has_api = |row: &Value, api: &String| {
        row.get("apis").and_then(Value::as_array).is_some_and(|apis| apis.iter().any(|own| own == api.as_str()))
    };
    let (mut rows, mut after) = (Vec::new(), String::new());
    loop {
        let page = gateway.get(&format!("/tyk/list/keys?limit=1000&after={}", segment(&after)))?;
        rows.extend(page.get("rows").and_then(Value::as_array).into_iter().flatten().cloned());
        after = shown(&page, "next");
        if after.is_empty() {
            break;
        }
    }
    rows.retain(|row| {
        let is_asked = options.prefix.as_deref().is_none_or(|prefix| shown(row, "id").starts_with(prefix));
        is_asked && options.api.as_ref().is_none_or(|api| has_api(row, api))
    });
    let ids: Vec<String> = rows.iter().map(|row| shown(row, "id")).collect();
    if gateway.json {
        print(&json!({ "keys": ids }).to_string());
        return Ok(());
    }
    if options.quiet {
        print(&ids.join("\n"));
        return Ok(());
    }
    let cells = |row: &Value| {
        let apis = Some(shown(row, "apis")).filter(|apis| !apis.is_empty()).unwrap_or_else(|| "-".to_owned());
        vec![
            shown(row, "id"),
            shown(row, "alias"),
            apis,
            session::rate(row),
            session::quota(row),
            shown(row, "policies"),
            ends(row),
        ]
    };
    print(&table::columns(&COLUMNS, rows.iter().map(cells).collect()));
    Ok(())
}

fn ends(session: &Value) -> String {
    if session.get("is_inactive") == Some(&true.into()) {
        return "inactive".to_owned();
    }
    moment(session.get("expires").and_then(Value::as_i64).unwrap_or_default(), unix_s())
}

fn show(key: &KeyArguments, gateway: &Gateway) -> Result<(), CommandFailure> {
    let session = gateway.get(&key.naming.path(&key.key))?;
    gateway.print(&session, || {
        let number = |name: &str| session.get(name).and_then(Value::as_i64).unwrap_or_default();
        let left = if number("quota_max") > 0 { number("quota_remaining").to_string() } else { "-".to_owned() };
        let renews = if number("quota_renews") > 0 { moment(number("quota_renews"), unix_s()) } else { "-".to_owned() };
        let rows = vec![
            ("key", key.key.clone()),
            ("alias", shown(&session, "alias")),
            ("organisation", shown(&session, "org_id")),
            ("policies", shown(&session, "apply_policies")),
            ("rate", session::rate(&session)),
            ("quota", session::quota(&session)),
            ("quota left", left),
            ("quota renews", renews),
            ("expires", ends(&session)),
            ("created", shown(&session, "date_created")),
            ("tags", shown(&session, "tags")),
        ];
        let rows: Vec<_> = rows.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let rights = session.get("access_rights").and_then(Value::as_object).into_iter().flatten();
        let rights: Vec<Vec<String>> = rights
            .map(|(id, right)| {
                let limit = right.get("limit").unwrap_or(&Value::Null);
                vec![id.clone(), shown(right, "api_name"), shown(right, "versions"), session::rate(limit), session::quota(limit)]
            })
            .collect();
        let rights = if rights.is_empty() {
            "may call every API".to_owned()
        } else {
            table::columns(&["api", "name", "versions", "rate", "quota"], rights)
        };
        format!("{}\n\n{rights}", table::pairs(rows))
    });
    Ok(())
}

fn create(options: CreateKey, gateway: &Gateway) -> Result<(), CommandFailure> {
    let wishes = &options.wishes;
    if options.file.is_none() && !wishes.grants.name_apis() && wishes.policies.is_empty() {
        let message = "a key needs access rights: --api, --policy or --file (see tollgate keys create --help)";
        return Err(CommandFailure::Usage(message.to_owned()));
    }
    let mut session = match &options.file {
        Some(file) => object(document::read_json(file)?),
        None => Map::new(),
    };
    wishes.apply(&mut session, gateway)?;
    session.entry("org_id").or_insert_with(|| "default".into());
    if options.file.is_none() && wishes.policies.is_empty() {
        session.entry("quota_max").or_insert_with(|| (-1).into());
    }
    let path = match &options.name {
        None => "/tyk/keys/create".to_owned(),
        Some(name) => {
            let org = session.get("org_id").and_then(Value::as_str).unwrap_or_default();
            if gateway.find(&format!("/tyk/keys/{}?org_id={}", segment(name), segment(org)))?.is_some() {
                return Err(CommandFailure::Refused(format!("the key {name} exists already: change it with tollgate keys update")));
            }
            format!("/tyk/keys/{}", segment(name))
        }
    };
    let answer = gateway.call("POST", &path, Some(&session.into()))?;
    let field = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    if options.quiet && !gateway.json {
        print(field("key"));
        return Ok(());
    }
    gateway.print(&answer, || {
        let mut rows = vec![("key", field("key").to_owned())];
        if !field("key_hash").is_empty() {
            rows.push(("hash", format!("{} (from now on the gateway shows this hash instead of the key)", field("key_hash"))));
        }
        table::pairs(rows)
    });
    Ok(())
}

impl Wishes {
    fn apply(&self, session: &mut Map<String, Value>, gateway: &Gateway) -> Result<(), CommandFailure> {
        self.grants.apply(session, gateway)?;
        for id in &self.policies {
            let Some(policy) = gateway.find(&format!("/tyk/policies/{}", segment(id)))? else {
                return Err(CommandFailure::Refused(format!(
                    "there is no policy with the id {id} (tollgate policies list shows them)"
                )));
            };
            if let Some(org) = policy.get("org_id").filter(|org| org.as_str().is_some_and(|org| !org.is_empty())) {
                session.entry("org_id").or_insert_with(|| org.clone());
            }
        }
        if !self.policies.is_empty() {
            session.insert("apply_policies".to_owned(), json!(self.policies));
        }
        if let Some(end) = self.expires {
            session.insert("expires".to_owned(), end.unix_s(unix_s()).into());
        }
        if let Some(alias) = &self.alias {
            session.insert("alias".to_owned(), alias.as_str().into());
        }
        Ok(())
    }
}

fn update(options: Update, gateway: &Gateway) -> Result<(), CommandFailure> {
    let KeyArguments { key, naming } = &options.key;
    let mut session = match &options.file {
        Some(file) => object(document::read_json(file)?),
        None => object(gateway.get(&naming.path(key))?),
    };
    options.wishes.apply(&mut session, gateway)?;
    if options.inactive || options.active {
        session.insert("is_inactive".to_owned(), options.inactive.into());
    }
    let keep = if options.reset { "" } else { "&suppress_reset=1" };
    let answer = gateway.call("PUT", &format!("{}{keep}", naming.path(key)), Some(&session.into()))?;
    gateway.print(&answer, || format!("{key}: changed"));
    Ok(())
}

fn delete(options: &DeleteKey, gateway: &Gateway) -> Result<(), CommandFailure> {
    for key in &options.keys {
        let answer = gateway.call("DELETE", &options.naming.path(key), None).map_err(|failure| match failure {
            CommandFailure::Refused(reason) => CommandFailure::Refused(format!("{key}: {reason}")),
            other => other,
        })?;
        gateway.print(&answer, || format!("{key}: deleted"));
    }
    Ok(())
}

fn object(document: Value) -> Map<String, Value> {
    match document {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Current time in seconds since 1970.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
