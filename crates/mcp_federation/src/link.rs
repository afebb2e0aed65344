//! The way to one server.

use crate::answer::{Answer, LinkFault, Outbound};
use crate::command::CommandServer;
use crate::http_server::HttpServer;
use crate::operations::OperationsServer;

/// How a server is reached.
pub(crate) enum Link {
    Http(HttpServer),
    Command(CommandServer),
    Operations(OperationsServer),
}

impl Link {
    /// Sends a message.
    pub(crate) async fn send(&self, outbound: Outbound<'_>) -> Result<Answer, LinkFault> {
        match self {
            Link::Http(server) => server.post(outbound).await,
            Link::Command(server) => server.send(outbound.message, outbound.holder).await,
            Link::Operations(server) => server.send(outbound).await,
        }
    }
}
