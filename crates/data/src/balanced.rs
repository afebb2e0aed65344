//! Upstreams of a version whose requests are distributed by rules (`tollgate.upstream`): chooses a target for each request, and another one
//! when a try fails. The state of the targets is in their pools.

use crate::backends::SharedTargets;
use crate::exchange::Exchange;
use crate::header_change::HeaderChange;
use crate::refusal::Refusal;
use crate::route_rules::RuleRewrite;
use crate::target_list::{PoolTarget, TargetList};
use crate::target_pool::TargetPool;
use crate::upstream::Upstream;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tollgate_balance::{Backoff, BudgetRules, Choice, Nanos, TargetHealth, TryResult, hash_bytes, mix};
use tollgate_clock::MonoTime;
use tollgate_engine::{Fault, FaultKind, HedgeEnd, KeepForResend, Resend, Target, TryEnd};
use tollgate_http::form::cookie;
use tollgate_http::{HeadView, KnownHeader};
use tollgate_model::api::RetryCause;

/// The rules of a version.
pub struct BalancedUpstreams {
    /// The pool for requests that belong to no part of the split.
    pub pool: Arc<TargetPool>,
    pub split: Vec<CompiledPart>,
    pub hashed: HashedValue,
    pub sticky: Option<Sticky>,
    /// Statuses that count as faults of a target, sorted.
    pub fault_statuses: Vec<u16>,
    pub retries: Option<CompiledRetries>,
    pub hedge: Option<CompiledHedge>,
    /// Each gets copies of its share of the requests.
    pub mirrors: Vec<Mirror>,
    /// Whether the requests are calls of gRPC.
    pub is_for_calls: bool,
    /// Time to the first byte of the response, with all tries.
    pub answer_ms: Option<u64>,
    /// Whether a response that came too late counts as none, although the engine had not noticed it yet.
    pub is_punctual: bool,
}

/// Another target that gets copies of requests.
pub struct Mirror {
    pub target: MirrorTarget,
    /// Requests whose random number is at most this are copied.
    pub until: u64,
    pub body_bytes_max: usize,
}

/// Where copies go.
pub enum MirrorTarget {
    Own(Box<Upstream>),
    /// A backend of the table.
    Shared(SharedTargets),
}

impl Mirror {
    /// The upstream of a copy, and its `Host` unless that is the request's.
    pub fn upstream(&self, random: u64, now: Nanos) -> Option<(Arc<Target>, Option<String>)> {
        match &self.target {
            MirrorTarget::Own(upstream) => Some((upstream.target.clone(), Some(upstream.host.clone()))),
            MirrorTarget::Shared(targets) => {
                let list = targets.load();
                match list.candidates.pick(None, &[], random, now) {
                    Choice::Target(index) | Choice::LastResort(index) => {
                        list.targets.get(index).map(|target| (target.upstream.target.clone(), None))
                    }
                    Choice::AllDown => None,
                }
            }
        }
    }

    /// Whether a request with this random number is copied.
    pub fn takes(&self, random: u64) -> bool {
        random <= self.until
    }
}

/// A part of the split.
pub struct CompiledPart {
    pub pool: Arc<TargetPool>,
    /// Requests below this point of the range of random numbers belong to it, unless they belong to a part before.
    pub until: u64,
    pub header: Option<(String, String)>,
    pub cookie: Option<(String, String)>,
    /// Changes of the requests that go there, and of their responses.
    pub filters: Option<Box<PartFilters>>,
}

/// What a part of the split changes.
pub struct PartFilters {
    pub request: Vec<HeaderChange>,
    pub response: Vec<HeaderChange>,
    pub rewrite: Option<RuleRewrite>,
    pub mirrors: Vec<Mirror>,
}

/// What the method `hash` hashes.
pub enum HashedValue {
    Nothing,
    Address,
    Header(String),
    Cookie(String),
    Path,
}

/// The cookie that keeps a client with its target.
pub struct Sticky {
    pub name: String,
    /// What follows its value.
    pub attributes: String,
}

