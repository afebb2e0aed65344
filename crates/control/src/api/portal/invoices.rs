//! `/tyk/portal/teams/{team}/invoices`: what teams called in a month, and what it costs.

use super::of;
use crate::api::Control;
use crate::api::answer::{ControlAnswer, Error, error, ok};
use crate::api::failures::StoreFailed;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::IntoParams;

/// A team in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct TeamPath {
    /// Id of a team.
    #[param(example = "0123456789abcdef0123456789abcdef", min_length = 1)]
    pub team: String,
}

/// A month of a team in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(in crate::api) struct MonthPath {
    /// Id of a team.
    #[param(example = "0123456789abcdef0123456789abcdef", min_length = 1)]
    pub team: String,
    /// A month in UTC.
    #[param(example = "2026-11", min_length = 1)]
    pub month: String,
}

/// Months of which a team has an invoice
///
/// A month has one if an application had a plan with a price in it. They are kept for two years.
#[utoipa::path(
    get, path = "/tyk/portal/teams/{team}/invoices", tag = "Portal", operation_id = "listPortalInvoices",
    security(("secret" = ["viewer", "scope:closed"])),
    params(TeamPath),
    responses(
        (status = 200, body = Vec<String>, description = "The months, the latest first."),
        (status = 404, body = Error, description = "There is no such team, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn months(State(control): State<Arc<Control>>, Path(TeamPath { team }): Path<TeamPath>) -> ControlAnswer {
    of(&control, async |portal| Ok(ok(portal.invoice_months(&team).await?))).await
}

/// What a team called in a month, and what it costs
///
/// The present month is counted until now. Amounts are exact decimals.
#[utoipa::path(
    get, path = "/tyk/portal/teams/{team}/invoices/{month}", tag = "Portal", operation_id = "getPortalInvoice",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        MonthPath,
        ("format" = Option<String>, Query, description = "`json` or `csv`."),
    ),
    responses(
        (status = 200, description = "A line for each plan with a price that an application had, and the sums by currency. A month without any has no lines.", content((Object = "application/json"), (String = "text/csv"))),
        (status = 400, body = Error, description = "The month or the format is none."),
        (status = 404, body = Error, description = "There is no such team, or no portal."),
        StoreFailed,
    )
)]
pub(in crate::api) async fn invoice(
    State(control): State<Arc<Control>>,
    Path(MonthPath { team, month }): Path<MonthPath>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let is_csv = match query.get("format").map_or("json", String::as_str) {
        "json" => false,
        "csv" => true,
        other => return error(StatusCode::BAD_REQUEST, format!("format is {other:?}; it must be json or csv")).into_response(),
    };
    let mut file = None;
    let answer = of(&control, async |portal| {
        let invoice = portal.invoice(&team, &month).await?;
        if is_csv {
            file = Some(invoice.csv());
        }
        Ok(ok(invoice))
    })
    .await;
    let name = "attachment; filename=\"invoice.csv\"";
    match file {
        Some(csv) => ([(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, name)], csv).into_response(),
        None => answer.into_response(),
    }
}
