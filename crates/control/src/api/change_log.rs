//! The log of changes: who changed what, when, from where. Entries are in the store, one document each, so that gateways that share it have one
//! log; they are kept for 90 days. Requests do not wait for their entries.

mod waiting_entry;

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::lists::{Asked, ListPage};
use super::scoping::Reach;
use super::store_queues::store_all;
use crate::audit_file::{AuditFile, ToldPlace};
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tollgate_admin::{Difference, Operator, Role, users};
use tollgate_clock::{unix_ns, unix_s};
use tollgate_data::control_caller::ControlCaller;
use tollgate_model::events::EventKind;
use tollgate_observe::events::{ChainPlace, EventFacts, EventSinks, GatewayEvent};
use tollgate_store::{DocumentSpace, Store, StoreFault};
use waiting_entry::WaitingEntry;

/// Days that entries are kept.
const DAYS: u64 = 90;
const DAY_S: u64 = 86_400;
/// Entries of a day; a script that makes a million keys must not fill the store. Later changes of that day are not logged.
const ENTRIES_PER_DAY_MAX: u64 = 10_000;
/// Entries that wait for the store; more are lost, and counted in the program's log.
const WAITING_MAX: usize = 1_024;
/// Entries that wait for a store that does not answer; the oldest are given up.
const BACKLOG_MAX: usize = 2_048;
/// Time for a search.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(150);

/// One change.
#[derive(Serialize)]
struct ChangeEntry {
    /// Seconds since 1970.
    time: u64,
    user: String,
    role: Option<Role>,
    /// `sub` at the provider at which the user signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    address: Option<String>,
    node: String,
    action: String,
    kind: String,
    target: String,
    status: u16,
    diff: Vec<Difference>,
    diff_more: usize,
    etag: Option<String>,
}

/// What was changed.
#[derive(Default)]
pub(super) struct Change {
    pub action: &'static str,
    pub kind: &'static str,
    pub target: String,
    pub status: u16,
    /// The first differences, with masked secrets, and the number of the others.
    pub diff: (Vec<Difference>, usize),
    pub etag: Option<String>,
}

/// Where entries go.
pub struct ChangeLog {
    node: String,
    entries: mpsc::Sender<ChangeEntry>,
    lost: AtomicU64,
    audit: Option<AuditFile>,
    events: Option<Arc<EventSinks>>,
}

/// The entries that wait for the store.
pub struct WaitingEntries(mpsc::Receiver<ChangeEntry>);

impl ChangeLog {
    /// Entries also go to `audit` and, as events, to `events`, if there are such.
    pub fn new(node: String, audit: Option<AuditFile>, events: Option<Arc<EventSinks>>) -> (Self, WaitingEntries) {
        let (entries, waiting) = mpsc::channel(WAITING_MAX);
        (ChangeLog { node, entries, lost: AtomicU64::new(0), audit, events }, WaitingEntries(waiting))
    }

    /// Adds an entry of an operator.
    pub(super) fn add(&self, operator: Option<&Operator>, caller: Option<ControlCaller>, change: Change) {
        self.add_at(unix_s(), operator, caller, change);
    }

    /// The same for a change of which it was not known at once whether it is to be logged.
    pub(super) fn add_at(&self, time: u64, operator: Option<&Operator>, caller: Option<ControlCaller>, change: Change) {
        let entry = self.entry(time, operator, caller, change);
        match &self.audit {
            Some(audit) => self.tell_audit(audit, &entry),
            None => self.told_event(&entry).into_iter().for_each(|told| told(ChainPlace::default())),
        }
        if self.entries.try_send(entry).is_err() {
            let lost = self.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::error!(lost, "a change is missing in the log of changes: too many at once");
        }
    }

    /// Whether there is an audit file.
    pub(super) fn is_audited(&self) -> bool {
        self.audit.is_some()
    }

    /// Tells the audit file, but not the store, that somebody made a call. The store keeps a number of entries a day, which nobody should use up so.
    pub(super) fn audit_call(&self, operator: &Operator, caller: Option<ControlCaller>, target: String, status: StatusCode) {
        let Some(audit) = &self.audit else { return };
        let change = Change { action: "call", kind: "endpoint", target, status: status.as_u16(), ..Change::default() };
        self.tell_audit(audit, &self.entry(unix_s(), Some(operator), caller, change));
    }

    /// Has the entry written, and the event told when it is: receivers of events see by its number whether they got all.
    fn tell_audit(&self, audit: &AuditFile, entry: &ChangeEntry) {
        audit.append(serde_json::to_value(entry).unwrap_or_default(), self.told_event(entry));
    }

    /// Tells the event of an entry; `None` if nobody listens.
    fn told_event(&self, entry: &ChangeEntry) -> Option<ToldPlace> {
        let event = EventKind::OperatorChange;
        let sinks = self.events.as_ref().filter(|sinks| sinks.handle(event))?.clone();
        let (user, target, status) = (template_text(&entry.user), template_text(&entry.target), entry.status);
        let (address, action, kind) = (entry.address.clone().unwrap_or_default(), entry.action.clone(), entry.kind.clone());
        Some(Box::new(move |place| {
            let facts = EventFacts::Operator { user, address, action, kind, target, status, place };
            let message = "An operator has changed something.".into();
            sinks.tell(GatewayEvent { kind: event, message, unix_ns: unix_ns(), request: String::new(), facts });
        }))
    }

