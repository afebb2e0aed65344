//! `/tyk/llm/budgets`: what is spent of budgets of language models, and their reset. Budgets themselves are members of definitions, sessions and policies.

use super::Control;
use super::answer::{ControlAnswer, Error, Success, error, message, ok};
use super::failures::StoreFailed;
use super::keys::{KeyQuery, live};
use crate::figures_question::FiguresQuestion;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tollgate_data::met_budgets::{caller_digest, of_api, of_key, of_organisation, of_policy};
use tollgate_llm_gateway::MetBudget;
use tollgate_model::api::LlmGateway;
use tollgate_model::session::{BudgetHolder, LlmBudget};
use utoipa::{IntoParams, ToSchema};

/// Budgets of language models.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetReport {
    /// The budgets.
    #[schema(inline)]
    budgets: Vec<ShownBudget>,
}

/// One budget.
#[derive(Serialize, ToSchema)]
struct ShownBudget {
    /// Its name.
    name: String,
    /// Whose it is: `api`, `key`, `policy`, `organisation`, `claim` or `metadata`.
    of: String,
    /// The API, policy or organisation that has it; empty for a key's own.
    holder: String,
    /// How much may be spent in a period.
    max: f64,
    /// What is counted.
    unit: String,
    /// The period.
    per: String,
    /// Whether answers that have begun may exceed it.
    soft: bool,
    /// What is spent in this period, with what is held for answers in flight and, on a shared Redis, what gateways hold for requests of the next
    /// seconds; more than `max` where a soft budget was exceeded. Null where each of several holders has its own.
    spent: Option<f64>,
    /// When the period ends, in seconds since 1970; null as `spent`.
    ends: Option<u64>,
}

/// The budget in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct BudgetName {
    /// Name of a budget.
    #[param(example = "team", min_length = 1)]
    pub name: String,
}

/// A budget of what a request names.
struct Chosen {
    holder: String,
    met: MetBudget,
    /// Whether one counter is meant, and whether a reset of what the request names is its own.
    is_one: bool,
    is_own: bool,
}

/// Budgets of language models and what is spent of them
///
/// The query names an API, a policy, an organisation, or a key, whose requests meet budgets of all of these. Gateways on one Redis answer for all.
#[utoipa::path(
    get, path = "/tyk/llm/budgets", tag = "Language models", operation_id = "listBudgets",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("api_id" = Option<String>, Query, description = "Those of an API."),
        ("value" = Option<String>, Query, description = "With `api_id`: a value of the claim or metadata by which the API tells holders apart."),
        ("policy_id" = Option<String>, Query, description = "Those of a policy.", example = "gold"),
        ("org_id" = Option<String>, Query, description = "Those of an organisation; with `key`, the key's."),
        ("key" = Option<String>, Query, description = "Those that requests with a key meet."),
        ("hashed" = Option<String>, Query, description = "`true`: `key` is the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: `key` is the key's `id` of `/tyk/list/keys`."),
    ),
    responses(
        (status = 200, body = BudgetReport, description = "The budgets."),
        (status = 400, body = Error, description = "The query names nothing, or too much."),
        (status = 404, body = Error, description = "What the query names does not exist."),
        StoreFailed,
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>, Query(query): KeyQuery) -> ControlAnswer {
    let chosen = match chosen(&control, &query).await {
        Ok(chosen) => chosen,
        Err(answer) => return answer,
    };
    let mut budgets = Vec::new();
    for Chosen { holder, met, is_one, .. } in chosen {
        let used = match is_one {
            true => match met.spent(&*control.shared.keys).await {
                Some(used) => Some(used),
                None => return silent(),
            },
            false => None,
        };
        let budget = &met.budget;
        budgets.push(ShownBudget {
            name: budget.name.clone(),
            of: met.of,
            holder,
            max: budget.max,
            unit: budget.unit.name().to_owned(),
            per: budget.per.name().to_owned(),
            soft: budget.soft,
            spent: used.map(|used| used.spent),
            ends: used.map(|used| used.ends_unix_s),
        });
    }
    ok(BudgetReport { budgets })
}

/// Reset a budget of language models
///
/// What was spent in this period is forgotten, by all gateways on one Redis, with what they hold for later requests. What requests hold at that moment counts for nothing later. With a key, its own
/// budgets are reset, also those that it has from policies and APIs for itself alone; shared ones by the API, policy or organisation that has them.
#[utoipa::path(
    delete, path = "/tyk/llm/budgets/{name}", tag = "Language models", operation_id = "resetBudget",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        BudgetName,
        ("api_id" = Option<String>, Query, description = "The API that has it."),
        ("value" = Option<String>, Query, description = "With `api_id`: the value of the claim or metadata whose budget it is."),
        ("policy_id" = Option<String>, Query, description = "The policy whose keys share it.", example = "gold"),
        ("org_id" = Option<String>, Query, description = "The organisation that has it; with `key`, the key's."),
        ("key" = Option<String>, Query, description = "The key whose own it is."),
        ("hashed" = Option<String>, Query, description = "`true`: `key` is the key's hash."),
        ("by" = Option<String>, Query, description = "`id`: `key` is the key's `id` of `/tyk/list/keys`."),
    ),
    responses(
        (status = 200, body = Success, description = "Its count begins anew."),
        (status = 400, body = Error, description = "The query names nothing, or too much."),
        (status = 404, body = Error, description = "What the query names does not exist, or has no such budget of its own."),
        StoreFailed,
    )
)]
pub(super) async fn reset(
    State(control): State<Arc<Control>>,
    Path(BudgetName { name }): Path<BudgetName>,
    Query(query): KeyQuery,
) -> ControlAnswer {
    let chosen = match chosen(&control, &query).await {
        Ok(chosen) => chosen,
        Err(answer) => return answer,
    };
    let own: Vec<Chosen> = chosen.into_iter().filter(|one| one.is_one && one.is_own && one.met.budget.name == name).collect();
    if own.is_empty() {
        return error(StatusCode::NOT_FOUND, "There is no such budget");
    }
    for one in &own {
        if !one.met.reset(&*control.shared.keys).await {
            return silent();
        }
        // They forget what they hold of it at once; one that is not told does when it asks the store.
        let _ = control.nodes.ask(&FiguresQuestion::BudgetReset { counter: one.met.counter.clone() }).await;
    }
    message("budget reset").logged("reset", "budget", name)
}

