//! Limits of a key for single methods, tools, resources and prompts of an MCP proxy, compiled. They count beside the key's own limits.

use super::limits::{CallRates, LimitSource, RateRule, SessionLimits};
use super::rights::PatternList;
use std::sync::Arc;
use tollgate_model::session::{AccessRight, PrimitiveKind, RateLimit};

/// The limits of one access right.
pub(super) struct CallLimits {
    methods: NamedRates,
    tools: NamedRates,
    resources: NamedRates,
    prompts: NamedRates,
}

/// Rates by name.
#[derive(Default)]
struct NamedRates {
    /// The names; `None` if no name has a limit.
    names: Option<Arc<PatternList>>,
    /// The rate of each name; `None` for an entry that limits nothing, which is passed over.
    rates: Box<[Option<RateRule>]>,
}

/// What the rates of an access right are made for.
struct RateMaker<'m> {
    own: &'m SessionLimits,
    /// The start of their counters' names.
    counter: &'m str,
    source: &'m LimitSource<'m>,
}

impl CallLimits {
    /// `None` if there are none. `own` are the limits that count beside them, with the counters of `scope`.
    pub(super) fn compile(
        api: &str,
        right: &AccessRight,
        scope: &str,
        own: &SessionLimits,
        source: &LimitSource<'_>,
    ) -> Option<Self> {
        if right.json_rpc_methods.is_empty() && right.mcp_primitives.is_empty() {
            return None;
        }
        // No endpoint has a counter of this name: its method would have to start with a slash.
        let maker = RateMaker { own, counter: &format!("{scope}/{api}//"), source };
        let of = |kind: PrimitiveKind| {
            let limits = right.primitive_limits(kind);
            maker.make(kind.name(), limits.map(|(_, limit)| (limit.name.as_str(), &limit.limit)).collect())
        };
        Some(CallLimits {
            methods: maker.make("method", right.json_rpc_methods.iter().map(|limit| (limit.name.as_str(), &limit.limit)).collect()),
            tools: of(PrimitiveKind::Tool),
            resources: of(PrimitiveKind::Resource),
            prompts: of(PrimitiveKind::Prompt),
        })
    }

    /// The rates that count a call.
    pub(super) fn of(&self, method: &str, primitive: Option<(PrimitiveKind, [&str; 2])>) -> CallRates<'_> {
        let of_primitive = primitive.and_then(|(kind, names)| self.of_kind(kind).of(&names));
        CallRates::new(self.methods.of(&[method]), of_primitive)
    }

    /// The lists of names.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Arc<PatternList>> {
        [&self.methods, &self.tools, &self.resources, &self.prompts].into_iter().filter_map(|rates| rates.names.as_ref())
    }

    fn of_kind(&self, kind: PrimitiveKind) -> &NamedRates {
        match kind {
            PrimitiveKind::Tool => &self.tools,
            PrimitiveKind::Resource => &self.resources,
            PrimitiveKind::Prompt => &self.prompts,
        }
    }
}

impl RateMaker<'_> {
    fn make(&self, of: &str, written: Vec<(&str, &RateLimit)>) -> NamedRates {
        let rate =
            |(name, limit): &(&str, &RateLimit)| self.own.beside(limit, of, format!("{}{of}:{name}", self.counter), self.source);
        let rates: Box<[Option<RateRule>]> = written.iter().map(rate).collect();
        if rates.iter().all(Option::is_none) {
            return NamedRates::default();
        }
        let names = self.source.patterns.limited_names(written.iter().map(|(name, _)| *name));
        NamedRates { names: Some(names), rates }
    }
}

impl NamedRates {
    /// The rate of the first name that fits one of these, as in Tyk.
    fn of(&self, names: &[&str]) -> Option<&RateRule> {
        let limits = |place: usize| self.rates.get(place).is_some_and(Option::is_some);
        let known = self.names.as_ref()?;
        let place = names.iter().filter_map(|name| known.place_of(name, limits)).min()?;
        self.rates.get(place)?.as_ref()
    }
}