/// When requests are sent again.
pub struct CompiledRetries {
    pub tries: u32,
    pub causes: Vec<RetryCause>,
    pub statuses: Vec<u16>,
    pub methods: Vec<String>,
    /// Whether requests of all methods are sent again.
    pub any_method: bool,
    pub try_ms: Option<u64>,
    pub backoff: Backoff,
    /// Shortest wait before a request is sent again, also to another target.
    pub wait_min: Nanos,
    /// Whether a request is sent again only to a target that has not failed it.
    pub elsewhere_only: bool,
    pub budget: BudgetRules,
    pub body_bytes_max: usize,
}

/// When requests are sent twice.
pub struct CompiledHedge {
    pub after: Duration,
    /// Percentile of the pool's latencies; 0 for `after` alone.
    pub percentile: f64,
    pub budget: BudgetRules,
    pub body_bytes_max: usize,
}

/// A second sending of a request.
struct HedgeTry {
    index: usize,
    began: Nanos,
}

/// A request at a target of a pool. The target counts it until this is dropped.
pub struct TargetTry {
    pool: Arc<TargetPool>,
    list: Arc<TargetList>,
    index: usize,
    began: Nanos,
    is_recorded: bool,
    /// Hash of the request, for the method `hash`.
    key: Option<u64>,
    tries: u32,
    tried: Vec<u16>,
    hedge: Option<HedgeTry>,
    /// The method may be sent again although its target received it.
    may_repeat: bool,
    /// The part of the split, if it belongs to one.
    part: Option<usize>,
    preserves_host: bool,
    /// Path behind the listen path, and query, if the targets' own differ.
    rest: Option<Box<RequestRest>>,
    first_byte_ms: Option<u64>,
    /// When the response must have begun.
    until: Option<MonoTime>,
    /// The same of this try.
    try_until: Option<MonoTime>,
}

/// What a request's target is made of.
struct RequestRest {
    stripped: String,
    query: Option<String>,
    disable_strip_slash: bool,
}

impl BalancedUpstreams {
    /// All pools.
    pub fn pools(&self) -> impl Iterator<Item = &Arc<TargetPool>> {
        std::iter::once(&self.pool).chain(self.split.iter().map(|part| &part.pool))
    }

    /// Chooses the target of a request and counts the request there.
    pub fn choose(&self, exchange: &mut Exchange<'_>) -> Result<Box<TargetTry>, Refusal> {
        let now = nanos(exchange.arrival.now);
        let random = exchange.arrival.request_id.0 as u64;
        let (pool, list, index, key, part) = match self.stuck_to(exchange.received(), now) {
            Some((pool, list, index)) => {
                let part = self.split.iter().find(|part| Arc::ptr_eq(&part.pool, pool));
                (pool, list, index, None, part)
            }
            None => {
                let part = self.part_of(exchange.received(), random);
                let pool = part.map_or(&self.pool, |part| &part.pool);
                let list = pool.targets.load_full();
                let key = self.key(exchange);
                let index = match list.candidates.pick(key, &[], mix(random), now) {
                    Choice::Target(index) | Choice::LastResort(index) => index,
                    Choice::AllDown => return Err(list.refusal(self.is_for_calls)),
                };
                self.stick(list.targets.get(index), &mut exchange.response.upstream_changes);
                (pool, list, index, key, part)
            }
        };
        if let Some(filters) = part.and_then(|part| part.filters.as_deref()) {
            filters.apply(exchange);
        }
        if let Some(retries) = &self.retries {
            pool.budget.deposit(&retries.budget);
        }
        let may_repeat = self
            .retries
            .as_ref()
            .is_some_and(|rules| rules.any_method || rules.methods.iter().any(|method| *method == exchange.method));
        if let (Some(hedge), Some(hedging)) = (&self.hedge, &pool.hedging) {
            hedging.budget.deposit(&hedge.budget);
        }
        let is_sent_again = self.retries.is_some() || self.hedge.is_some();
        let rest = (list.paths_differ && is_sent_again).then(|| {
            Box::new(RequestRest {
                stripped: exchange.api.stripped(&exchange.url).to_owned(),
                query: exchange.url.query.as_deref().map(str::to_owned),
                disable_strip_slash: exchange.api.disable_strip_slash,
            })
        });
        let taken = TargetTry {
            pool: pool.clone(),
            list,
            index,
            began: now,
            is_recorded: false,
            key,
            tries: 1,
            tried: Vec::new(),
            part: part.and_then(|part| self.split.iter().position(|own| std::ptr::eq(own, part))),
            hedge: None,
            may_repeat,
            preserves_host: exchange.api.preserve_host && !exchange.request.authority.is_empty(),
            // The time of its arrival may be some ten milliseconds old.
            until: self.answer_ms.map(|time| MonoTime::now() + Duration::from_millis(time)),
            try_until: self.try_until(Duration::ZERO),
            rest,
            first_byte_ms: self.first_byte_ms(exchange.decisions.first_byte_ms),
        };
        taken.begin();
        Ok(Box::new(taken))
    }

