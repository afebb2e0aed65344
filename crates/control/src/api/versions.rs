//! Versions that are separate APIs: `/tyk/apis/{id}/versions`, and the effect of the parameters `base_api_id`,
//! `base_api_version_name`, `new_version_name` and `set_default` of a new API on its base API.

use super::Control;
use super::answer::{ControlAnswer, error, no_such_api, ok};
use super::failures::NoSuchApi;
use super::parameters::ApiId;
use super::scoping::Reach;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_data::snapshot::{CompiledApi, Snapshot};
use utoipa::ToSchema;

/// Name of the base API among its versions.
const SELF: &str = "self";

/// The versions of an API.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Versions)]
pub(super) struct VersionList {
    #[schema(inline)]
    status: ListStatus,
    apis: Vec<ListedVersion>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ListStatus {
    Success,
}

/// One version of an API.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListedVersion {
    /// Id of the version, which is a separate API.
    id: String,
    /// Name of that API.
    name: String,
    /// Name of the version in requests.
    version_name: String,
    internal: bool,
    /// When the version expires; empty for never.
    expiration_date: String,
    /// Whether requests that name no version get this one.
    is_default_version: bool,
}

/// List the versions of an API that are separate APIs
#[utoipa::path(
    get, path = "/tyk/apis/{id}/versions", tag = "APIs", operation_id = "listVersions",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ApiId,
        ("searchText" = Option<String>, Query, description = "Part of the version's name, in any letter case."),
        ("accessType" = Option<String>, Query, description = "Only these."),
    ),
    responses(
        (status = 200, body = VersionList, description = "The versions; the API itself comes first."),
        NoSuchApi,
    )
)]
pub(super) async fn list(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(ApiId { id }): Path<ApiId>,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let snapshot = control.shared.current.load();
    let Some(base) = snapshot.api(&id).filter(|api| reach.has_api(api)) else { return no_such_api() };
    let text = query.get("searchText").map(|text| text.to_lowercase()).unwrap_or_default();
    let access = query.get("accessType").map_or("", String::as_str);
    let is_wanted = |api: &CompiledApi, name: &str| match access {
        "internal" if !api.internal => false,
        "external" if api.internal => false,
        _ => name.to_lowercase().contains(&text),
    };
    let definition = base.raw.get("definition");
    let field = |name: &str| definition.and_then(|definition| definition.get(name)?.as_str()).unwrap_or_default();
    let (own_name, default) = (field("name"), field("default"));
    let describe = |api: &CompiledApi, name: &str, is_default_version: bool| ListedVersion {
        id: api.id.clone(),
        name: api.name.clone(),
        version_name: name.to_owned(),
        internal: api.internal,
        expiration_date: api.raw.get("expiration").and_then(Value::as_str).unwrap_or_default().to_owned(),
        is_default_version,
    };
    let mut children: Vec<(&String, &Arc<CompiledApi>)> = children(base)
        .filter_map(|(name, id)| Some((name, snapshot.api(id)?)))
        .filter(|(name, api)| api.id != base.id && reach.has_api(api) && is_wanted(api, name))
        .collect();
    children.sort_by_key(|(name, _)| *name);
    let own_is_default = default.is_empty() || default == SELF || default == own_name;
    let own = is_wanted(base, own_name).then(|| describe(base, own_name, own_is_default));
    let apis = own.into_iter().chain(children.into_iter().map(|(name, api)| describe(api, name, name == default))).collect();
    ok(VersionList { status: ListStatus::Success, apis })
}

/// Names and ids of the APIs that are versions of an API.
fn children(base: &CompiledApi) -> impl Iterator<Item = (&String, &str)> {
    let versions = base.raw.get("definition").and_then(|definition| definition.get("versions")?.as_object());
    versions.into_iter().flatten().filter_map(|(name, id)| Some((name, id.as_str()?)))
}

/// The API that lists another one as its version.
pub(super) fn base_of<'s>(snapshot: &'s Snapshot, id: &str) -> Option<&'s Arc<CompiledApi>> {
    snapshot.apis.iter().find(|base| base.id != id && children(base).any(|(_, child)| child == id))
}

/// Parameters that make a new API a version of another.
#[derive(Clone)]
pub(super) struct NewVersion {
    /// Id of the base API.
    pub base: String,
    base_name: Option<String>,
    name: String,
    is_default: bool,
}

impl NewVersion {
    /// Reads the parameters of a request, if present.
    pub(super) fn asked_for(query: &HashMap<String, String>, snapshot: &Snapshot) -> Result<Option<Self>, ControlAnswer> {
        let parameter = |name: &str| query.get(name).filter(|value| !value.is_empty()).cloned();
        let Some(base) = parameter("base_api_id") else { return Ok(None) };
        let Some(name) = parameter("new_version_name") else {
            return Err(error(StatusCode::UNPROCESSABLE_ENTITY, "The new version name is required"));
        };
        let Some(api) = snapshot.api(&base) else {
            return Err(error(StatusCode::BAD_REQUEST, format!("{base} is not a valid Base API version")));
        };
        let base_name = parameter("base_api_version_name");
        let has_name = api.raw.pointer("/definition/name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
        if base_name.is_none() && !has_name {
            let message = format!("you need to provide a version name for the new Base API: {base}");
            return Err(error(StatusCode::BAD_REQUEST, message));
        }
        let is_default = query.get("set_default").is_some_and(|value| value == "true");
        Ok(Some(NewVersion { base, base_name, name, is_default }))
    }

    /// The definition of the base API with the new version, whose id is `id`.
    pub(super) fn added_to(&self, base: &Value, id: &str) -> Value {
        let mut base = base.clone();
        let Some(definition) = object_in(&mut base, "definition") else { return base };
        definition.insert("enabled".to_owned(), true.into());
        definition.insert("base_id".to_owned(), self.base.as_str().into());
        if let Some(name) = &self.base_name {
            definition.insert("name".to_owned(), name.as_str().into());
        }
        for (field, value) in [("key", "x-api-version"), ("location", "header"), ("default", SELF)] {
            if definition.get(field).and_then(Value::as_str).is_none_or(str::is_empty) {
                definition.insert(field.to_owned(), value.into());
            }
        }
        if self.is_default {
            definition.insert("default".to_owned(), self.name.as_str().into());
        }
        if let Some(versions) = base.get_mut("definition").and_then(|definition| object_in(definition, "versions")) {
            versions.insert(self.name.clone(), id.into());
        }
        base
    }
}

/// The definition of the base API without the version `gone`; `None` if it has no such version.
pub(super) fn without(base: &CompiledApi, gone: &str) -> Option<Value> {
    let names: Vec<&String> = children(base).filter(|(_, id)| *id == gone && base.id != gone).map(|(name, _)| name).collect();
    if names.is_empty() {
        return None;
    }
    let mut changed = base.raw.clone();
    let definition = object_in(&mut changed, "definition")?;
    if definition.get("default").and_then(Value::as_str).is_some_and(|default| names.iter().any(|name| *name == default)) {
        definition.insert("default".to_owned(), SELF.into());
    }
    if let Some(Value::Object(versions)) = definition.get_mut("versions") {
        versions.retain(|name, _| !names.contains(&name));
    }
    Some(changed)
}

/// The object under a name, created if missing; `None` if `value` is not an object.
fn object_in<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    let member = value.as_object_mut()?.entry(name).or_insert(Value::Null);
    if !member.is_object() {
        *member = json!({});
    }
    member.as_object_mut()
}
