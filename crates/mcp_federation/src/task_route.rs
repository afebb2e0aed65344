//! Where requests for tasks go.

use crate::answer::Agreed;
use crate::client_session::agreed;
use crate::federated::{Asked, FederatedServer, Route};
use crate::message::{RpcError, code, method, set, text};
use crate::seal::SessionFacts;

/// Where a request for a task goes, and what the session has agreed there.
pub(crate) async fn task_route(server: &FederatedServer, asked: &Asked, facts: &SessionFacts) -> Result<(Route, Agreed), RpcError> {
    let catalogue = server.state.catalogue().await;
    let of_server = |at: usize| agreed(server, facts, at).filter(|_| catalogue.takes_tasks(at));
    if !(0..server.state.backends.len()).any(|at| of_server(at).is_some()) {
        return Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found"));
    }
    let mut params = asked.params();
    let missing = || RpcError::new(code::INVALID_PARAMS, "missing required parameter: taskId");
    let name = text(&params, &["taskId"]).ok_or_else(missing)?.to_owned();
    let ids = server.state.outside.seal.tasks(asked.session().unwrap_or_default());
    let found = ids.read(&name).and_then(|(of, own)| {
        let at = server.state.terms.servers.iter().position(|server| server.name == of)?;
        Some((at, of_server(at)?, own.to_owned()))
    });
    let (at, agreed, own) = found.ok_or_else(|| RpcError::new(code::INVALID_PARAMS, "the session has no task with this id"))?;
    set(&mut params, "taskId", own);
    let method = method(&asked.message).to_owned();
    Ok((Route { server: at, method, name, params, headers: Vec::new(), tool: None, task: None }, agreed))
}
