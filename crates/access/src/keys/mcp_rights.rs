//! What a key may do on an MCP proxy, compiled: methods of JSON-RPC, and tools, resources and prompts by name.

use super::rights::{PatternList, RightPatterns};
use std::sync::Arc;
use tollgate_model::session::{AccessRight, NameRules, PrimitiveKind};

/// The rules of one access right.
pub struct McpRights {
    methods: NameAccess,
    tools: NameAccess,
    resources: NameAccess,
    prompts: NameAccess,
}

/// Names that are allowed and blocked.
struct NameAccess {
    /// `None` allows all.
    allowed: Option<Arc<PatternList>>,
    blocked: Option<Arc<PatternList>>,
}

impl McpRights {
    /// `None` if everything is allowed.
    pub(super) fn compile(right: &AccessRight, patterns: &RightPatterns) -> Option<Self> {
        let (methods, primitives) = (&right.json_rpc_methods_access_rights, &right.mcp_access_rights);
        if methods.is_empty() && primitives.is_empty() {
            return None;
        }
        let of = |kind| NameAccess::compile(primitives.of(kind), patterns);
        Some(McpRights {
            methods: NameAccess::compile(methods, patterns),
            tools: of(PrimitiveKind::Tool),
            resources: of(PrimitiveKind::Resource),
            prompts: of(PrimitiveKind::Prompt),
        })
    }

    /// Whether all lists are compiled. One that is not is compiled when it is first used; `Keys::patterns` prepares it on its thread.
    pub fn is_ready(&self) -> bool {
        self.lists().all(|list| list.is_ready())
    }

    /// The lists of names.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Arc<PatternList>> {
        let all = [&self.methods, &self.tools, &self.resources, &self.prompts];
        all.into_iter().flat_map(|names| [&names.allowed, &names.blocked]).flatten()
    }

    /// Whether some methods are not allowed.
    pub fn has_method_rules(&self) -> bool {
        self.methods.has_rules()
    }

    /// Whether some primitives of a kind are not allowed.
    pub fn has_rules(&self, kind: PrimitiveKind) -> bool {
        self.of(kind).has_rules()
    }

    pub fn permits_method(&self, method: &str) -> bool {
        !self.methods.blocks(method) && self.methods.allows(method)
    }

    /// Whether a primitive of this name is blocked.
    pub fn blocks(&self, kind: PrimitiveKind, name: &str) -> bool {
        self.of(kind).blocks(name)
    }

    /// Whether a primitive of this name is allowed, if it is not blocked.
    pub fn allows(&self, kind: PrimitiveKind, name: &str) -> bool {
        self.of(kind).allows(name)
    }

    fn of(&self, kind: PrimitiveKind) -> &NameAccess {
        match kind {
            PrimitiveKind::Tool => &self.tools,
            PrimitiveKind::Resource => &self.resources,
            PrimitiveKind::Prompt => &self.prompts,
        }
    }
}

impl NameAccess {
    fn compile(rules: &NameRules, patterns: &RightPatterns) -> Self {
        let list = |names: &[String]| (!names.is_empty()).then(|| patterns.names(names));
        NameAccess { allowed: list(&rules.allowed), blocked: list(&rules.blocked) }
    }

    fn has_rules(&self) -> bool {
        self.allowed.is_some() || self.blocked.is_some()
    }

    fn blocks(&self, name: &str) -> bool {
        self.blocked.as_ref().is_some_and(|blocked| blocked.has_name(name))
    }

    fn allows(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.has_name(name))
    }
}