    fn entry(&self, time: u64, operator: Option<&Operator>, caller: Option<ControlCaller>, change: Change) -> ChangeEntry {
        let Change { action, kind, target, status, diff: (diff, diff_more), etag } = change;
        ChangeEntry {
            time,
            user: operator.map(|operator| operator.name.clone()).unwrap_or_default(),
            role: operator.filter(|operator| operator.name != users::FILES).map(|operator| operator.role),
            subject: operator.and_then(|operator| operator.provider.as_ref()).map(|provider| provider.subject.clone()),
            address: caller.map(|caller| caller.address.to_string()),
            node: self.node.clone(),
            action: action.to_owned(),
            kind: kind.to_owned(),
            target,
            status,
            diff,
            diff_more,
            etag,
        }
    }
}

/// A text for templates, which escape quotes but nothing else that JSON escapes.
fn template_text(text: &str) -> String {
    let plain = |character: char| match character {
        '\\' => '/',
        character if character.is_control() => ' ',
        character => character,
    };
    text.chars().map(plain).collect()
}

/// Writes entries to the store while the gateway runs.
pub(super) async fn write(control: Arc<Control>, waiting: WaitingEntries, stopped: watch::Receiver<bool>) {
    // The next number of the day, as far as known.
    let place = Arc::new(Mutex::new((0, 0)));
    let accept = |entry| Some(WaitingEntry { entry, place: place.clone(), may_be_at: None, lost: Vec::new() });
    store_all(&control, waiting.0, stopped, BACKLOG_MAX, accept).await;
    if let Some(audit) = &control.changes.audit {
        audit.finish().await;
    }
}

fn id(day: u64, number: u64) -> String {
    format!("change/{day}/{number}")
}

async fn document(store: &dyn Store, day: u64, number: u64) -> Result<Option<Vec<u8>>, StoreFault> {
    store.read(DocumentSpace::Console, id(day, number)).await
}

async fn get(store: &dyn Store, day: u64, number: u64) -> Result<Option<Value>, StoreFault> {
    let document = document(store, day, number).await?;
    Ok(document.map(|document| serde_json::from_slice(&document).unwrap_or_default()))
}

/// The number after the last entry of a day. Entries have no gaps, so a few questions find it.
async fn end(store: &dyn Store, day: u64) -> Result<u64, StoreFault> {
    let mut high = 1;
    while high <= ENTRIES_PER_DAY_MAX && get(store, day, high - 1).await?.is_some() {
        high *= 2;
    }
    let mut low = high / 2;
    // The entry before `low` exists, the one before `high` does not.
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if get(store, day, middle - 1).await?.is_some() { low = middle } else { high = middle }
    }
    Ok(low)
}

/// A page of the log of changes
///
/// The newest first, of the last 90 days. Rows have `time`, `user`, `role`, `address`, `node`, `action`, `kind`, `target`, `status`, `diff` with masked
/// secrets, `diff_more`, `etag`. `user` is `secret` for callers with the control secret, and `files` for changes of files that a reload finds. The action `lost` names changes that could not be
/// logged, as the store did not answer for too long.
#[utoipa::path(
    get, path = "/tyk/list/changes", tag = "Lists", operation_id = "searchChanges",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the user, action, kind or target, in any letter case."),
        ("sort" = Option<String>, Query, description = "`time`.", example = "time"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn list(
    State(control): State<Arc<Control>>,
    Extension(operator): Extension<Operator>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let asked = match Asked::read(&query, &["time"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let is_reached = |row: &Value| reach.is_whole() || concerns(&reach, &operator, row);
    match found(control.shared.keys.store(), &asked, is_reached).await {
        Ok(Some(page)) => ok(page),
        Ok(None) => error(StatusCode::BAD_REQUEST, "after must be the next of another answer"),
        Err(fault) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("the log of changes can't be read: {fault}")),
    }
}

/// Whether a change is of something that an operator with a scope reaches, or of the operator. What does not exist any more, nobody reaches.
fn concerns(reach: &Reach, operator: &Operator, row: &Value) -> bool {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("kind") {
        "api" => reach.has_api_id(text("target")),
        "policy" => reach.has_policy_id(text("target")),
        _ => text("user") == operator.name,
    }
}

async fn found(store: &dyn Store, asked: &Asked, is_reached: impl Fn(&Value) -> bool) -> Result<Option<ListPage>, StoreFault> {
    let today = unix_s() / DAY_S;
    let stop = Instant::now() + SEARCH_TIME_MAX;
    // The cursor is the place of the last entry that was looked at.
    let (mut day, mut number) = match asked.after.split_once('.') {
        Some((day, number)) => match (day.parse::<u64>(), number.parse::<u64>()) {
            (Ok(day), Ok(number)) if day <= today && number <= ENTRIES_PER_DAY_MAX => (day, number),
            _ => return Ok(None),
        },
        None if asked.after.is_empty() => (today, end(store, today).await?),
        None => return Ok(None),
    };
    let (mut rows, mut scanned) = (Vec::new(), 0);
    let oldest = today.saturating_sub(DAYS);
    while rows.len() < asked.limit && Instant::now() < stop {
        if number == 0 {
            if day <= oldest {
                return Ok(Some(ListPage { rows, next: String::new(), total: None, scanned }));
            }
            day -= 1;
            number = end(store, day).await?;
            continue;
        }
        number -= 1;
        let Some(row) = get(store, day, number).await? else { continue };
        if !is_reached(&row) {
            continue;
        }
        scanned += 1;
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let texts = ["user", "action", "kind", "target"].map(text);
        if asked.fits(texts.iter().map(String::as_str)) {
            rows.push(row);
        }
    }
    Ok(Some(ListPage { rows, next: format!("{day}.{number}"), total: None, scanned }))
}
