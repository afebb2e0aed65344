//! Compiles the chain of one version. `data/middleware.rs` defines the order; a middleware that the definition does not use is left
//! out.

use tollgate_data::endpoints::{EndpointMatcher, PatternBuilder};
use tollgate_data::exchange::{ChainLink, ChainPhase};
use tollgate_data::middleware::{
    AUTH, Context, FOR_STRANGERS, ListedMiddleware, MiddlewareSource, POST_AUTH, PRE_AUTH, challenged, dry_run,
};
use tollgate_model::api::{ApiDefinition, RouteRule, VersionInfo};
use tollgate_pattern::PatternRules;

/// The chain and the matcher of all its endpoint patterns; `None` if a part is unusable.
pub(super) fn compile(
    definition: &ApiDefinition,
    version_name: &str,
    info: &VersionInfo,
    rule: Option<(usize, &RouteRule)>,
    context: &mut Context<'_>,
) -> Option<Compiled> {
    compile_list(
        &[(ChainPhase::PreAuth, PRE_AUTH), (ChainPhase::Auth, AUTH), (ChainPhase::PostAuth, POST_AUTH)],
        definition,
        version_name,
        (info, rule),
        context,
    )
}

/// The chain for the endpoints of the OAuth 2.0 provider.
pub(super) fn compile_for_strangers(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<Compiled> {
    compile_list(&[(ChainPhase::PreAuth, FOR_STRANGERS)], definition, "", (&VersionInfo::default(), None), context)
}

type Compiled = (Vec<ChainLink>, EndpointMatcher);

fn compile_list(
    lists: &[(ChainPhase, &'static [ListedMiddleware])],
    definition: &ApiDefinition,
    version_name: &str,
    (info, rule): (&VersionInfo, Option<(usize, &RouteRule)>),
    context: &mut Context<'_>,
) -> Option<Compiled> {
    let own = context.settings.routing.patterns;
    let rules = PatternRules { ignore_case: own.ignore_case || info.ignore_endpoint_case, ..own };
    let before = context.errors();
    let patterns = PatternBuilder::new(rules, context.registry.patterns.clone());
    let mut source = MiddlewareSource { definition, version_name, info, rule, patterns, context, auth: AUTH };
    let listed = lists.iter().flat_map(|(phase, list)| list.iter().map(|listed| (*phase, listed)));
    let made: Vec<_> = listed.filter_map(|(phase, listed)| listed.compile(phase, &mut source)).collect();
    let chain = made.into_iter().map(|link| dry_run(link, &definition.tollgate.dry_run));
    let chain = chain.map(|link| challenged(link, definition)).collect();
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
