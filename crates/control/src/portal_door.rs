//! The gateway as the developer portal uses it: APIs in service, keys of its own, events.

use crate::nodes::Nodes;
use crate::portal_clients::{ClientPlace, PortalClient, limits_of};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
use tollgate_portal::{
    DoorReply, GatewayDoor, KeyChange, KeyRefusal, KeyUsage, MadeKey, PortalKeyState, PortalNotice, PortalRefusal, PublishedApi,
    WantedKey,
};
use tollgate_store::StoreFault;

/// Member of an OpenAPI document that says how the gateway serves it, which is nothing for developers.
const EXTENSIONS: [&str; 3] = ["x-tyk-api-gateway", "x-tyk-streaming", "x-tollgate"];
const KEY_HEADER: &str = "Authorization";
/// Where an API gives tokens, below its listen path.
const TOKEN_PATH: &str = "/oauth/token/";

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

    fn version(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    fn has_policy(&self, id: &str) -> bool {
        self.shared.keys.policies().get(id).is_some()
    }

    fn set_tried(&self, apis: HashSet<String>) {
        if let Some(tried) = &self.shared.settings.answers.tried_apis {
            tried.set(apis);
        }
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
        Box::pin(self.usage_of(listed_id, from_unix_s, step_s))
    }

    fn usage_id(&self, listed_id: String) -> DoorReply<'_, Option<String>> {
        Box::pin(self.kept_usage_name(listed_id))
    }

    fn calls(&self, usage_ids: Vec<String>, day_unix_s: u64) -> DoorReply<'_, Vec<(String, u64)>> {
        Box::pin(self.calls_of_day(usage_ids, day_unix_s))
    }

    fn last_used(&self, listed_id: String) -> DoorReply<'_, Option<u64>> {
        Box::pin(self.last_use(listed_id))
    }

    fn refusals(&self, listed_id: String, rows: usize) -> DoorReply<'_, Vec<KeyRefusal>> {
        Box::pin(self.last_refusals(listed_id, rows))
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

    /// A key; `None` for a client, too.
    pub(crate) async fn named(&self, listed_id: &str) -> Result<Option<(KeyName, Session)>, StoreFault> {
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
