//! URL rewriting. Reads `url_rewrites` with their triggers. The pattern matches path and query, and the result replaces both; it may name
//! another upstream (`http://`) or another API (`tyk://`). Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::base::form::parameter;
use crate::base::path::Path;
use crate::base::pattern::{GroupExpression, GroupTexts, PatternPool};
use crate::base::re2;
use crate::base::tls::TlsSettings;
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Redirect, Step};
use crate::data::header_names::HeaderNames;
use crate::data::refusal;
use crate::data::template::{ValueTemplate, VariableScope, append_to_url};
use crate::data::upstream::{Upstream, split_url};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_model::api::{TextMatch, TriggerMode, UrlRewrite};

/// Most upstreams that one endpoint's rewrites remember; beyond this, all are forgotten. The authority can come from the request.
const UPSTREAMS_MAX: usize = 256;

pub(super) struct RewriteUrl {
    by_endpoint: EndpointList<Rewrite>,
}

struct Rewrite {
    pattern: GroupExpression,
    rewrite_to: Pieces,
    triggers: Vec<CompiledTrigger>,
    tls: TlsSettings,
    /// Upstreams by scheme and authority, made on first use.
    upstreams: Mutex<HashMap<String, Arc<Upstream>>>,
    make: UpstreamMaker,
}

type UpstreamMaker = Box<dyn Fn(&str, &TlsSettings) -> Result<Upstream, String> + Send + Sync>;

struct CompiledTrigger {
    any: bool,
    headers: Vec<Condition>,
    parameters: Vec<Condition>,
    path_parts: Vec<Condition>,
    meta: Vec<Condition>,
    context: Vec<(ValueTemplate, Condition)>,
    /// Condition on the body.
    payload: Option<Condition>,
    rewrite_to: Pieces,
}

struct Condition {
    name: String,
    pattern: GroupExpression,
    reverse: bool,
    /// Whether there is at most one value; its captures have no index.
    is_on_one: bool,
}

/// A result text with placeholders for captures.
struct Pieces(Vec<RewritePiece>);

enum RewritePiece {
    Text(ValueTemplate),
    /// `$1`
    Group(usize),
    /// `$tyk_context.trigger-0-name-0`
    Captured(String),
}

/// Captures of the triggers, by name.
type Captured = BTreeMap<String, String>;

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
        if by_endpoint.is_empty() { None } else { Some(Box::new(RewriteUrl { by_endpoint })) }
    }
}

impl Rewrite {
    fn new(entry: &UrlRewrite, source: &MiddlewareSource<'_, '_>) -> Result<Self, (String, String)> {
        let registry = source.context.registry.clone();
        let pool = &registry.patterns;
        let scope = source.variable_scope();
        let triggers = entry.triggers.iter().enumerate().map(|(number, trigger)| {
            let options = &trigger.options;
            let compile = |field: &str, matches: &BTreeMap<String, TextMatch>| -> Result<Vec<Condition>, (String, String)> {
                let fail = |error| (format!("triggers[{number}].options.{field}"), error);
                matches.iter().map(|(name, text)| Condition::new(name, text, pool).map_err(fail)).collect()
            };
            let context_conditions = compile("request_context_matches", &options.request_context_matches)?;
            let payload = Some(&options.payload_matches).filter(|text| !text.match_rx.is_empty());
            let payload = payload.map(|text| Condition::new("payload", text, pool)).transpose();
            let payload = payload.map_err(|error| (format!("triggers[{number}].options.payload_matches"), error))?;
            Ok(CompiledTrigger {
                any: trigger.on == TriggerMode::Any,
                headers: compile("header_matches", &options.header_matches)?,
                parameters: compile("query_val_matches", &options.query_val_matches)?,
                path_parts: compile("path_part_matches", &options.path_part_matches)?,
                meta: compile("session_meta_matches", &options.session_meta_matches)?.into_iter().map(Condition::on_one).collect(),
                context: context_conditions
                    .into_iter()
                    .map(Condition::on_one)
                    .map(|condition| (ValueTemplate::new(&format!("$tyk_context.{}", condition.name), scope), condition))
                    .collect(),
                payload,
                rewrite_to: Pieces::new(&trigger.rewrite_to, scope),
            })
        });
        let triggers = triggers.collect::<Result<_, (String, String)>>()?;
        let pattern = pool.with_groups(&re2::ascii(&entry.match_pattern)).map_err(|error| ("match_pattern".to_owned(), error))?;
        Ok(Rewrite {
            pattern,
            rewrite_to: Pieces::new(&entry.rewrite_to, scope),
            triggers,
            tls: source.tls_settings(),
            upstreams: Mutex::default(),
            make: Box::new(move |url, tls| Upstream::new(url, tls, &registry)),
        })
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.rewrite_to.header_names(names);
        for trigger in &self.triggers {
            trigger.headers.iter().for_each(|condition| names.add(&condition.name));
            trigger.context.iter().for_each(|(template, _)| template.header_names(names));
            trigger.rewrite_to.header_names(names);
        }
    }