    /// Who gets copies of a request.
    pub fn mirrors(&self, taken: &TargetTry) -> impl Iterator<Item = &Mirror> {
        let filters = taken.part.and_then(|part| self.split.get(part)?.filters.as_deref());
        self.mirrors.iter().chain(filters.into_iter().flat_map(|filters| &filters.mirrors))
    }

    /// What the engine keeps of a request so that it can be sent again.
    pub fn keeps(&self, taken: &TargetTry) -> Option<KeepForResend> {
        let is_alone = taken.list.targets.len() < 2;
        let retries = self.retries.as_ref().filter(|retries| retries.tries > 1 && !(retries.elsewhere_only && is_alone));
        if retries.is_none() && self.hedge.is_none() {
            return None;
        }
        let of_hedge = self.hedge.as_ref().map_or(0, |hedge| hedge.body_bytes_max);
        Some(KeepForResend {
            body_bytes_max: retries.map_or(0, |retries| retries.body_bytes_max).max(of_hedge),
            connect_ms: retries.and_then(|retries| retries.try_ms),
            hedge_after: self.hedge.as_ref().and_then(|hedge| hedge.time(taken)),
        })
    }

    /// When the response to a try that begins after this time must have begun.
    fn try_until(&self, after: Duration) -> Option<MonoTime> {
        let time = self.retries.as_ref().filter(|_| self.is_punctual)?.try_ms?;
        Some(MonoTime::now() + after + Duration::from_millis(time))
    }

    /// Time to the first byte of each try.
    fn first_byte_ms(&self, own: Option<u64>) -> Option<u64> {
        let try_ms = self.retries.as_ref().and_then(|retries| retries.try_ms);
        own.into_iter().chain(try_ms).min()
    }

    /// The available target that the request's cookie names.
    fn stuck_to(&self, received: HeadView<'_>, now: Nanos) -> Option<(&Arc<TargetPool>, Arc<TargetList>, usize)> {
        let sticky = self.sticky.as_ref()?;
        let id = cookie_value(received, &sticky.name)?;
        self.pools().find_map(|pool| {
            let list = pool.targets.load_full();
            let index = list.targets.iter().position(|target| *target.sticky_id == *id)?;
            list.candidates.is_available(index, now).then_some((pool, list, index))
        })
    }

    /// Adds the cookie that names a target.
    fn stick(&self, target: Option<&PoolTarget>, changes: &mut Vec<HeaderChange>) {
        if let (Some(sticky), Some(target)) = (&self.sticky, target) {
            let start = format!("{}=", sticky.name);
            changes.retain(|change| !matches!(change, HeaderChange::Add(name, value) if **name == *"Set-Cookie" && value.starts_with(start.as_bytes())));
            let value = format!("{start}{}{}", target.sticky_id, sticky.attributes);
            changes.push(HeaderChange::Add("Set-Cookie".into(), value.into_bytes()));
        }
    }

    /// The pool of requests with this random number.
    pub fn pool_at(&self, random: u64) -> &Arc<TargetPool> {
        // The last part of a rule has all that are left.
        let part = self.split.iter().find(|part| random < part.until || part.until == u64::MAX);
        part.map_or(&self.pool, |part| &part.pool)
    }

    fn part_of(&self, received: HeadView<'_>, random: u64) -> Option<&CompiledPart> {
        if self.split.is_empty() {
            return None;
        }
        let assigned = self.split.iter().find(|part| part.is_named_by(received));
        // The last part of a rule has all that are left.
        assigned.or_else(|| self.split.iter().find(|part| random < part.until || part.until == u64::MAX))
    }

