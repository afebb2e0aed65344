//! `/tyk/apis/{id}/chain`: what the requests of an API pass, in order, and what it costs.

use super::Control;
use super::answer::{ControlAnswer, no_such_api, ok};
use super::failures::NoSuchApi;
use super::parameters::ApiId;
use crate::report::middleware_times;
use axum::extract::{Path, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_data::exchange::{ChainLink, ChainPhase};
use utoipa::ToSchema;

/// The chains of an API.
#[derive(Serialize, ToSchema)]
#[schema(as = Chain)]
pub(super) struct ChainAnswer {
    api_id: String,
    /// The gateway that measured.
    node: String,
    /// The chain of the first version.
    middlewares: Vec<ChainStep>,
    versions: Vec<VersionChain>,
    /// What the times are of: `all_apis`, the requests of all APIs on this gateway that the middleware handled.
    sampled: &'static str,
}

/// The chain of a version.
#[derive(Serialize, ToSchema)]
struct VersionChain {
    /// Name of the version; empty for an API without versions.
    name: String,
    middlewares: Vec<ChainStep>,
}

/// One middleware.
#[derive(Clone, Serialize, ToSchema)]
struct ChainStep {
    name: &'static str,
    #[schema(inline)]
    phase: ChainPhase,
    /// Requests that were timed since the start: one in 1024.
    samples: u64,
    /// `null` without a sample.
    #[schema(required)]
    mean_ns: Option<u64>,
}

/// The middlewares that requests of an API pass, with what they cost
///
/// In order, for each version that the API serves itself. Times are means of samples from all APIs on the gateway that is asked.
#[utoipa::path(
    get, path = "/tyk/apis/{id}/chain", tag = "APIs", operation_id = "getChain",
    security(("secret" = ["viewer", "scope:api"])),
    params(ApiId),
    responses(
        (status = 200, body = ChainAnswer, description = "The chains."),
        NoSuchApi,
    )
)]
pub(super) async fn chain(State(control): State<Arc<Control>>, Path(ApiId { id }): Path<ApiId>) -> ControlAnswer {
    let snapshot = control.shared.current.load_full();
    let Some(api) = snapshot.api(&id) else { return no_such_api() };
    let times = middleware_times(&control.shared);
    let step = |link: &ChainLink, times: &BTreeMap<&'static str, (u64, u64)>| {
        let about = link.about;
        let (samples, ns) = times.get(about.name).copied().unwrap_or_default();
        ChainStep { name: about.name, phase: link.phase, samples, mean_ns: ns.checked_div(samples) }
    };
    let versions: Vec<VersionChain> = api
        .versions
        .all()
        .iter()
        .map(|version| VersionChain {
            name: version.terms.name.clone(),
            middlewares: version.chain.iter().map(|link| step(link, &times)).collect(),
        })
        .collect();
    ok(ChainAnswer {
        api_id: id,
        node: control.shared.observer.node().to_owned(),
        middlewares: versions.first().map(|version| version.middlewares.clone()).unwrap_or_default(),
        versions,
        sampled: "all_apis",
    })
}
