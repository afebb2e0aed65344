//! The function of a script that changes analytics records (`traffic_logs`, `analytics_plugin`).

use super::hook_fault;
use tollgate_javascript::{Argument, Constant, Handler, SandboxEntry, Script, ScriptCall, ScriptFault, ScriptReply};
use tollgate_plugin::{RecordAnswer, RecordPlugin, RecordReply};

pub(super) struct RecordScript {
    pub script: Script,
    pub handler: Handler,
    /// Identity and `config_data` of the API.
    pub config: Constant,
}

impl RecordPlugin for RecordScript {
    fn process(&self, record: String, done: RecordReply) {
        let arguments = [Argument::Json(record), Argument::Constant(self.config), Argument::None, Argument::None];
        self.script
            .call(ScriptCall { handler: self.handler, entry: SandboxEntry::Record, arguments }, Box::new(RecordWaiter(done)));
    }
}

/// Whoever writes the record.
struct RecordWaiter(RecordReply);

impl ScriptReply for RecordWaiter {
    fn is_awaited(&self) -> bool {
        true
    }

    fn send(self: Box<Self>, result: Result<String, ScriptFault>) {
        let answer = |text: String| if text.is_empty() { RecordAnswer::Dropped } else { RecordAnswer::Changed(text) };
        (self.0)(result.map(answer).map_err(hook_fault));
    }
}