    fn key(&self, exchange: &Exchange<'_>) -> Option<u64> {
        match &self.hashed {
            HashedValue::Nothing => None,
            HashedValue::Address => Some(match exchange.arrival.client_ip {
                IpAddr::V4(address) => hash_bytes(&address.octets()),
                IpAddr::V6(address) => hash_bytes(&address.octets()),
            }),
            HashedValue::Header(name) => exchange.received().get(name).map(hash_bytes),
            HashedValue::Cookie(name) => cookie_value(exchange.received(), name).map(|value| hash_bytes(value.as_bytes())),
            HashedValue::Path => Some(hash_bytes(exchange.url.path.decoded.as_bytes())),
        }
    }
}

impl PartFilters {
    /// Changes a request that goes to the part.
    fn apply(&self, exchange: &mut Exchange<'_>) {
        for change in &self.request {
            change.apply(&exchange.request.headers, &mut exchange.outgoing.edits);
        }
        exchange.response.upstream_changes.extend(self.response.iter().cloned());
        if let Some(rewrite) = &self.rewrite {
            rewrite.apply(exchange);
        }
    }
}

impl CompiledHedge {
    /// When a request is sent a second time; `None` if too little is known, or nobody else could answer.
    fn time(&self, taken: &TargetTry) -> Option<Duration> {
        if taken.list.targets.len() < 2 {
            return None;
        }
        if self.percentile == 0.0 {
            return Some(self.after);
        }
        let usual = taken.pool.hedging.as_ref()?.latencies.percentile(self.percentile).map(Duration::from_nanos);
        usual.map(|usual| usual.max(self.after)).or(Some(self.after).filter(|after| !after.is_zero()))
    }
}

impl CompiledPart {
    fn is_named_by(&self, received: HeadView<'_>) -> bool {
        let matches = |wanted: &str, value: &[u8]| wanted.is_empty() || wanted.as_bytes() == value;
        let by_header =
            self.header.as_ref().is_some_and(|(name, wanted)| received.get(name).is_some_and(|value| matches(wanted, value)));
        by_header
            || self
                .cookie
                .as_ref()
                .is_some_and(|(name, wanted)| cookie_value(received, name).is_some_and(|value| matches(wanted, value.as_bytes())))
    }
}

