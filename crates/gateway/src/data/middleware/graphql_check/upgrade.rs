//! WebSockets, in which clients subscribe. The handshake is checked, as in Tyk; what the client says inside is between it and the upstream,
//! or checked by the server of the data graph.

use super::GraphqlCheck;
use crate::data::exchange::{Exchange, Step};
use crate::data::refusal;

/// The protocols of GraphQL over WebSocket: the present one, and the one of `subscriptions-transport-ws`.
const PROTOCOLS: [&str; 2] = ["graphql-transport-ws", "graphql-ws"];

impl GraphqlCheck {
    pub(super) fn upgrade(&self, exchange: &mut Exchange<'_>) -> Step {
        if !exchange.settings.websockets || !self.rules.websockets {
            return Step::Refuse(refusal::GRAPHQL_NO_WEBSOCKETS);
        }
        let offered = exchange.request.headers.get("sec-websocket-protocol").and_then(|value| std::str::from_utf8(value).ok());
        let mut offered = offered.unwrap_or_default().split(',').map(str::trim);
        if !offered.any(|protocol| PROTOCOLS.contains(&protocol)) {
            return Step::Refuse(refusal::GRAPHQL_WEBSOCKET_PROTOCOL);
        }
        if self.api.executed.is_some() {
            self.tell_facts(exchange);
            return Step::Next;
        }
        let rights = exchange.key.as_ref().map(|key| key.graphql_rights(&exchange.api.id));
        if self.rules.is_closed || rights.is_some_and(|rights| rights.restrict()) {
            return Step::Refuse(refusal::GRAPHQL_WEBSOCKET_RIGHTS);
        }
        self.headers.apply(exchange);
        Step::Next
    }
}
