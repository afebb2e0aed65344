//! The gateway as the developer portal uses it: APIs in service, keys of its own, events.

use crate::api::recorded::{last_minute, recorded};
use crate::figures_question::FiguresQuestion;
use crate::nodes::{NodeTail, Nodes};
use crate::portal_clients::{ClientPlace, PortalClient, limits_of};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_access::keys::{KeyName, Keys, prepared};
use tollgate_access::oauth::TokenStore;
use tollgate_access::secret::random_bytes;
use tollgate_clock::{unix_ns, unix_s};
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::calendar::rfc3339;
use tollgate_model::events::EventKind;
use tollgate_model::policy;
use tollgate_model::session::Session;
use tollgate_observe::events::{EventFacts, GatewayEvent};
use tollgate_observe::tap::TailFilter;
use tollgate_portal::{
    DoorReply, GatewayDoor, KeyChange, KeyRefusal, KeyUsage, MadeKey, PortalKeyState, PortalNotice, PortalRefusal, PublishedApi,
    WantedKey,
};
use tollgate_store::StoreFault;
use tollgate_store::usage::{UsageAnswer, UsageBy, UsageQuestion};

/// Member of an OpenAPI document that says how the gateway serves it, which is nothing for developers.
const EXTENSIONS: [&str; 3] = ["x-tyk-api-gateway", "x-tyk-streaming", "x-tollgate"];
const KEY_HEADER: &str = "Authorization";
/// Where an API gives tokens, below its listen path.
const TOKEN_PATH: &str = "/oauth/token/";
/// How long usage of a key may be read; a person waits no longer for all of them.
const READ_TIME_MAX: Duration = Duration::from_millis(500);
/// Rows of a key's usage.
const USAGE_ROWS_MAX: usize = 1_000;

/// The gateway.
pub struct PortalDoor {
    pub shared: Arc<GatewayState>,
    /// Who knows what keys were used for.
    pub nodes: Nodes,
    /// Clients of APIs that give tokens.
    pub token_store: TokenStore,
}

