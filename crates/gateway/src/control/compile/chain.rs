//! The chain of one version, in the order in which it runs. A middleware that the definition does not use is not in it.

use super::Context;
use super::version::tls_settings;
use crate::data::endpoints::{EndpointList, EndpointMatcher, PatternBuilder, PatternRules};
use crate::data::middleware::*;
use crate::data::template::VariableScope;
use tollgate_model::api::{ApiDefinition, AuthMethod, EndpointEntry, VersionInfo};

/// What a middleware is made from.
pub struct Source<'a, 'c> {
    pub definition: &'a ApiDefinition,
    pub version_name: &'a str,
    pub info: &'a VersionInfo,
    pub patterns: PatternBuilder,
    pub context: &'a mut Context<'c>,
}

type Maker = for<'a, 'c> fn(&mut Source<'a, 'c>) -> Option<Box<dyn Middleware>>;

/// The middlewares in order, with the reason for each place: before it is known who calls,
const BEFORE: &[Maker] = &[
    // What an endpoint is decides whether anything else matters: closed, open to all, or answered here.
    Access::compile,
    // Who is not to be recorded is not, whatever comes next.
    TrackEndpoint::compile,
    // Before everything that may refuse, so that a browser can read refusals.
    CrossOrigin::compile,
    // The cheapest way to turn somebody away comes first.
    IpAllow::compile,
    IpBlock::compile,
    // A client without the right certificate uses up nobody's limits.
    CertificateCheck::compile,
    // The organisation's limits hold for all that comes to its APIs, callers without a key too.
    OrgLimits::compile,
    RequestSize::compile,
];

/// who it is, all of these or all of one alternative,
const WHO: &[Maker] = &[
    UnsupportedAuth::compile,
    AnyAuth::compile,
    OAuthToken::compile,
    IntrospectionAuth::compile,
    BasicAuth::compile,
    SignatureAuth::compile,
    JwtAuth::compile,
    OpenIdAuth::compile,
    ForwardAuth::compile,
    TokenAuth::compile,
];

/// and what never runs for strangers.
const AFTER: &[Maker] = &[
    // The upstream has no business with the key.
    StripAuth::compile,
    // What is wrong with the key itself comes before what it may do, and that before how often: a refused request counts nothing.
    KeyState::compile,
    AccessRights::compile,
    // Asking for one's limits must not use them up.
    LimitsReport::compile,
    KeyLimits::compile,
    // Counts only what was let in so far.
    ApiRateLimit::compile,
    // What follows may have variables that are fields of a form.
    ReadForm::compile,
    // A caller who is over a limit has no body read.
    ValidateJson::compile,
    // What was validated is what the client sent.
    TransformRequest::compile,
    // The request's own changes, outermost scope first: headers see the client's URL, rewrites see the changed headers.
    RequestHeaders::compile,
    RewriteUrl::compile,
    TransformMethod::compile,
    // How the upstream is called.
    EndpointTimeout::compile,
    CircuitBreak::compile,
    // What the response will get.
    TransformResponse::compile,
    ResponseHeaders::compile,
];

/// What strangers must pass to come to an endpoint where they are told how to be none.
const STRANGERS: &[Maker] = &[CrossOrigin::compile, IpAllow::compile, IpBlock::compile, CertificateCheck::compile];

/// The chain and the matcher of all endpoint patterns in it; `None` when something in it can't be used.
pub fn compile(definition: &ApiDefinition, version_name: &str, info: &VersionInfo, context: &mut Context<'_>) -> Option<Compiled> {
    compile_list(&[BEFORE, WHO, AFTER], definition, version_name, info, context)
}

