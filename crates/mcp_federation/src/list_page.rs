//! Pages of the lists that clients see, and the tools in them that a caller does not.

use crate::catalogue::Catalogue;
use crate::federated::{Asked, FederatedServer};
use crate::link::Link;
use crate::message::{RpcError, code, method, set, text};
use crate::tool_route::ToolRoute;
use crate::weight::weight;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Entries of a list in one page.
const PAGE: usize = 1_000;
/// Most bytes of memory of a page, but for one entry.
const PAGE_BYTES_MAX: usize = 2 << 20;

impl FederatedServer {
    /// One page of a list.
    pub(crate) fn page(&self, catalogue: &Catalogue, asked: &Asked) -> Result<Value, RpcError> {
        let (method, params) = (method(&asked.message), asked.params());
        let (member, all) = match method {
            "tools/list" => ("tools", &catalogue.tools),
            "prompts/list" => ("prompts", &catalogue.prompts),
            "resources/list" => ("resources", &catalogue.resources),
            _ => ("resourceTemplates", &catalogue.templates),
        };
        let start = match params.get("cursor").filter(|cursor| !cursor.is_null()) {
            None => 0,
            Some(cursor) => cursor
                .as_str()
                .and_then(|cursor| cursor.parse::<usize>().ok())
                .filter(|at| *at < all.len())
                .ok_or_else(|| RpcError::new(code::INVALID_PARAMS, "the cursor is none of this server's"))?,
        };
        let mut left = PAGE_BYTES_MAX;
        let rest = all.get(start..).unwrap_or_default().iter().take(PAGE).enumerate();
        let fitting = rest.take_while(|(at, entry)| {
            let fits = weight(entry).min(left);
            left -= fits;
            *at == 0 || left > 0
        });
        let end = start + fitting.count();
        let mut entries = all.get(start..end).unwrap_or_default().to_vec();
        if let Some(refused) = self.refused_tools(asked).filter(|_| method == "tools/list") {
            let is_refused = |tool: &ToolRoute| refused.get(&tool.server).is_some_and(|names| names.contains(&tool.name));
            entries.retain(|entry| !text(entry, &["name"]).and_then(|name| catalogue.tool(name)).is_some_and(is_refused));
        }
        let mut page = json!({member: entries});
        if end < all.len() {
            set(&mut page, "nextCursor", end.to_string());
        }
        Ok(page)
    }

    /// The tools that the gateway's own APIs refuse the caller anyway, by the places of their servers; `None` if there can be none.
    fn refused_tools(&self, asked: &Asked) -> Option<HashMap<usize, HashSet<String>>> {
        let rights = asked.recorded.as_ref()?.rights.as_deref()?;
        let refused = self.state.backends.iter().enumerate().filter_map(|(at, backend)| match &backend.link {
            Link::Operations(server) => Some((at, server.refused(rights, |_| true))),
            Link::Http(_) | Link::Command(_) => None,
        });
        Some(refused.collect())
    }

    /// Whether an API of the gateway's own refuses the caller a tool anyway.
    pub(crate) fn is_refused(&self, tool: &ToolRoute, asked: &Asked) -> bool {
        let rights = asked.recorded.as_ref().and_then(|call| call.rights.as_deref());
        match (rights, self.state.backends.get(tool.server).map(|backend| &backend.link)) {
            (Some(rights), Some(Link::Operations(server))) => !server.refused(rights, |name| name == tool.name).is_empty(),
            _ => false,
        }
    }
}
