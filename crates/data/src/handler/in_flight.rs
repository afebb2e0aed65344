//! State of an exchange while its upstream works.

use crate::balanced::TargetTry;
use crate::breaker::{BreakerChange, Passage};
use crate::error_overrides::CompiledOverrides;
use crate::gateway_state::GatewayState;
use crate::refusal::Refusal;
use crate::snapshot::{ApiVersion, CompiledApi, CoreSnapshot, Versions};
use crate::upstream::Upstream;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_clock::MonoTime;
use tollgate_engine::FaultKind;

/// Status under which an exchange is counted when its client disconnected before the answer; no client sees it.
const CLIENT_GONE: u16 = 499;

/// An exchange that was forwarded. It holds the snapshot that it was routed with.
pub(super) struct InFlight {
    pub snapshot: Rc<CoreSnapshot>,
    pub place: VersionPlace,
    /// The versions that looped it to another API.
    pub looped_through: Vec<VersionPlace>,
    pub chosen: Chosen,
    pub breaker: Option<Passage>,
    /// The request's content type if it is XML; refusals are XML then as well.
    pub xml_type: Option<Box<str>>,
    pub began: MonoTime,
    /// When it was forwarded, if the client is told the upstream's time.
    pub sent: Option<MonoTime>,
    /// Index of the method among those that are counted separately.
    pub method: usize,
    /// Status of the answer; 0 before there is one.
    pub status: u16,
    /// Status of the upstream's answer; 0 without one.
    pub upstream_status: u16,
    /// The fault, if there was one.
    pub failed: Option<FaultKind>,
    /// The refusal that a step has put in the response's place, or that the upstream is to tell.
    pub refused: Option<Box<Refusal>>,
}

/// Target of an exchange. A listed upstream is stored by index: a reference would touch a counter that all cores share.
pub(super) enum Chosen {
    /// The version's upstream with this index.
    Listed(usize),
    /// An upstream that a rewrite selected.
    Named(Arc<Upstream>),
    /// A target that rules chose.
    Balanced(Box<TargetTry>),
    /// The control plane.
    Control,
}

/// A version of an API in a snapshot.
#[derive(Clone, Copy, Default)]
pub(super) struct VersionPlace {
    pub api: usize,
    /// Index in `Versions::Many` or `Versions::Rules`, or [`PROVIDER`] or [`MIRROR`].
    pub version: usize,
}

/// Version index of the OAuth 2.0 provider.
pub(super) const PROVIDER: usize = usize::MAX;
/// The same of the endpoints that answer what the upstream says of itself.
pub(super) const MIRROR: usize = usize::MAX - 1;

impl InFlight {
    pub(super) fn api(&self) -> Option<&CompiledApi> {
        self.snapshot.apis.get(self.place.api).map(Arc::as_ref)
    }

    /// The rules for errors of its API.
    pub(super) fn error_overrides(&self) -> Option<&CompiledOverrides> {
        self.api()?.error_overrides.as_deref()
    }

    pub(super) fn version(&self) -> Option<&ApiVersion> {
        self.place.version(self.snapshot.apis.get(self.place.api)?)
    }

    /// Whether a version that the exchange went through sets, removes or reads this request header.
    pub(super) fn uses_header(&self, name: &str) -> bool {
        self.looped_through.iter().chain([&self.place]).any(|place| {
            let version = self.snapshot.apis.get(place.api).and_then(|api| place.version(api));
            version.is_some_and(|version| version.header_names.contains(name))
        })
    }

    /// The upstream of the exchange.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        match &self.chosen {
            Chosen::Listed(index) => self.version()?.upstreams.get(*index),
            Chosen::Named(upstream) => Some(upstream),
            Chosen::Balanced(taken) => taken.upstream(),
            Chosen::Control => None,
        }
    }

    /// Notes a fault. `status` is the client's status, unless it has received one before.
    pub(super) fn fail(&mut self, kind: FaultKind, status: u16) {
        self.failed = Some(kind);
        if self.status == 0 {
            self.status = if kind == FaultKind::ClientGone { CLIENT_GONE } else { status };
        }
    }

    /// Reports the outcome of the exchange to the breaker.
    pub(super) fn record(&self, shared: &GatewayState, failed: bool) {
        if let Some(passage) = &self.breaker
            && let Some(change) = passage.end(shared.start.elapsed(), failed)
            && let Some(events) = self.api().and_then(|api| api.events.as_ref())
        {
            match change {
                BreakerChange::Opened => events.breaker_opened(passage, &shared.settings.watch.events),
                BreakerChange::Closed => events.breaker_closed(&passage.breaker().place),
            }
        }
    }
}

impl VersionPlace {
    pub(super) fn version(self, api: &CompiledApi) -> Option<&ApiVersion> {
        if self.version == PROVIDER {
            return api.provider.as_ref().map(|provider| &provider.version);
        }
        if self.version == MIRROR {
            return api.mirrored.as_ref().map(|mirror| &mirror.version);
        }
        match &api.versions {
            Versions::One { version, .. } | Versions::Apis { own: version, .. } => Some(version),
            Versions::Many { versions, .. } | Versions::Rules { rules: versions, .. } => versions.get(self.version),
            Versions::Unclear { .. } => None,
        }
    }
}