impl TargetTry {
    /// The upstream of this try.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.list.targets.get(self.index).map(|target| &target.upstream)
    }

    /// Time to the first byte of the first try.
    pub fn time(&self) -> Option<u64> {
        self.within(Duration::ZERO)
    }

    /// Whether a response that begins now comes too late.
    pub fn is_late(&self) -> bool {
        let ends = self.until.into_iter().chain(self.try_until).min();
        ends.is_some_and(|end| end <= MonoTime::now())
    }

    /// Another target for a request that is slow to be answered. `retarget` receives the parts of its head that change.
    pub fn hedge(
        &mut self,
        rules: &BalancedUpstreams,
        retarget: &mut tollgate_engine::Retarget,
        (now, random): (Nanos, u64),
    ) -> Option<Arc<Target>> {
        let (rule, hedging) = (rules.hedge.as_ref()?, self.pool.hedging.clone()?);
        let mut avoided = self.tried.clone();
        avoided.push(u16::try_from(self.index).unwrap_or(u16::MAX));
        let Choice::Target(index) = self.list.candidates.pick(self.key, &avoided, random, now) else { return None };
        if index == self.index || !hedging.budget.withdraw(&rule.budget, now) {
            return None;
        }
        hedging.sent.fetch_add(1, Relaxed);
        self.health(index)?.begin(true);
        self.hedge = Some(HedgeTry { index, began: now });
        let upstream = &self.list.targets.get(index)?.upstream;
        self.retarget(upstream, retarget);
        Some(upstream.target.clone())
    }

    /// The second sending is over.
    pub fn end_hedge(&mut self, end: HedgeEnd, now: Nanos) {
        let Some(hedge) = self.hedge.take() else { return };
        let ended = match end {
            HedgeEnd::Won => {
                // How the first target would have answered is unknown.
                self.record(TryResult::Unknown, now);
                if let Some(hedging) = &self.pool.hedging {
                    hedging.won.fetch_add(1, Relaxed);
                }
                self.is_recorded = false;
                self.began = hedge.began;
                std::mem::replace(&mut self.index, hedge.index)
            }
            HedgeEnd::Lost => hedge.index,
            HedgeEnd::Failed(kind) => {
                self.pool.record(&self.list, hedge.index, result_of(kind), hedge.began, now);
                hedge.index
            }
        };
        if let Some(health) = self.health(ended) {
            health.end();
        }
    }

    fn health(&self, index: usize) -> Option<&TargetHealth> {
        self.list.candidates.list().get(index).map(|candidate| &*candidate.health)
    }

    /// Notes the response.
    pub fn respond(&mut self, status: u16, rules: &BalancedUpstreams, now: Nanos) {
        if let Some(hedging) = &self.pool.hedging
            && !self.is_recorded
        {
            hedging.latencies.add(now.saturating_sub(self.began));
        }
        let is_fault = [&rules.fault_statuses, &self.list.fault_statuses].iter().any(|list| list.binary_search(&status).is_ok());
        self.record(if is_fault { TryResult::Failing } else { TryResult::Success }, now);
    }

    /// Notes a fault.
    pub fn fail(&mut self, kind: FaultKind, now: Nanos) {
        self.record(result_of(kind), now);
    }

    fn record(&mut self, result: TryResult, now: Nanos) {
        if !std::mem::replace(&mut self.is_recorded, true) {
            self.pool.record(&self.list, self.index, result, self.began, now);
        }
    }

    /// Whether to give up connecting to the target after `waited`, because the request can go to another one.
    pub fn gives_up(&self, rules: &BalancedUpstreams, waited: Duration, now: Nanos) -> bool {
        let may_go_on = rules
            .retries
            .as_ref()
            .is_some_and(|retries| self.tries < retries.tries && retries.causes.contains(&RetryCause::Connect));
        may_go_on && {
            let mut tried = self.tried.clone();
            tried.push(u16::try_from(self.index).unwrap_or(u16::MAX));
            self.pool.gives_up(&self.list, self.index, &tried, waited, now)
        }
    }

    /// What the client is told if the target was not reached, and the pool has none by now.
    pub fn refusal_without_targets(&self, rules: &BalancedUpstreams, kind: FaultKind) -> Option<Refusal> {
        let list = self.pool.targets.load();
        (result_of(kind) == TryResult::NotConnected && list.targets.is_empty()).then(|| list.refusal(rules.is_for_calls))
    }

    /// Moves the request to its next target, if it may be sent again. `retarget` receives the parts of its head that change.
    pub fn next(
        &mut self,
        ended: &TryEnd<'_>,
        rules: &BalancedUpstreams,
        retarget: &mut tollgate_engine::Retarget,
        (now, random): (Nanos, u64),
        changes: &mut Vec<HeaderChange>,
    ) -> Option<Resend> {
        let retries = rules.retries.as_ref()?;
        if self.until.is_some_and(|until| until <= MonoTime::now()) {
            return None;
        }
        let is_wanted = match ended {
            TryEnd::Response(_) if self.is_late() => self.may_repeat && retries.causes.contains(&RetryCause::Timeout),
            _ => retries.wants(ended, self.may_repeat),
        };
        if self.tries >= retries.tries || !is_wanted {
            return None;
        }
        if !self.pool.budget.withdraw(&retries.budget, now) {
            return None;
        }
        match ended {
            TryEnd::Fault(fault) => self.fail(fault.kind, now),
            TryEnd::Response(response) => self.respond(response.status, rules, now),
        }
        self.tried.push(u16::try_from(self.index).unwrap_or(u16::MAX));
        let (mut list, mut tried) = (self.list.clone(), self.tried.clone());
        // The list may have changed since, unless what is left of the request's path is not known any more.
        if self.rest.is_some() || !self.pool.targets.load().paths_differ {
            self.pool.renew(&mut list, &mut tried);
        }
        let next = match list.candidates.pick(self.key, &tried, random, now) {
            Choice::Target(index) | Choice::LastResort(index) => index,
            Choice::AllDown => return None,
        };
        let upstream_now = &list.targets.get(next)?.upstream;
        let same = self.upstream().is_some_and(|upstream| upstream.target.serial == upstream_now.target.serial);
        if retries.elsewhere_only && tried.iter().any(|tried| usize::from(*tried) == next) {
            return None;
        }
        self.end();
        (self.list, self.tried, self.index) = (list, tried, next);
        self.began = now;
        self.is_recorded = false;
        let after = if same { retries.backoff.wait(self.tries - 1, random.rotate_left(32)) } else { 0 };
        let after = after.max(retries.wait_min);
        self.try_until = rules.try_until(Duration::from_nanos(after));
        self.tries += 1;
        self.begin();
        rules.stick(self.list.targets.get(next), changes);
        let upstream = &self.list.targets.get(next)?.upstream;
        self.retarget(upstream, retarget);
        let first_byte_ms = self.within(Duration::from_nanos(after));
        Some(Resend { after: Duration::from_nanos(after), first_byte_ms })
    }

    /// Writes the parts of a head that are for another upstream.
    fn retarget(&self, upstream: &Upstream, retarget: &mut tollgate_engine::Retarget) {
        if !self.preserves_host {
            retarget.host.extend_from_slice(upstream.host.as_bytes());
        }
        if let Some(rest) = &self.rest {
            let own = (upstream.path.as_str(), upstream.query.as_str());
            crate::upstream::write_parts(
                &rest.stripped,
                rest.query.as_deref(),
                rest.disable_strip_slash,
                own,
                &mut retarget.target,
            );
        }
    }

    /// Time to the first byte of a try that begins after this time.
    fn within(&self, after: Duration) -> Option<u64> {
        let left =
            self.until.map(|until| u64::try_from(until.since(MonoTime::now() + after).as_millis()).unwrap_or(u64::MAX).max(1));
        self.first_byte_ms.into_iter().chain(left).min()
    }

    fn begin(&self) {
        if let Some(candidate) = self.list.candidates.list().get(self.index) {
            candidate.health.begin(self.tries > 1);
        }
    }

    fn end(&self) {
        if let Some(candidate) = self.list.candidates.list().get(self.index) {
            candidate.health.end();
        }
    }
}

