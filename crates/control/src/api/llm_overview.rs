//! `/tyk/llm/overview`: the APIs in front of language models, how much of their budgets is used, and what they will come to.

use super::Control;
use super::answer::{ControlAnswer, ok};
use axum::extract::State;
use serde::Serialize;
use std::sync::Arc;
use tollgate_llm_gateway::BudgetFigures;
use tollgate_model::session::LlmBudget;
use utoipa::ToSchema;

/// Before this share of a period is over, what it comes to is a guess.
const SHARE_LEAST: f64 = 0.02;

/// APIs in front of language models, and their budgets.
#[derive(Serialize, ToSchema)]
pub(super) struct LlmOverview {
    /// Those with one counter, that requests have met since the gateway's start, by API and name. Budgets of keys and policies have only `refused`.
    budgets: Vec<OverviewBudget>,
    /// The APIs in front of language models.
    apis: Vec<String>,
}

/// One budget.
#[derive(Serialize, ToSchema)]
struct OverviewBudget {
    api_id: String,
    /// Whose it is: `api`, `organisation`, `key` or `policy`.
    of: String,
    name: String,
    /// Requests that it had too little left for, since the gateway's start.
    refused: u64,
    /// How it stands; `null` for keys and policies, each of which has its own.
    #[schema(required)]
    standing: Option<BudgetStanding>,
}

/// How a budget stands in its period.
#[derive(Serialize, ToSchema)]
struct BudgetStanding {
    /// `tokens`, `prompt_tokens`, `completion_tokens`, `usd` or `requests`.
    unit: &'static str,
    /// `minute`, `hour`, `day` or `month`.
    per: &'static str,
    soft: bool,
    max: f64,
    /// Spent, or held for answers in flight.
    used: f64,
    left: f64,
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
    security(("secret" = ["viewer"])),
    responses((status = 200, body = LlmOverview, description = "The APIs and budgets."))
)]
pub(super) async fn overview(State(control): State<Arc<Control>>) -> ControlAnswer {
    let now_unix_s = tollgate_clock::unix_s();
    let apis = control.shared.registry.all_llm_figures();
    let all = apis.iter().flat_map(|(api, figures)| figures.all_budgets().into_iter().map(move |budget| (api, budget)));
    let mut budgets: Vec<OverviewBudget> = all
        .map(|(api, ((of, name), figures))| OverviewBudget {
            api_id: api.clone(),
            of,
            name,
            refused: figures.refused(),
            standing: standing(&figures, now_unix_s),
        })
        .collect();
    budgets.sort_by(|a, b| (&a.api_id, &a.of, &a.name).cmp(&(&b.api_id, &b.of, &b.name)));
    let mut apis: Vec<String> = apis.iter().map(|(api, _)| api.clone()).collect();
    apis.sort();
    ok(LlmOverview { budgets, apis })
}

fn standing(figures: &BudgetFigures, now_unix_s: u64) -> Option<BudgetStanding> {
    let (max, used, unit) = figures.standing(now_unix_s)?;
    let LlmBudget { per, soft, .. } = figures.rule()?;
    let (to, length_s) = per.around(now_unix_s);
    let from = to.saturating_sub(length_s);
    let share = now_unix_s.saturating_sub(from) as f64 / length_s as f64;
    let forecast = (share >= SHARE_LEAST).then(|| used / share);
    Some(BudgetStanding { unit, per: per.name(), soft, max, used, left: (max - used).max(0.0), from, to, forecast })
}
