//! `/tyk/llm/overview`: the APIs in front of language models, how much of their budgets is used, by teams too, and what they will come to.

use super::Control;
use super::answer::{ControlAnswer, ok};
use super::llm_budgets::{models_of_api, organisation_of_models};
use super::llm_spend::dearest_teams;
use axum::extract::State;
use futures_util::future::join_all;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_data::met_budgets::{of_api, of_organisation};
use tollgate_llm::PRICES_OF;
use tollgate_llm_gateway::{BudgetFigures, LlmFigures, MetBudget};
use tollgate_model::api::LlmGateway;
use tollgate_model::session::{BudgetHolder, LlmBudget};
use utoipa::ToSchema;

/// Before this share of a period is over, what it comes to is a guess.
const SHARE_LEAST: f64 = 0.02;
/// Teams of one API whose budgets are shown, and of all: each is a question to the store.
const TEAMS_MAX: usize = 20;
const ALL_TEAMS_MAX: usize = 100;

/// APIs in front of language models, and their budgets.
#[derive(Serialize, ToSchema)]
pub(super) struct LlmOverview {
    /// Those with one counter, by API and name. Budgets of which each holder has its own have only `refused`, once a request has met one.
    budgets: Vec<OverviewBudget>,
    /// The APIs in front of language models.
    apis: Vec<String>,
    /// The day of the built-in list prices, for models to which an API gives no price of its own.
    #[schema(example = "2025-12-01")]
    prices_of: &'static str,
}

/// One budget.
#[derive(Serialize, ToSchema)]
struct OverviewBudget {
    api_id: String,
    /// Whose it is: `api`, `organisation`, `key`, `policy`, `claim` or `metadata`.
    of: String,
    name: String,
    /// Requests that it had too little left for, since the gateway's start.
    refused: u64,
    /// How it stands; `null` where each of several holders has its own.
    #[schema(required)]
    standing: Option<BudgetStanding>,
    /// Of a budget of teams: how it stands for those that spent the most in the past 31 days, by the sums of `/tyk/llm/spend`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    teams: Vec<TeamStanding>,
}

/// How a budget stands for one team.
#[derive(Serialize, ToSchema)]
struct TeamStanding {
    /// Its name; empty for those without a team, who share one budget.
    team: String,
    standing: BudgetStanding,
}

/// How a budget stands in its period.
#[derive(Serialize, ToSchema)]
struct BudgetStanding {
    /// `tokens`, `prompt_tokens`, `completion_tokens`, `cached_tokens`, `reasoning_tokens`, `usd` or `requests`.
    unit: &'static str,
    /// `minute`, `hour`, `day` or `month`.
    per: &'static str,
    soft: bool,
    max: f64,
    /// Spent, or held for answers in flight, by all gateways on one Redis; `null` while that does not answer.
    #[schema(required)]
    used: Option<f64>,
    /// `null` as `used`.
    #[schema(required)]
    left: Option<f64>,
    /// Start of the period, in seconds since 1970.
    from: u64,
    /// Its end.
    to: u64,
    /// What is used at its end if it goes on like this; `null` at its very beginning.
    #[schema(required)]
    forecast: Option<f64>,
}

