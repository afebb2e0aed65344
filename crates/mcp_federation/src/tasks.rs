//! Tasks (2025-11-25): calls that are answered at once with an id, by which the client asks later how they do and what has come of them. They are for
//! clients with a session at the server. Clients know a task by an id that is good in their session alone. What servers list is not passed on: they
//! know all clients by the same credentials, so that a list may have the tasks of others.

use crate::message::{method, set, text};
use crate::session_marks::SessionMarks;
use serde_json::{Value, json};

/// Where a message says to which task it belongs.
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// The parameter with which a call asks for a task.
pub(crate) const TASK: &str = "task";

/// The ids of one session's tasks.
#[derive(Clone)]
pub(crate) struct TaskIds(pub SessionMarks);

impl TaskIds {
    /// The server of a task, and its own id; `None` if the client did not get the id in this session.
    pub(crate) fn read<'i>(&self, id: &'i str) -> Option<(&'i str, &'i str)> {
        self.0.read(id)?.split_once(':')
    }

    /// Gives all tasks that a server's message names the ids that clients know.
    pub(crate) fn show(&self, server: &str, message: &mut Value) {
        let give = |named: &mut Value| {
            if let Some(own) = text(named, &["taskId"]) {
                let given = self.0.give(&format!("{server}:{own}"));
                set(named, "taskId", given);
            }
        };
        related(message).into_iter().for_each(give);
        if method(message) == "notifications/tasks/status" {
            message.get_mut("params").into_iter().for_each(give);
        }
        let Some(result) = message.get_mut("result") else { return };
        // How a task does is the result itself, or in the result of the call that has begun it.
        if is_task(result) {
            give(result);
        } else {
            result.get_mut(TASK).filter(|task| is_task(task)).into_iter().for_each(give);
        }
    }

    /// Gives a task that a client's message belongs to the id that its server knows.
    pub(crate) fn tell(&self, server: &str, message: &mut Value) {
        let Some(named) = related(message) else { return };
        let own = text(named, &["taskId"]).and_then(|id| self.read(id)).filter(|(of, _)| *of == server);
        if let Some(own) = own.map(|(_, own)| own.to_owned()) {
            set(named, "taskId", own);
        }
    }
}

/// What a message says of the task that it belongs to.
fn related(message: &mut Value) -> Option<&mut Value> {
    let holder = if message.get("method").is_some() { "params" } else { "result" };
    message.get_mut(holder)?.get_mut("_meta")?.get_mut(RELATED)
}

/// Whether a value says how a task does.
fn is_task(value: &Value) -> bool {
    ["taskId", "status", "createdAt"].iter().all(|name| value.get(*name).is_some_and(Value::is_string))
}

/// Whether a server takes calls as tasks.
pub(crate) fn are_offered(capabilities: &Value) -> bool {
    capabilities.pointer("/tasks/requests/tools/call").is_some()
}

/// What a client with sessions at servers that can do this is told of tasks; `None` if they take none.
pub(crate) fn offered(servers: &[&Value]) -> Option<Value> {
    let able: Vec<_> = servers.iter().filter(|server| are_offered(server)).collect();
    let mut tasks = json!({"requests": {"tools": {"call": {}}}});
    if able.iter().all(|server| server.pointer("/tasks/cancel").is_some()) {
        set(&mut tasks, "cancel", json!({}));
    }
    (!able.is_empty()).then_some(tasks)
}

/// Says of the tools of a page that they take no tasks, but for those that `takes_tasks` names.
pub(crate) fn hide_support(page: &mut Value, takes_tasks: impl Fn(&str) -> bool) {
    for tool in page.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if text(tool, &["name"]).is_some_and(&takes_tasks) {
            continue;
        }
        if text(tool, &["execution", "taskSupport"]).is_some()
            && let Some(execution) = tool.get_mut("execution")
        {
            set(execution, "taskSupport", "forbidden");
        }
    }
}

#[cfg(test)]
mod tests;