impl GatewayDoor for PortalDoor {
    fn api(&self, id: &str) -> Option<PublishedApi> {
        let snapshot = self.shared.current.load();
        let api = snapshot.api(id)?;
        let text = |pointer: &str| api.raw.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let is_on = |pointer: &str| api.raw.pointer(pointer).and_then(Value::as_bool).unwrap_or_default();
        let (kind, document) = if let Some(document) = &api.openapi {
            let mut root = document.root.clone();
            if let Value::Object(members) = &mut root {
                members.retain(|name, _| !EXTENSIONS.contains(&name.as_str()));
            }
            (if text("/application_protocol") == "mcp" { "mcp" } else { "openapi" }, Some(root))
        } else if text("/application_protocol") == "mcp" {
            ("mcp", None)
        } else if is_on("/graphql/enabled") {
            ("graphql", Some(Value::from(text("/graphql/schema"))).filter(|schema| schema != ""))
        } else {
            ("", None)
        };
        let gives_tokens = is_on("/use_oauth2") && {
            let kinds = api.raw.pointer("/oauth_meta/allowed_access_types").and_then(Value::as_array);
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "client_credentials"))
        };
        let header = [text("/auth_configs/authToken/auth_header_name"), text("/auth/auth_header_name"), KEY_HEADER];
        let header = header.into_iter().find(|header| !header.is_empty()).unwrap_or(KEY_HEADER);
        Some(PublishedApi {
            id: api.id.clone(),
            name: api.name.clone(),
            listen_path: text("/proxy/listen_path").to_owned(),
            host: text("/domain").to_owned(),
            key_header: if is_on("/use_keyless") { String::new() } else { header.to_owned() },
            token_path: if gives_tokens {
                format!("{}{TOKEN_PATH}", text("/proxy/listen_path").trim_end_matches('/'))
            } else {
                String::new()
            },
            is_recorded: !is_on("/do_not_track"),
            kind: kind.to_owned(),
            document,
        })
    }

    fn has_policy(&self, id: &str) -> bool {
        self.shared.keys.policies().get(id).is_some()
    }

    fn make_key(&self, wanted: WantedKey) -> DoorReply<'_, MadeKey> {
        Box::pin(async move {
            if wanted.client_of.is_empty() { self.make(wanted).await } else { PortalClient::make(self.clients(), wanted).await }
        })
    }

    fn change_key(&self, listed_id: String, change: KeyChange) -> DoorReply<'_, bool> {
        Box::pin(async move {
            if let Some(client) = PortalClient::of_listed(&listed_id) {
                return Ok(client.change(self.clients(), &change).await?);
            }
            let Some((name, _)) = self.named(&listed_id).await? else { return Ok(false) };
            let rewrite = move |old: Option<Session>| old.map(|old| changed(old, &change));
            Ok(self.shared.keys.rewrite(name, true, rewrite).await?)
        })
    }

    fn remove_key(&self, listed_id: String) -> DoorReply<'_, bool> {
        Box::pin(async move {
            if let Some(client) = PortalClient::of_listed(&listed_id) {
                return Ok(client.remove(self.clients()).await?);
            }
            let Some((name, session)) = self.named(&listed_id).await? else { return Ok(false) };
            let shown = name.shown.clone();
            let is_removed = self.shared.keys.remove(name).await?;
            if is_removed {
                self.tell_key(EventKind::TokenDeleted, "Key deleted.", session.org_id, shown);
            }
            Ok(is_removed)
        })
    }

    fn key_state(&self, listed_id: String) -> DoorReply<'_, Option<PortalKeyState>> {
        Box::pin(async move {
            if let Some(client) = PortalClient::of_listed(&listed_id) {
                return Ok(client.state(self.clients()).await?);
            }
            let keys = &self.shared.keys;
            let found = crate::api::keys::live(keys, &listed_id, &by_id(keys)).await?;
            Ok(found.map(|(_, session)| limits_of(&session)))
        })
    }

    fn usage(&self, listed_id: String, from_unix_s: u64, step_s: u64) -> DoorReply<'_, Vec<KeyUsage>> {
        Box::pin(async move {
            let Some(user) = self.usage_name(&listed_id).await? else { return Ok(Vec::new()) };
            let minute = |unix_s: u64| i64::try_from(unix_s / 60).unwrap_or(i64::MAX);
            let question = UsageQuestion {
                from: minute(from_unix_s),
                to: minute(unix_s()) + 1,
                api: None,
                key: Some(user),
                path: None,
                version: None,
                method: None,
                status: None,
                by: UsageBy::Time(u32::try_from(step_s / 60).unwrap_or(u32::MAX).max(1)),
                split: None,
                rows_max: USAGE_ROWS_MAX,
            };
            let (own, others) = (question.clone(), FiguresQuestion::Usage { question: question.clone() });
            let read = move |figures: &crate::nodes::OwnFigures| figures.usage(&own, Instant::now() + READ_TIME_MAX);
            let told = recorded(&self.nodes, self.shared.observer.node(), read, Some(others)).await?;
            let whole = UsageAnswer::merged(&question, told.answers.into_iter().map(|(_, answer)| answer));
            let shown = whole.rows.iter().filter_map(|row| {
                let minute: u64 = row.value.parse().ok()?;
                Some(KeyUsage { from_unix_s: minute * 60, requests: row.counts.hits, good: row.good })
            });
            Ok(shown.collect())
        })
    }

    fn last_used(&self, listed_id: String) -> DoorReply<'_, Option<u64>> {
        Box::pin(async move {
            let Some(user) = self.usage_name(&listed_id).await? else { return Ok(None) };
            let minute = last_minute(&self.nodes, user, true).await?.flatten();
            Ok(minute.and_then(|minute| u64::try_from(minute * 60).ok()))
        })
    }

    fn refusals(&self, listed_id: String, rows: usize) -> DoorReply<'_, Vec<KeyRefusal>> {
        Box::pin(async move {
            let filter = match PortalClient::of_listed(&listed_id).map(PortalClient::into_id) {
                Some(client) => TailFilter { oauth_client: Some(client), ..TailFilter::default() },
                None => {
                    let Some((name, _)) = self.named(&listed_id).await? else { return Ok(Vec::new()) };
                    TailFilter { key: Some(self.shared.keys.hash_of(&name.shown).into_owned()), ..TailFilter::default() }
                }
            };
            let client = filter.oauth_client.clone();
            let mut entries = self.nodes.own.tail(&filter, rows).entries;
            let others = self.nodes.ask(&FiguresQuestion::Tail { filter, rows }).await.answers;
            entries.extend(
                others
                    .into_iter()
                    .filter_map(|(_, told)| serde_json::from_value::<NodeTail>(told).ok())
                    .flat_map(|tail| tail.entries),
            );
            // A gateway of an earlier version does not know of clients, and answers with requests of everybody.
            entries.retain(|entry| client.as_ref().is_none_or(|client| entry.oauth_client == *client));
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.unix_ms));
            entries.truncate(rows);
            let shown = entries.into_iter().map(|entry| KeyRefusal {
                unix_s: entry.unix_ms / 1000,
                api: entry.name,
                method: entry.method,
                path: entry.path,
                status: entry.status,
                cause: entry.cause,
                message: entry.message,
                request_id: entry.request_id,
            });
            Ok(shown.collect())
        })
    }

    fn tell(&self, notice: PortalNotice) {
        let PortalNotice { what, application, grant, product, plan, developer } = notice;
        let facts = EventFacts::Portal { what, application, grant, product, plan, developer };
        self.tell_event(EventKind::PortalChange, "The developer portal has changed.", facts);
    }
}