    /// The new URL, if the pattern matches.
    fn result(&self, exchange: &Exchange<'_>) -> Option<String> {
        let mut captured = Captured::new();
        let fired = self.triggers.iter().enumerate().find(|(number, trigger)| trigger.fires(*number, exchange, &mut captured));
        let pieces = fired.map_or(&self.rewrite_to, |(_, trigger)| &trigger.rewrite_to);
        let uri = exchange.uri();
        let groups = self.pattern.groups(&uri)?;
        Some(pieces.render(exchange, &groups, &captured))
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

impl CompiledTrigger {
    /// Whether the trigger's conditions hold, kind by kind: with `all` every kind that has conditions, with `any` one of them. The same
    /// rule applies within a kind.
    fn fires(&self, number: usize, exchange: &Exchange<'_>, captured: &mut Captured) -> bool {
        let headers = &exchange.request.headers;
        let mut kinds = Vec::new();
        let mut judge = |conditions: &[Condition], values: &dyn Fn(&Condition) -> Vec<String>| {
            if !conditions.is_empty() {
                let mut held = conditions.iter().map(|condition| condition.holds(number, &values(condition), captured));
                kinds.push(if self.any { held.any(|held| held) } else { held.all(|held| held) });
            }
        };
        judge(&self.headers, &|condition| {
            let own = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&condition.name));
            own.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
        });
        judge(&self.parameters, &|condition| {
            exchange.query().and_then(|query| parameter(query, &condition.name)).into_iter().collect()
        });
        judge(&self.path_parts, &|_| {
            exchange.url.path.decoded.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        });
        judge(&self.meta, &|condition| {
            let meta = exchange.meta_data().and_then(|meta| meta.get(&condition.name));
            meta.and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        });
        for (template, condition) in &self.context {
            kinds.push(condition.holds(number, &[template.render(exchange)], captured));
        }
        if let Some(payload) = &self.payload {
            kinds.push(payload.holds_for_body(number, &String::from_utf8_lossy(exchange.body()), captured));
        }
        if self.any { kinds.contains(&true) } else { !kinds.is_empty() && !kinds.contains(&false) }
    }
}

impl Condition {
    fn new(name: &str, text: &TextMatch, pool: &PatternPool) -> Result<Self, String> {
        let pattern = pool.with_groups(&re2::ascii(&text.match_rx))?;
        Ok(Condition { name: name.to_owned(), pattern, reverse: text.reverse, is_on_one: false })
    }

    fn on_one(self) -> Self {
        Condition { is_on_one: true, ..self }
    }

    /// Checks the values. The captures of the first match are stored as `trigger-<number>-<name>[-<index>][-<group>]`.
    fn holds(&self, number: usize, values: &[String], captured: &mut Captured) -> bool {
        let found = values.iter().enumerate().find_map(|(index, value)| Some((index, self.pattern.groups(value)?)));
        if self.reverse {
            // An absent value is not checked.
            return found.is_none() && !(self.is_on_one && values.is_empty());
        }
        let Some((index, groups)) = found else { return false };
        let name = format!("trigger-{number}-{}", self.name);
        let key = if self.is_on_one { name } else { format!("{name}-{index}") };
        for (group, text) in groups.iter().skip(1).enumerate() {
            captured.insert(format!("{key}-{group}"), text.to_owned());
        }
        captured.insert(key, groups.get(0).unwrap_or_default().to_owned());
        true
    }
}

