//! The configuration of a running gateway: as one document, or collected from the endpoints that Tyk has too.

use super::PartName;
use super::object::{PartKind, api_id, policy_id};
use crate::ask::{CommandFailure, Gateway, accepted, segment};
use serde_json::Value;
use std::collections::BTreeMap;
use tollgate_admin::mask::mask_named;

/// The objects of a gateway.
pub(super) struct LiveConfiguration {
    /// The digest to make a change against; `None` if the gateway can't change everything at once.
    digest: Option<String>,
    objects: BTreeMap<(PartKind, String), LiveObject>,
    /// Errors in the gateway's files.
    pub problems: Vec<String>,
    /// What is not known.
    pub notes: Vec<String>,
    /// Kinds of which the gateway can have no objects: it says nothing about those in a directory.
    pub without: Vec<PartKind>,
}

/// An object of a gateway.
pub(super) struct LiveObject {
    /// With masked secrets.
    pub document: Value,
    /// With secrets, if the gateway shows them.
    pub unmasked: Option<Value>,
    /// Whether the gateway has it, but its file has errors by now.
    pub is_broken: bool,
}

impl LiveConfiguration {
    pub(super) fn read(gateway: &Gateway) -> Result<Self, CommandFailure> {
        match gateway.ask("GET", "/tyk/configuration", None)? {
            (404, _) => one_by_one(gateway),
            answer => Ok(LiveConfiguration::of_document(&accepted(answer)?)),
        }
    }

    /// What the document of a gateway says.
    pub(super) fn of_document(document: &Value) -> LiveConfiguration {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut objects = BTreeMap::new();
        for kind in PartKind::ALL {
            for object in document.get(kind.plural()).and_then(Value::as_array).into_iter().flatten() {
                // A certificate is described by its members; others have a document.
                let inner = object.get("document").unwrap_or(object).clone();
                let is_broken = object.get("broken") == Some(&Value::Bool(true));
                objects.insert((kind, text(object, "id")), LiveObject { document: inner, unmasked: None, is_broken });
            }
        }
        let problems = document.get("problems").and_then(Value::as_array).into_iter().flatten();
        LiveConfiguration {
            digest: Some(text(document, "digest")),
            objects,
            problems: problems.filter_map(Value::as_str).map(str::to_owned).collect(),
            notes: Vec::new(),
            without: PartKind::ALL.into_iter().filter(|kind| document.get(kind.plural()).is_none()).collect(),
        }
    }

    pub(super) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    pub(super) fn get(&self, kind: PartKind, id: &str) -> Option<&LiveObject> {
        self.objects.get(&(kind, id.to_owned()))
    }

    /// All objects, in the order of their kinds and ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PartKind, &str, &LiveObject)> {
        self.objects.iter().map(|((kind, id), object)| (*kind, id.as_str(), object))
    }

    fn insert(&mut self, kind: PartKind, id: &str, document: Value) {
        let mut masked = document.clone();
        mask_named(&mut masked, &());
        let object = LiveObject { document: masked, unmasked: Some(document), is_broken: false };
        self.objects.insert((kind, id.to_owned()), object);
    }
}

/// The same from the endpoints for single objects.
fn one_by_one(gateway: &Gateway) -> Result<LiveConfiguration, CommandFailure> {
    let note =
        "this gateway can't change everything at once: changes are made one by one, and a failure leaves those before it in place"
            .to_owned();
    let without = PartKind::ALL.into_iter().filter(|kind| kind.part() == PartName::Portal).collect();
    let mut live = LiveConfiguration { digest: None, objects: BTreeMap::new(), problems: Vec::new(), notes: vec![note], without };
    let list = |path: &str| -> Result<Vec<Value>, CommandFailure> {
        let answer = gateway.find(path)?.unwrap_or_default();
        Ok(answer.as_array().cloned().unwrap_or_default())
    };
    // In the list of classic definitions, those of OpenAPI documents are their classic form.
    let classic = list("/tyk/apis?include_types=mcp")?.into_iter().filter(|api| api.get("is_oas") != Some(&Value::Bool(true)));
    let documents = list("/tyk/apis/oas")?;
    let mut proxies = list("/tyk/mcps")?;
    proxies.iter_mut().for_each(tollgate_openapi::mcp_mark::add);
    let mut with_clients = Vec::new();
    for api in classic.chain(documents).chain(proxies) {
        let (_, id) = api_id(&api);
        let in_openapi = super::object::is_openapi(&api);
        if in_openapi || api.get("use_oauth2") == Some(&Value::Bool(true)) {
            with_clients.push(id.clone());
        }
        live.insert(PartKind::Api, &id, api);
    }
    for policy in list("/tyk/policies")? {
        live.insert(PartKind::Policy, &policy_id(&policy), policy);
    }
    let certificates = gateway.find("/tyk/certs")?.unwrap_or_default();
    for id in certificates.get("certs").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        live.insert(PartKind::Certificate, id, serde_json::json!({"id": id}));
    }
    for api in with_clients {
        for mut client in list(&format!("/tyk/oauth/clients/{}", segment(&api)))? {
            let id = client.get("client_id").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Value::Object(members) = &mut client {
                members.shift_remove("secret");
            }
            live.insert(PartKind::Client, &format!("{api}/{id}"), client);
        }
    }
    Ok(live)
}
