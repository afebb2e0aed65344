//! `/tyk/list/clients`: a page of the OAuth clients of all APIs. Each API's clients are a question to the store, so a search may end before it has
//! seen all APIs; `next` continues it.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::lists::{Asked, ListPage};
use super::scoping::Reach;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for a search, as for other lists.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(150);
/// What `next` begins with when the search has not seen all APIs.
const FROM_API: &str = "api.";

/// A page of the OAuth clients of all APIs
///
/// Rows have `id`, `api_id`, `description`, `redirect_uri`, `policy_id`, `public`; secrets are not among them. If the time for a search ends before all APIs
/// are seen, the rows are sorted within their answer only, `total` is null, and `next` continues.
#[utoipa::path(
    get, path = "/tyk/list/clients", tag = "Lists", operation_id = "searchClients",
    security(("secret" = ["viewer", "scope:reached"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the id, API, description, redirect URI or policy, in any letter case.", example = "shop"),
        ("sort" = Option<String>, Query, description = "`id`, `api_id`, `description` or `policy_id`; `-` before it for descending.", example = "api_id"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn clients(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Query(query): Query<HashMap<String, String>>,
) -> ControlAnswer {
    let asked = match Asked::read(&query, &["id", "api_id", "description", "policy_id"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let first = match asked.after.strip_prefix(FROM_API).map(str::parse::<usize>) {
        None => 0,
        Some(Ok(first)) => first,
        Some(Err(_)) => return error(StatusCode::BAD_REQUEST, "after must be the next of another answer"),
    };
    let end = Instant::now() + SEARCH_TIME_MAX;
    let snapshot = control.shared.current.load_full();
    // A place in the whole sorted list is only known once all APIs are seen.
    let may_stop = asked.after.is_empty() || first > 0;
    let (mut rows, mut scanned, mut unseen) = (Vec::new(), 0, None);
    for (place, api) in snapshot.apis.iter().enumerate().skip(first).filter(|(_, api)| api.provider.is_some() && reach.has_api(api))
    {
        if may_stop && Instant::now() >= end {
            unseen = Some(place);
            break;
        }
        let org = api.raw.get("org_id").and_then(Value::as_str).unwrap_or_default();
        let clients = match control.token_store.clients(&api.id, org).await {
            Ok(clients) => clients,
            Err(fault) => return error(StatusCode::INTERNAL_SERVER_ERROR, format!("clients can't be listed: {fault}")),
        };
        scanned += clients.len();
        for client in clients {
            let texts = [&client.id, &api.id, &client.description, &client.redirect_uri, &client.policy_id];
            if asked.fits(texts.into_iter().map(String::as_str)) {
                rows.push(json!({
                    "id": client.id, "api_id": api.id, "description": client.description, "redirect_uri": client.redirect_uri,
                    "policy_id": client.policy_id, "public": client.is_public,
                }));
            }
        }
    }
    if unseen.is_none() && first == 0 {
        return asked.page(rows, scanned);
    }
    asked.sort(&mut rows);
    let next = unseen.map(|place| format!("{FROM_API}{place}")).unwrap_or_default();
    ok(ListPage { rows, next, total: None, scanned })
}