/// APIs in front of language models
///
/// With how much of each budget is used, and what it comes to at the end of its period.
#[utoipa::path(
    get, path = "/tyk/llm/overview", tag = "Figures", operation_id = "getLlmOverview",
    security(("secret" = ["viewer", "scope:closed"])),
    responses((status = 200, body = LlmOverview, description = "The APIs and budgets."))
)]
pub(super) async fn overview(State(control): State<Arc<Control>>) -> ControlAnswer {
    let now_unix_s = tollgate_clock::unix_s();
    let mut budgets = Vec::new();
    let mut apis: Vec<(String, Arc<LlmFigures>)> = control.shared.registry.all_llm_figures();
    apis.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut teams_left = ALL_TEAMS_MAX;
    for (api, figures) in &apis {
        let models = models_of_api(&control, api).unwrap_or_default();
        let mut counted: BTreeMap<(String, String), Arc<BudgetFigures>> = figures.all_budgets().into_iter().collect();
        let shared = shared_budgets(&control, api, &models);
        let standings = shared.iter().map(|met| standing(&control, met, now_unix_s));
        for (met, standing) in shared.iter().zip(join_all(standings).await) {
            let refused = counted.remove(&(met.of.clone(), met.budget.name.clone())).map_or(0, |figures| figures.refused());
            budgets.push(OverviewBudget {
                api_id: api.clone(),
                of: met.of.clone(),
                name: met.budget.name.clone(),
                refused,
                standing: Some(standing),
                teams: Vec::new(),
            });
        }
        for (met, teams) in team_standings(&control, api, &models, (now_unix_s, &mut teams_left)).await {
            let refused = counted.remove(&(met.of.clone(), met.budget.name.clone())).map_or(0, |figures| figures.refused());
            budgets.push(OverviewBudget { api_id: api.clone(), of: met.of, name: met.budget.name, refused, standing: None, teams });
        }
        budgets.extend(counted.into_iter().map(|((of, name), figures)| OverviewBudget {
            api_id: api.clone(),
            of,
            name,
            refused: figures.refused(),
            standing: None,
            teams: Vec::new(),
        }));
    }
    budgets.sort_by(|a, b| (&a.api_id, &a.of, &a.name).cmp(&(&b.api_id, &b.of, &b.name)));
    ok(LlmOverview { budgets, apis: apis.into_iter().map(|(api, _)| api).collect(), prices_of: PRICES_OF })
}

/// The budgets with one counter that requests to an API meet: its own, and its organisation's.
fn shared_budgets(control: &Control, api: &str, models: &LlmGateway) -> Vec<MetBudget> {
    let own = models.budgets.iter().filter(|budget| matches!(budget.of, None | Some(BudgetHolder::Api)));
    let mut shared: Vec<MetBudget> = own.map(|budget| of_api(api, budget, "", |_| String::new())).collect();
    if let Some(org) = organisation_of_models(control, api) {
        let of_org = control.shared.keys.with_org(&org, |org| org.session.llm_budgets.clone()).unwrap_or_default();
        shared.extend(of_org.iter().map(|budget| of_organisation(&org, budget)));
    }
    shared
}

/// The budgets of an API that each of its teams has, and how they stand for the dearest ones. Teams by something else than sums of spend are not known.
async fn team_standings(
    control: &Control,
    api: &str,
    models: &LlmGateway,
    (now_unix_s, left): (u64, &mut usize),
) -> Vec<(MetBudget, Vec<TeamStanding>)> {
    let Some(holder) = models.team_holder() else { return Vec::new() };
    let budgets: Vec<&LlmBudget> = models.budgets.iter().filter(|budget| budget.of.as_ref() == Some(holder)).collect();
    if budgets.is_empty() || *left == 0 {
        return Vec::new();
    }
    let teams = dearest_teams(control, api, TEAMS_MAX).await;
    let mut found = Vec::new();
    for budget in budgets {
        let teams: Vec<String> = teams.iter().take(*left).cloned().collect();
        *left -= teams.len();
        let of_teams: Vec<MetBudget> = teams.iter().map(|team| of_api(api, budget, "", |_| team.clone())).collect();
        let standings = join_all(of_teams.iter().map(|met| standing(control, met, now_unix_s))).await;
        let teams = teams.into_iter().zip(standings).map(|(team, standing)| TeamStanding { team, standing }).collect();
        found.push((of_api(api, budget, "", |_| String::new()), teams));
    }
    found
}

async fn standing(control: &Control, met: &MetBudget, now_unix_s: u64) -> BudgetStanding {
    let LlmBudget { max, unit, per, soft, .. } = met.budget;
    let used = met.spent(&*control.shared.keys).await.map(|used| used.spent);
    let (to, length_s) = per.around(now_unix_s);
    let from = to.saturating_sub(length_s);
    let share = now_unix_s.saturating_sub(from) as f64 / length_s as f64;
    let forecast = used.filter(|_| share >= SHARE_LEAST).map(|used| used / share);
    let left = used.map(|used| (max - used).max(0.0));
    BudgetStanding { unit: unit.name(), per: per.name(), soft, max, used, left, from, to, forecast }
}