/// The chain before the endpoints of the OAuth 2.0 provider.
pub fn compile_for_strangers(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<Compiled> {
    compile_list(&[STRANGERS], definition, "", &VersionInfo::default(), context)
}

type Compiled = (Vec<Box<dyn Middleware>>, EndpointMatcher);

fn compile_list(
    lists: &[&[Maker]],
    definition: &ApiDefinition,
    version_name: &str,
    info: &VersionInfo,
    context: &mut Context<'_>,
) -> Option<Compiled> {
    let own = context.settings.patterns;
    let rules = PatternRules { ignore_case: own.ignore_case || info.ignore_endpoint_case, ..own };
    let before = context.errors();
    let patterns = PatternBuilder::new(rules, context.registry.patterns.clone());
    let mut source = Source { definition, version_name, info, patterns, context };
    let chain: Vec<_> = lists.iter().copied().flatten().filter_map(|make| make(&mut source)).collect();
    let matcher = source.patterns.build();
    if context.errors() > before {
        return None;
    }
    match matcher {
        Ok(matcher) => Some((chain, matcher)),
        Err(error) => {
            context.error(format!("$.version_data.versions.{version_name}.extended_paths"), error);
            None
        }
    }
}

impl Source<'_, '_> {
    /// The steps that find out who calls, as if these methods alone were switched on.
    pub fn authentication(&mut self, methods: &[AuthMethod]) -> Vec<Box<dyn Middleware>> {
        let definition = self.definition.with_methods(methods);
        let mut source = Source {
            definition: &definition,
            version_name: self.version_name,
            info: self.info,
            patterns: PatternBuilder::new(self.context.settings.patterns, self.context.registry.patterns.clone()),
            context: self.context,
        };
        WHO.iter().filter_map(|make| make(&mut source)).collect()
    }

    /// One list of `extended_paths`, without the entries that are out of effect and those that `make` has nothing for.
    pub fn endpoints<E: EndpointEntry, T>(
        &mut self,
        list: &str,
        entries: &[E],
        mut make: impl FnMut(&Self, usize, &E) -> Option<T>,
    ) -> EndpointList<T> {
        let mut made = EndpointList::default();
        let entries = entries.iter().enumerate().filter(|(_, entry)| !entry.is_disabled());
        for (index, entry) in entries.filter(|_| self.info.use_extended_paths) {
            let Some(pattern) = self.pattern(list, index, entry.path(), entry.ignores_case()) else { continue };
            if let Some(value) = make(self, index, entry) {
                made.push(pattern, entry.method(), value);
            }
        }
        made
    }

    /// The same where an entry may be unusable: the error names the field and says what is wrong, and is noted as a problem.
    pub fn checked_endpoints<E: EndpointEntry, T>(
        &mut self,
        list: &str,
        entries: &[E],
        make: impl Fn(&Self, &E) -> Result<T, (&'static str, String)>,
    ) -> EndpointList<T> {
        let mut problems = Vec::new();
        let made = self.endpoints(list, entries, |source, index, entry| {
            let made = make(source, entry);
            made.map_err(|(field, message)| problems.push((index, field, message))).ok()
        });
        for (index, field, message) in problems {
            self.problem(list, index, field, message);
        }
        made
    }

    /// Adds an endpoint's pattern; a broken one is noted as a problem of the list it stands in.
    pub fn pattern(&mut self, list: &str, index: usize, pattern: &str, ignore_case: bool) -> Option<u32> {
        match self.patterns.add(pattern, ignore_case) {
            Ok(number) => Some(number),
            Err(error) => {
                self.problem(list, index, "path", error);
                None
            }
        }
    }

    /// Notes a problem of a field of an entry.
    pub fn problem(&mut self, list: &str, index: usize, field: &str, message: String) {
        let version = self.version_name;
        self.context.error(format!("$.version_data.versions.{version}.extended_paths.{list}[{index}].{field}"), message);
    }

    /// Whether a request may be held after limits have passed it: for limits that other gateways count too, for its body, or by an API that
    /// it is sent on to. It walks the chain again then.
    pub fn may_hold_after_limits(&self) -> bool {
        let is_elsewhere = |url: &str| ["/", "http://", "https://"].iter().any(|start| url.starts_with(start));
        // A variable may be anything.
        let is_sent_on = |url: &str| !is_elsewhere(url) && (url.contains("tyk:") || url.contains('$'));
        let target = match self.info.override_target.as_str() {
            "" => self.definition.proxy.targets(),
            target => vec![target.to_owned()],
        };
        let rewrites = self.info.extended_paths.url_rewrites.iter();
        let mut rewritten = rewrites.flat_map(|entry| {
            let triggered = entry.triggers.iter().map(|trigger| trigger.rewrite_to.as_str());
            triggered.chain([entry.rewrite_to.as_str()])
        });
        let paths = &self.info.extended_paths;
        let mut triggers = paths.url_rewrites.iter().flat_map(|entry| &entry.triggers);
        let reads_bodies = !paths.validate_json.is_empty()
            || !paths.transform.is_empty()
            || triggers.any(|trigger| !trigger.options.payload_matches.match_rx.is_empty())
            || self.uses_forms();
        self.context.settings.shares_limits || reads_bodies || target.iter().any(|url| is_sent_on(url)) || rewritten.any(is_sent_on)
    }

    /// Whether variables of the definition may be fields of a form.
    pub fn uses_forms(&self) -> bool {
        self.definition.enable_context_vars && self.definition.raw.to_string().contains("$tyk_context.request_data")
    }

    /// A name for state that outlives configurations: of this version, or of one of its endpoints.
    pub fn state_name(&self, detail: &str) -> String {
        format!("{}/{}/{detail}", self.definition.api_id, self.version_name)
    }

    /// What variables in the definition's texts may refer to.
    pub fn variable_scope(&self) -> VariableScope<'_> {
        VariableScope { context: self.definition.enable_context_vars, secrets: &self.context.settings.secrets }
    }

    /// The settings for connections that a rewrite makes.
    pub fn tls_settings(&self) -> crate::base::tls::TlsSettings {
        tls_settings(self.definition, self.context)
    }
}
