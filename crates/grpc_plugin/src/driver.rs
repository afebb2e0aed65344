//! The driver `grpc`: every API's plugins are in the one server of the configuration.

use crate::channel::{Channel, GrpcSettings};
use crate::convert;
use crate::events::EventQueue;
use crate::message::ObjectAnswer;
use crate::status::framed;
use prost::Message;
use prost::bytes::Bytes;
use std::sync::Arc;
use tollgate_plugin::{ApiPlugins, HookCall, HookFault, HookFuture, LoadFault, LoadedPlugins, PluginDriver};

/// The path of the method for hooks.
const DISPATCH: &str = "/coprocess.Dispatcher/Dispatch";

/// The driver.
pub struct GrpcDriver {
    plugins: Arc<GrpcPlugins>,
    events: EventQueue,
}

/// The plugins of any API: they are told apart by their names.
struct GrpcPlugins {
    channel: Arc<Channel>,
}

impl GrpcDriver {
    /// A driver for so many data threads. Nothing is connected before the first call.
    ///
    /// # Errors
    /// The authority is unusable.
    pub fn new(settings: GrpcSettings, threads: usize) -> Result<Self, String> {
        // Events have connections of their own, on a thread of their own.
        let events = EventQueue::new(Channel::new(settings.clone(), 1)?);
        let channel = Channel::new(settings, threads)?;
        Ok(GrpcDriver { plugins: Arc::new(GrpcPlugins { channel: Arc::new(channel) }), events })
    }
}

impl PluginDriver for GrpcDriver {
    fn load(&self, plugins: &ApiPlugins<'_>) -> Result<Arc<dyn LoadedPlugins>, LoadFault> {
        let section = plugins.section;
        let lists =
            section.lists().into_iter().flat_map(|(hook, entries)| entries.iter().enumerate().map(move |entry| (hook, entry)));
        for (hook, (index, entry)) in lists {
            if !entry.disabled && entry.name.is_empty() {
                let path = format!("$.custom_middleware.{hook}[{index}].name");
                return Err(LoadFault { path, message: "must name a function of the server of plugins".to_owned() });
            }
        }
        Ok(self.plugins.clone())
    }

    fn event(&self, event: String) {
        self.events.put(event);
    }
}

impl LoadedPlugins for GrpcPlugins {
    fn call(&self, mut call: HookCall) -> HookFuture {
        let (thread, time_max, trace_parent) = (call.core, call.time_max, call.trace_parent.take());
        let (object, asked) = convert::object(call);
        let message = framed(&object, self.channel.send_bytes_max());
        let channel = self.channel.clone();
        Box::pin(async move {
            let answer = channel.call(thread, DISPATCH, message?, time_max, trace_parent.as_deref()).await?;
            let object = ObjectAnswer::decode(Bytes::from(answer));
            convert::answer(object.map_err(|error| HookFault::Failed(format!("the answer is no object: {error}")))?, &asked)
        })
    }
}