impl Condition {
    /// Like [`Condition::holds`], for a body: its captures have the index 0, and the complete match is also stored without one.
    fn holds_for_body(&self, number: usize, body: &str, captured: &mut Captured) -> bool {
        let holds = self.holds(number, &[body.to_owned()], captured);
        if let Some(whole) = captured.get(&format!("trigger-{number}-{}-0", self.name)).cloned() {
            captured.insert(format!("trigger-{number}-{}", self.name), whole);
        }
        holds
    }
}

impl Pieces {
    fn new(text: &str, scope: VariableScope<'_>) -> Self {
        const CAPTURED: &str = "$tyk_context.trigger-";
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let digits = rest.strip_prefix('$').map_or(0, |tail| tail.bytes().take_while(u8::is_ascii_digit).count());
            let (piece, length) = if digits > 0 {
                let number = rest.get(1..=digits).and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX);
                (RewritePiece::Group(number), 1 + digits)
            } else if rest.starts_with(CAPTURED) {
                let name = rest.get("$tyk_context.".len()..).unwrap_or_default();
                let length = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(name.len());
                (RewritePiece::Captured(name.get(..length).unwrap_or_default().to_owned()), "$tyk_context.".len() + length)
            } else {
                literal.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                continue;
            };
            pieces.push(RewritePiece::Text(ValueTemplate::new(&std::mem::take(&mut literal), scope)));
            pieces.push(piece);
            rest = rest.get(length..).unwrap_or_default();
        }
        pieces.push(RewritePiece::Text(ValueTemplate::new(&literal, scope)));
        Pieces(pieces)
    }

    fn header_names(&self, names: &mut HeaderNames) {
        for piece in &self.0 {
            if let RewritePiece::Text(template) = piece {
                template.header_names(names);
            }
        }
    }

    fn render(&self, exchange: &Exchange<'_>, groups: &GroupTexts<'_>, captured: &Captured) -> String {
        let mut url = String::new();
        for piece in &self.0 {
            match piece {
                RewritePiece::Text(template) => template.append_to_url(exchange, &mut url),
                RewritePiece::Group(number) => url.push_str(groups.get(*number).unwrap_or_default()),
                RewritePiece::Captured(name) => append_to_url(captured.get(name).map_or("", String::as_str), &mut url),
            }
        }
        url
    }
}

impl Middleware for RewriteUrl {
    fn header_names(&self, names: &mut HeaderNames) {
        self.by_endpoint.values().for_each(|rewrite| rewrite.header_names(names));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(rewrite) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if rewrite.triggers.iter().any(|trigger| trigger.payload.is_some())
            && let Err(step) = exchange.read_body()
        {
            return step;
        }
        let Some(url) = rewrite.result(exchange) else { return Step::Next };
        // Captures from the request may contain bytes that a request line must not.
        if !url.bytes().all(|byte| byte > 0x20 && byte != 0x7f) {
            return Step::Refuse(refusal::UPSTREAM_FAILED);
        }
        let (path, query) = match split_url(&url) {
            None => {
                let (path, query) = url.split_once('?').map_or((url.as_str(), None), |(path, query)| (path, Some(query)));
                (path, query)
            }
            Some(parts) if parts.scheme == "tyk" => {
                exchange.redirected = Some(Redirect::Loop(parts.authority.to_owned()));
                (parts.path, Some(parts.query).filter(|query| !query.is_empty()))
            }
            Some(parts) => {
                match rewrite.upstream(&format!("{}://{}", parts.scheme, parts.authority)) {
                    Ok(upstream) => exchange.redirected = Some(Redirect::Upstream(upstream)),
                    Err(error) => {
                        tracing::warn!(api = exchange.api.id, %error, "a rewrite led to an unusable URL");
                        return Step::Refuse(refusal::UPSTREAM_FAILED);
                    }
                }
                (parts.path, Some(parts.query).filter(|query| !query.is_empty()))
            }
        };
        let rooted = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let Some(path) = Path::new(rooted.into()) else { return Step::Refuse(refusal::UPSTREAM_FAILED) };
        // The listen path is stripped only if the new path still has it.
        let listen_path = exchange.url.path.decoded.get(..exchange.url.listen_bytes).unwrap_or_default();
        if !path.decoded.starts_with(listen_path) || matches!(exchange.redirected, Some(Redirect::Upstream(_))) {
            exchange.url.listen_bytes = 0;
        }
        exchange.url.path = path;
        exchange.url.query = query.map(|query| query.to_owned().into());
        Step::Next
    }
}