impl PortalDoor {
    async fn make(&self, wanted: WantedKey) -> Result<MadeKey, PortalRefusal> {
        let keys = &self.shared.keys;
        let policies = keys.policies();
        let policy = policies.get(&wanted.policy);
        let org_id = policy.map(|policy| policy.org_id.clone()).ok_or_else(|| unmade("the plan has no policy at the moment"))?;
        let ids = [wanted.policy.clone()];
        let lifetime_s = policy::key_expires_in(&ids, &|id| policies.get(id));
        let now = unix_s();
        let expires = lifetime_s.map_or(0, |seconds| i64::try_from(now).unwrap_or_default().saturating_add(seconds));
        let session = Session {
            org_id: org_id.clone(),
            apply_policies: ids.to_vec(),
            alias: wanted.alias,
            meta_data: wanted.meta_data,
            date_created: rfc3339(now),
            last_updated: now.to_string(),
            expires,
            ..Session::default()
        };
        keys.with_policies(&session).map_err(|problem| unmade(&problem.to_string()))?;
        let session = prepared(session).await.map_err(|why| unmade(&why))?;
        let token = random_bytes().map(|random| keys.generate(&org_id, random)).map_err(|error| unmade(&error.to_string()))?;
        let name = keys.new_name(&token);
        keys.put(name.clone(), session, false).await?;
        self.tell_key(EventKind::TokenCreated, "Key generated.", org_id, name.shown.clone());
        Ok(MadeKey { key: token, secret: String::new(), listed_id: keys.listed_id(&name) })
    }

    fn clients(&self) -> ClientPlace<'_> {
        ClientPlace { shared: &self.shared, token_store: &self.token_store }
    }

    /// How rows of usage name a key or a client.
    async fn usage_name(&self, listed_id: &str) -> Result<Option<String>, StoreFault> {
        match PortalClient::of_listed(listed_id) {
            Some(client) => Ok(Some(client.usage_name())),
            None => Ok(self.named(listed_id).await?.map(|(name, _)| name.shown)),
        }
    }

    /// A key; `None` for a client, too.
    async fn named(&self, listed_id: &str) -> Result<Option<(KeyName, Session)>, StoreFault> {
        if PortalClient::of_listed(listed_id).is_some() {
            return Ok(None);
        }
        crate::api::keys::named(&self.shared.keys, listed_id, &by_id(&self.shared.keys)).await
    }

    fn tell_key(&self, kind: EventKind, message: &'static str, org: String, key: String) {
        self.tell_event(kind, message, EventFacts::Token { org, key });
    }

    fn tell_event(&self, kind: EventKind, message: &'static str, facts: EventFacts) {
        if let Some(sinks) = self.shared.settings.watch.gateway_events.as_ref().filter(|sinks| sinks.handle(kind)) {
            sinks.tell(GatewayEvent { kind, message: message.into(), unix_ns: unix_ns(), request: String::new(), facts });
        }
    }
}

/// How [`crate::api::keys`] finds a key by its id in lists.
fn by_id(keys: &Keys) -> HashMap<String, String> {
    keys.listed_by().split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect()
}

fn changed(old: Session, change: &KeyChange) -> Session {
    let last_updated = unix_s().to_string();
    match change {
        KeyChange::EndsAt(end) => {
            let end = i64::try_from(*end).unwrap_or(i64::MAX);
            let expires = if old.expires > 0 { old.expires.min(end) } else { end };
            Session { expires, last_updated, ..old }
        }
        KeyChange::Suspended(is_inactive) => Session { is_inactive: *is_inactive, last_updated, ..old },
        KeyChange::Policy(id) => Session { apply_policy_id: String::new(), apply_policies: vec![id.clone()], last_updated, ..old },
    }
}

fn unmade(why: &str) -> PortalRefusal {
    PortalRefusal::failed(format_args!("a key of the portal can't be made: {why}"))
}
