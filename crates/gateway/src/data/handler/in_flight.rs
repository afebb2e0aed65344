//! What is kept of an exchange while its upstream works.

use crate::data::breaker::Passage;
use crate::data::gateway_state::GatewayState;
use crate::data::snapshot::{ApiVersion, CompiledApi, CoreSnapshot, Versions};
use crate::data::upstream::Upstream;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_engine::{FaultKind, Moment};

/// What an exchange is counted as whose client did not wait for the answer; no client sees it.
const CLIENT_GONE: u16 = 499;

/// An exchange that was sent on. Holds the snapshot that decided about it.
pub(super) struct InFlight {
    pub snapshot: Rc<CoreSnapshot>,
    pub place: VersionPlace,
    /// The versions that sent it on to another API.
    pub looped_through: Vec<VersionPlace>,
    pub chosen: Chosen,
    pub breaker: Option<Passage>,
    /// The request's content type if it is XML: refusals are XML then too.
    pub xml_type: Option<Box<str>>,
    pub began: Moment,
    /// When it was sent on, if the client will be told.
    pub sent: Option<Moment>,
    /// Number of the method among those that are told apart.
    pub method: usize,
    /// Status of the answer; 0 before there is one.
    pub status: u16,
    /// What the upstream answered; 0 for nothing.
    pub upstream_status: u16,
    /// What went wrong.
    pub failed: Option<FaultKind>,
}

/// Where an exchange goes. What the version lists is found there again: holding it would touch a counter that all cores touch.
pub(super) enum Chosen {
    /// The version's upstream of this number.
    Listed(usize),
    /// One that a rewrite named.
    Named(Arc<Upstream>),
    /// The control plane.
    Control,
}

/// A version of an API in a snapshot.
#[derive(Clone, Copy, Default)]
pub(super) struct VersionPlace {
    pub api: usize,
    /// Among `Versions::Many`, or [`PROVIDER`].
    pub version: usize,
}

/// The number of the version that is the OAuth 2.0 provider.
pub(super) const PROVIDER: usize = usize::MAX;

impl InFlight {
    pub(super) fn api(&self) -> Option<&CompiledApi> {
        self.snapshot.apis.get(self.place.api).map(Arc::as_ref)
    }

    pub(super) fn version(&self) -> Option<&ApiVersion> {
        self.place.version(self.snapshot.apis.get(self.place.api)?)
    }

    /// A version that the exchange went through sets, removes or reads the request header of this name.
    pub(super) fn uses_header(&self, name: &str) -> bool {
        self.looped_through.iter().chain([&self.place]).any(|place| {
            let version = self.snapshot.apis.get(place.api).and_then(|api| place.version(api));
            version.is_some_and(|version| version.header_names.contains(name))
        })
    }

    /// The upstream that the exchange goes to.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        match &self.chosen {
            Chosen::Listed(index) => self.version()?.upstreams.get(*index),
            Chosen::Named(upstream) => Some(upstream),
            Chosen::Control => None,
        }
    }

    /// Notes what went wrong. `status` is what the client is told, if it was told nothing before.
    pub(super) fn fail(&mut self, kind: FaultKind, status: u16) {
        self.failed = Some(kind);
        if self.status == 0 {
            self.status = if kind == FaultKind::ClientGone { CLIENT_GONE } else { status };
        }
    }

    /// Tells the breaker how the exchange went.
    pub(super) fn record(&self, shared: &GatewayState, failed: bool) {
        if let Some(passage) = &self.breaker {
            passage.end(shared.start.elapsed(), failed);
        }
    }
}

impl VersionPlace {
    pub(super) fn version(self, api: &CompiledApi) -> Option<&ApiVersion> {
        if self.version == PROVIDER {
            return api.provider.as_ref().map(|provider| &provider.version);
        }
        match &api.versions {
            Versions::One { version, .. } | Versions::Apis { own: version, .. } => Some(version),
            Versions::Many { versions, .. } => versions.get(self.version),
            Versions::Unclear { .. } => None,
        }
    }
}