impl Drop for TargetTry {
    fn drop(&mut self) {
        if let Some(health) = self.hedge.take().and_then(|hedge| self.health(hedge.index)) {
            health.end();
        }
        self.end();
    }
}

/// What a fault says about its target.
fn result_of(kind: FaultKind) -> TryResult {
    match kind {
        FaultKind::Lookup | FaultKind::Connect | FaultKind::Tls | FaultKind::ConnectTimeout => TryResult::NotConnected,
        FaultKind::UpstreamClosed => TryResult::Unreachable,
        FaultKind::UpstreamMalformed(_) | FaultKind::UpstreamHeadTooLarge | FaultKind::UpstreamTimeout => TryResult::Failing,
        FaultKind::BodyTooLarge
        | FaultKind::BodyMalformed(_)
        | FaultKind::ClientTimeout
        | FaultKind::ClientGone
        | FaultKind::TooManyTunnels => TryResult::Unknown,
    }
}

impl CompiledRetries {
    /// Whether a request is sent again after a try that ended like this.
    fn wants(&self, ended: &TryEnd<'_>, may_repeat: bool) -> bool {
        match ended {
            TryEnd::Response(response) => may_repeat && self.statuses.contains(&response.status),
            TryEnd::Fault(Fault { kind, .. }) => match kind {
                // The target has not received it.
                FaultKind::Lookup | FaultKind::Connect | FaultKind::Tls | FaultKind::ConnectTimeout => {
                    self.causes.contains(&RetryCause::Connect)
                }
                FaultKind::UpstreamTimeout => may_repeat && self.causes.contains(&RetryCause::Timeout),
                _ => may_repeat && self.causes.contains(&RetryCause::Closed),
            },
        }
    }
}

/// A time since the start of the gateway.
pub fn nanos(time: Duration) -> Nanos {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn cookie_value<'r>(received: HeadView<'r>, name: &str) -> Option<&'r str> {
    let headers = received.known(KnownHeader::Cookie)?;
    cookie(std::str::from_utf8(headers).ok()?, name)
}
