//! Which calls of an MCP proxy its definition allows. In `extended_paths` methods, tools, resources and prompts stand as paths of their own; their
//! entries of `white_list` and `black_list` are read here.

use super::MiddlewareSource;
use crate::endpoints::Hits;
use crate::refusal::{self, Refusal};
use crate::version_terms::VersionTerms;
use std::sync::Arc;
use tollgate_mcp::{Call, Primitive};
use tollgate_model::api::{AccessEntry, EndpointEntry};
use tollgate_model::session::PrimitiveKind;
use tollgate_pattern::PooledPattern;

/// How the path of a method begins.
const METHOD: &str = PrimitiveKind::METHOD_PATH_PREFIX;

/// Whether an entry of a list is for calls.
pub(super) fn is_for_calls(entry: &AccessEntry) -> bool {
    PrimitiveKind::is_call_path(entry.path().trim_start_matches('^'))
}

/// Finds the endpoints of a call.
pub(super) fn find_endpoints(version: &VersionTerms, call: &Call, hits: &mut Hits) {
    if version.matcher.is_empty() {
        return;
    }
    let method = format!("{METHOD}{}", call.method);
    let mut names: Vec<String> = Vec::new();
    if let Some((kind, known)) = call.names() {
        names.extend(known.iter().map(|name| format!("{}{name}", kind.path_prefix())));
        names.dedup();
    }
    version.matcher.find_call(&method, &names, hits);
}

/// The rules of a version.
#[derive(Default)]
pub(super) struct CallRules {
    methods: PathRules,
    tools: PathRules,
    resources: PathRules,
    prompts: PathRules,
}

/// Which paths of one kind are closed.
#[derive(Default)]
struct PathRules {
    allowed: Vec<Arc<PooledPattern>>,
    blocked: Vec<Arc<PooledPattern>>,
}

impl PathRules {
    fn blocks(&self, path: &str) -> bool {
        self.blocked.iter().any(|pattern| pattern.is_match(path))
    }

    fn lists(&self, path: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|pattern| pattern.is_match(path))
    }

    fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.blocked.is_empty()
    }
}

impl CallRules {
    /// The rules of a definition. Unusable patterns are reported as problems.
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Self {
        let mut rules = CallRules::default();
        let paths = &source.info.extended_paths;
        for (name, entries, blocks) in [("white_list", &paths.white_list, false), ("black_list", &paths.black_list, true)] {
            let entries = entries.iter().enumerate().filter(|(_, entry)| !entry.disabled && is_for_calls(entry));
            for (index, entry) in entries {
                let pattern = source.pooled_pattern(name, index, &entry.path);
                let of = rules.of_mut(entry.path().trim_start_matches('^'));
                let list = if blocks { &mut of.blocked } else { &mut of.allowed };
                list.extend(pattern);
            }
        }
        rules
    }

    fn of_mut(&mut self, path: &str) -> &mut PathRules {
        match PrimitiveKind::ALL.into_iter().find(|kind| path.starts_with(kind.path_prefix())) {
            None => &mut self.methods,
            Some(PrimitiveKind::Tool) => &mut self.tools,
            Some(PrimitiveKind::Resource) => &mut self.resources,
            Some(PrimitiveKind::Prompt) => &mut self.prompts,
        }
    }

    fn of(&self, kind: PrimitiveKind) -> &PathRules {
        match kind {
            PrimitiveKind::Tool => &self.tools,
            PrimitiveKind::Resource => &self.resources,
            PrimitiveKind::Prompt => &self.prompts,
        }
    }

    /// Why a call's method is refused, in Tyk's words.
    pub(super) fn method_refusal(&self, call: &Call) -> Option<Refusal> {
        if self.methods.is_empty() {
            return None;
        }
        let path = format!("{METHOD}{}", call.method);
        match (self.methods.blocks(&path), self.methods.lists(&path)) {
            (true, _) => Some(refusal::FORBIDDEN_ENDPOINT),
            (_, false) => Some(refusal::MCP_METHOD_UNLISTED),
            _ => None,
        }
    }

    /// Why what a call names is refused, in Tyk's words.
    pub(super) fn primitive_refusal(&self, call: &Call) -> Option<Refusal> {
        let primitive = call.primitive.as_ref()?;
        if !self.filters(primitive.kind) {
            return None;
        }
        if !primitive.is_clear() {
            return Some(refusal::MCP_NAME_UNCLEAR);
        }
        match (self.blocks(primitive), self.lists(primitive)) {
            (true, _) => Some(refusal::FORBIDDEN_ENDPOINT),
            (_, false) => Some(refusal::MCP_PRIMITIVE_UNLISTED),
            _ => None,
        }
    }

    fn blocks(&self, primitive: &Primitive) -> bool {
        let rules = self.of(primitive.kind);
        !primitive.passes(|name| rules.blocks(&format!("{}{name}", primitive.kind.path_prefix())), |_| true)
    }

    fn lists(&self, primitive: &Primitive) -> bool {
        let rules = self.of(primitive.kind);
        primitive.passes(|_| false, |name| rules.lists(&format!("{}{name}", primitive.kind.path_prefix())))
    }

    /// Whether nothing is closed.
    pub(super) fn is_empty(&self) -> bool {
        self.methods.is_empty() && PrimitiveKind::ALL.iter().all(|kind| self.of(*kind).is_empty())
    }

    /// Whether there are rules for primitives of this kind.
    pub(super) fn filters(&self, kind: PrimitiveKind) -> bool {
        !self.of(kind).is_empty()
    }

    /// Whether one may be used.
    pub(super) fn shows(&self, primitive: &Primitive) -> bool {
        !self.blocks(primitive) && self.lists(primitive)
    }

    /// Whether a method may be called.
    pub(super) fn allows(&self, method: &str) -> bool {
        let path = format!("{METHOD}{method}");
        self.methods.is_empty() || (!self.methods.blocks(&path) && self.methods.lists(&path))
    }
}
