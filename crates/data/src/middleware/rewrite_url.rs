//! URL rewriting. Reads `url_rewrites` with their triggers. The pattern matches path and query, and the result replaces both; it may name
//! another upstream (`http://`) or another API (`tyk://`). Does not use the store.

mod rewritten_url;
mod trigger;

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Redirect, Step};
use crate::header_names::HeaderNames;
use crate::refusal;
use crate::upstream::{Upstream, split_url};
use rewritten_url::{Pieces, UriMatch, escaped};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_http::path::Path;
use tollgate_model::api::UrlRewrite;
use tollgate_pattern::GroupExpression;
use tollgate_tls::TlsSettings;
use trigger::{Captured, CompiledTrigger, WantedCaptures};

/// Most upstreams that one endpoint's rewrites remember; beyond this, all are forgotten. The authority can come from the request.
const UPSTREAMS_MAX: usize = 256;

pub(super) struct RewriteUrl {
    by_endpoint: EndpointList<Rewrite>,
    /// The captures that texts of the definition name.
    wanted: WantedCaptures,
}

struct Rewrite {
    pattern: GroupExpression,
    rewrite_to: Pieces,
    /// With what each leads to.
    triggers: Vec<(CompiledTrigger, Pieces)>,
    tls: TlsSettings,
    /// Upstreams by scheme and authority, made on first use.
    upstreams: Mutex<HashMap<String, Arc<Upstream>>>,
    make: UpstreamMaker,
}

type UpstreamMaker = Box<dyn Fn(&str, &TlsSettings) -> Result<Upstream, String> + Send + Sync>;

impl RewriteUrl {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.url_rewrites;
        let mut broken = Vec::new();
        let by_endpoint = source.endpoints("url_rewrites", entries, |source, index, entry| {
            let rewrite = Rewrite::new(entry, source);
            rewrite.map_err(|(field, error)| broken.push((index, field, error))).ok()
        });
        for (index, field, error) in broken {
            source.problem("url_rewrites", index, &field, error);
        }
        if by_endpoint.is_empty() {
            return None;
        }
        let mut wanted = WantedCaptures::default();
        if entries.iter().any(|entry| !entry.triggers.is_empty()) {
            // Headers and bodies may name them as well.
            wanted.extend(WantedCaptures::of(&source.definition.raw.to_string()));
            let triggers = entries.iter().flat_map(|entry| &entry.triggers);
            let texts = entries.iter().map(|entry| &entry.rewrite_to).chain(triggers.map(|trigger| &trigger.rewrite_to));
            texts.for_each(|text| wanted.extend(WantedCaptures::of(text)));
        }
        Some(Box::new(RewriteUrl { by_endpoint, wanted }))
    }
}

impl Rewrite {
    fn new(entry: &UrlRewrite, source: &MiddlewareSource<'_, '_>) -> Result<Self, (String, String)> {
        let registry = source.context.registry.clone();
        let pool = &registry.patterns;
        let scope = source.variable_scope();
        let triggers = entry.triggers.iter().enumerate().map(|(number, trigger)| {
            let compiled = CompiledTrigger::new(number, trigger, scope, pool)?;
            Ok((compiled, Pieces::new(&trigger.rewrite_to, scope)))
        });
        let triggers = triggers.collect::<Result<_, (String, String)>>()?;
        let pattern = pool.with_groups(&entry.match_pattern);
        Ok(Rewrite {
            pattern: pattern.map_err(|error| ("match_pattern".to_owned(), error))?,
            rewrite_to: Pieces::new(&entry.rewrite_to, scope),
            triggers,
            tls: source.tls_settings(),
            upstreams: Mutex::default(),
            make: Box::new(move |url, tls| Upstream::new(url, tls, &registry)),
        })
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.rewrite_to.header_names(names);
        for (trigger, pieces) in &self.triggers {
            trigger.header_names(names);
            pieces.header_names(names);
        }
    }

    fn reads_body(&self) -> bool {
        self.triggers.iter().any(|(trigger, _)| trigger.reads_body())
    }

    /// The new URL, if the pattern matches.
    fn result(&self, exchange: &Exchange<'_>, captured: &mut Captured<'_>) -> Option<String> {
        let fired = self.triggers.iter().find(|(trigger, _)| trigger.fires(exchange, captured));
        let pieces = fired.map_or(&self.rewrite_to, |(_, pieces)| pieces);
        let uri = exchange.uri();
        let groups = UriMatch::find(&self.pattern, &uri)?;
        Some(pieces.render(exchange, &groups, captured))
    }

    /// The upstream of an absolute URL, without path and query.
    fn upstream(&self, origin: &str) -> Result<Arc<Upstream>, String> {
        let mut upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = upstreams.get(origin) {
            return Ok(upstream.clone());
        }
        if upstreams.len() >= UPSTREAMS_MAX {
            upstreams.clear();
        }
        let upstream = Arc::new((self.make)(origin, &self.tls)?);
        upstreams.insert(origin.to_owned(), upstream.clone());
        Ok(upstream)
    }
}

impl Middleware for RewriteUrl {
    fn header_names(&self, names: &mut HeaderNames) {
        self.by_endpoint.values().for_each(|rewrite| rewrite.header_names(names));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(rewrite) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if rewrite.reads_body()
            && let Err(step) = exchange.read_body()
        {
            return step;
        }
        let mut captured = Captured::new(&self.wanted);
        let url = rewrite.result(exchange, &mut captured);
        if let Some(variables) = captured.into_variables() {
            exchange.notes.set_variables(variables);
        }
        let Some(url) = url else { return Step::Next };
        let (path, query) = match split_url(&url) {
            None => url.split_once('?').map_or((url.as_str(), None), |(path, query)| (path, Some(query))),
            Some(parts) if parts.scheme == "tyk" => {
                exchange.decisions.redirected = Some(Redirect::Loop(parts.authority.to_owned()));
                (parts.path, Some(parts.query).filter(|query| !query.is_empty()))
            }
            Some(parts) => {
                match rewrite.upstream(&format!("{}://{}", parts.scheme, parts.authority)) {
                    Ok(upstream) => exchange.decisions.redirected = Some(Redirect::Upstream(upstream)),
                    Err(error) => {
                        tracing::warn!(api = exchange.api.id, %error, "a rewrite led to an unusable URL");
                        return Step::Refuse(refusal::UPSTREAM_FAILED);
                    }
                }
                (parts.path, Some(parts.query).filter(|query| !query.is_empty()))
            }
        };
        let path = escaped(path, true);
        let rooted = if path.starts_with('/') { path.into_owned() } else { format!("/{path}") };
        let Some(path) = Path::new(rooted.into()) else { return Step::Refuse(refusal::UPSTREAM_FAILED) };
        // The listen path is stripped only if the new path still has it.
        let listen_path = exchange.url.path.decoded.get(..exchange.url.listen_bytes).unwrap_or_default();
        if !path.decoded.starts_with(listen_path) || matches!(exchange.decisions.redirected, Some(Redirect::Upstream(_))) {
            exchange.url.listen_bytes = 0;
        }
        exchange.url.path = path;
        exchange.url.query = query.map(|query| escaped(query, false).into_owned().into());
        Step::Next
    }
}
