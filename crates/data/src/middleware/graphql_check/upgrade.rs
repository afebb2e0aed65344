//! WebSockets, in which clients subscribe. The handshake is checked here, as in Tyk; what the client says inside by an inspector on the way to the
//! upstream, or by the server of the data graph.

use super::GraphqlCheck;
use crate::exchange::{Exchange, Step};
use crate::graphql::{SocketInspector, SocketRights};
use crate::refusal;
use std::io;
use tollgate_engine::TunnelInspector;

/// The protocols of GraphQL over WebSocket: the present one, and the one of `subscriptions-transport-ws`.
const PROTOCOLS: [&str; 2] = ["graphql-transport-ws", "graphql-ws"];

impl GraphqlCheck {
    pub(super) fn upgrade(&self, exchange: &mut Exchange<'_>) -> Step {
        if !exchange.arrival.settings.upstreams.websockets || !self.checker.rules.websockets {
            return Step::Refuse(refusal::GRAPHQL_NO_WEBSOCKETS);
        }
        let offered = exchange.received().get("sec-websocket-protocol").and_then(|value| std::str::from_utf8(value).ok());
        let offered = offered.unwrap_or_default().split(',').map(str::trim);
        let protocols: Vec<&str> = offered.filter(|protocol| PROTOCOLS.contains(protocol)).collect();
        if protocols.is_empty() {
            return Step::Refuse(refusal::GRAPHQL_WEBSOCKET_PROTOCOL);
        }
        if self.checker.api.executed.is_some() {
            self.tell_facts(exchange);
            return Step::Next;
        }
        // One API that loops to another one: only one inspector can be between the client and the upstream.
        if exchange.outgoing.inspector.is_some() {
            return Step::Refuse(refusal::GRAPHQL_NO_WEBSOCKETS);
        }
        exchange.outgoing.inspector = Some(self.inspector(exchange));
        let (edits, headers) = (&mut exchange.outgoing.edits, &exchange.request.headers);
        // Other protocols and compressed messages could not be inspected.
        edits.set(headers, "Sec-WebSocket-Protocol", protocols.join(", ").as_bytes());
        edits.remove(headers, "Sec-WebSocket-Extensions");
        self.headers.apply(exchange);
        Step::Next
    }

    fn inspector(&self, exchange: &Exchange<'_>) -> TunnelInspector {
        let rights = exchange.caller.key.as_ref().map(|key| key.graphql_rights(&exchange.api.id).clone()).unwrap_or_default();
        let rights = SocketRights { rights, is_closed: self.checker.rules.is_closed };
        let inspector = SocketInspector { api: self.checker.api.clone(), rights, persists: self.checker.rules.persisted };
        let client = self.graph_client.clone();
        Box::new(move || match client.0.get() {
            Some(threads) => inspector.open(&threads),
            None => Err(io::Error::other("the system cannot start the threads of data graphs")),
        })
    }
}