/// The budgets of what a query names.
async fn chosen(control: &Control, query: &HashMap<String, String>) -> Result<Vec<Chosen>, ControlAnswer> {
    let text = |name: &str| query.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let keys = &control.shared.keys;
    let own = |holder: &str, met: MetBudget, is_one: bool| Chosen { holder: holder.to_owned(), met, is_one, is_own: true };
    match (text("key"), text("api_id"), text("policy_id"), text("org_id")) {
        (Some(key), None, None, _) => of_caller(control, key, query).await,
        (None, Some(api), None, None) => {
            let budgets = budgets_of_api(control, api).ok_or_else(|| error(StatusCode::NOT_FOUND, "API not found"))?;
            let value = text("value");
            let shown = budgets.iter().map(|budget| {
                let met = of_api(api, budget, "", |_| value.unwrap_or_default().to_owned());
                let is_one = match budget.of {
                    Some(BudgetHolder::Key) => false,
                    Some(BudgetHolder::Claim(_) | BudgetHolder::Metadata(_)) => value.is_some(),
                    _ => true,
                };
                own(api, met, is_one)
            });
            Ok(shown.collect())
        }
        (None, None, Some(policy), None) => {
            let policies = keys.policies();
            let found = policies.get(policy).ok_or_else(|| error(StatusCode::NOT_FOUND, "Policy not found"))?;
            let shown = found
                .llm_budgets
                .iter()
                .map(|budget| own(policy, of_policy(policy, budget, ""), budget.of == Some(BudgetHolder::Policy)));
            Ok(shown.collect())
        }
        (None, None, None, Some(org)) => {
            let found = keys.with_org(org, |org| org.session.llm_budgets.clone());
            let budgets = found.ok_or_else(|| error(StatusCode::NOT_FOUND, "Org not found"))?;
            Ok(budgets.iter().map(|budget| own(org, of_organisation(org, budget), true)).collect())
        }
        _ => Err(error(StatusCode::BAD_REQUEST, "The query must have one of api_id, policy_id, org_id and key")),
    }
}

/// The budgets that requests with a key meet.
async fn of_caller(control: &Control, key: &str, query: &HashMap<String, String>) -> Result<Vec<Chosen>, ControlAnswer> {
    let keys = &control.shared.keys;
    let failed = |_| error(StatusCode::INTERNAL_SERVER_ERROR, "Failed to read key");
    let found = live(keys, key, query).await.map_err(failed)?;
    let (shown, session) = found.ok_or_else(|| error(StatusCode::NOT_FOUND, "Key not found"))?;
    let caller = caller_digest(&shown);
    let mut all: Vec<Chosen> = Vec::new();
    for budget in &session.llm_budgets {
        let met = of_key(budget, &caller);
        all.push(Chosen { holder: budget.policy.clone().unwrap_or_default(), is_own: met.of == "key", met, is_one: true });
    }
    for api in session.access_rights.keys() {
        for budget in budgets_of_api(control, api).unwrap_or_default() {
            let is_one = !matches!(budget.of, Some(BudgetHolder::Claim(_)));
            let met = of_api(api, &budget, &caller, |holder| match holder {
                BudgetHolder::Metadata(name) => {
                    session.meta_data.get(name).map(tollgate_access::jwt::value_text).unwrap_or_default()
                }
                _ => String::new(),
            });
            all.push(Chosen { holder: api.clone(), is_own: met.of == "key", met, is_one });
        }
    }
    // A request meets the budgets of its API's organisation, whoever's the key is.
    let orgs: BTreeSet<String> = session.access_rights.keys().filter_map(|api| organisation_of_models(control, api)).collect();
    for org in orgs {
        let budgets = keys.with_org(&org, |org| org.session.llm_budgets.clone()).unwrap_or_default();
        let of_org = |budget| Chosen { holder: org.clone(), met: of_organisation(&org, budget), is_one: true, is_own: false };
        all.extend(budgets.iter().map(of_org));
    }
    Ok(all)
}

/// The organisation of an API in front of models; `None` for other APIs.
pub(super) fn organisation_of_models(control: &Control, id: &str) -> Option<String> {
    let snapshot = control.shared.current.load();
    let raw = &snapshot.api(id)?.raw;
    raw.pointer("/tollgate/llm").filter(|llm| !llm.is_null())?;
    Some(raw.get("org_id").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// The budgets of an API; `None` if there is no such API.
pub(super) fn budgets_of_api(control: &Control, id: &str) -> Option<Vec<LlmBudget>> {
    Some(models_of_api(control, id)?.budgets)
}

/// `tollgate.llm` of an API, without anything for other APIs; `None` if there is no such API.
pub(super) fn models_of_api(control: &Control, id: &str) -> Option<LlmGateway> {
    let snapshot = control.shared.current.load();
    let raw = snapshot.api(id)?.raw.pointer("/tollgate/llm").cloned().unwrap_or(Value::Null);
    Some(serde_json::from_value(raw).unwrap_or_default())
}

fn silent() -> ControlAnswer {
    error(StatusCode::INTERNAL_SERVER_ERROR, "The store does not answer")
}
