//! One instance of a module: started, and called for one request after the other. What a module keeps in its memory stays from call to call,
//! as in other hosts of the interface.

use crate::compiled::{CompiledModule, WasmEngine};
use crate::deadline::Deadline;
use crate::header_changes::Lines;
use crate::host::Host;
use crate::limits::KEPT_MEMORY_BYTES_MAX;
use crate::property::PluginFacts;
use crate::wasi::Exited;
use crate::wasm_call::{HeaderList, WasmCall};
use std::sync::Arc;
use tollgate_plugin::{HookCall, HookKind};
use wasmtime::{Error, Instance, Store, Trap, TypedFunc, WasmParams, WasmResults};

/// The context of the plugin itself. Those of requests have greater numbers.
const ROOT: i32 = 1;
/// What a function returns that wants the request to wait.
const PAUSE: i32 = 1;

/// An instance that has started.
pub(crate) struct PluginInstance {
    store: Store<Host>,
    exports: Exports,
    last_context: i32,
    /// Its memory after the start: programs in Go begin with some MiB.
    start_bytes: usize,
}

/// The functions of a module. It need not have all.
struct Exports {
    create: Option<TypedFunc<(i32, i32), ()>>,
    request_headers: Option<TypedFunc<(i32, i32, i32), i32>>,
    request_body: Option<TypedFunc<(i32, i32, i32), i32>>,
    response_headers: Option<TypedFunc<(i32, i32, i32), i32>>,
    response_body: Option<TypedFunc<(i32, i32, i32), i32>>,
    done: Option<TypedFunc<i32, i32>>,
    log: Option<TypedFunc<i32, ()>>,
    delete: Option<TypedFunc<i32, ()>>,
}

/// Why an instance has to be thrown away.
#[derive(Debug)]
pub(crate) enum RunFault {
    /// The time is over.
    Interrupted,
    /// The module failed.
    Failed(String),
}

impl PluginInstance {
    /// Makes an instance and lets it start.
    pub(crate) fn start(
        engine: &WasmEngine,
        module: &CompiledModule,
        facts: &Arc<PluginFacts>,
        deadline: Deadline,
    ) -> Result<Self, RunFault> {
        let mut store = Store::new(&engine.engine, Host::new(facts.clone()));
        store.limiter(|host| &mut host.limits);
        store.epoch_deadline_callback(|mut store| Ok(store.data_mut().deadline.update()));
        set_deadline(&mut store, deadline);
        let begun = begin(&mut store, module);
        let begun = begun.map_err(|error| fault(&error, &store));
        if !matches!(begun, Err(RunFault::Interrupted)) {
            store.data_mut().log.write(&facts.api, &facts.name);
        }
        let exports = begun?;
        let start_bytes = memory_bytes(&store);
        Ok(PluginInstance { store, exports, last_context: ROOT, start_bytes })
    }

    /// Runs a hook. A call that did not end is given back.
    pub(crate) fn run(&mut self, mut call: HookCall, deadline: Deadline) -> Result<WasmCall, (RunFault, Option<Box<HookCall>>)> {
        trim(&mut call);
        set_deadline(&mut self.store, deadline);
        self.store.data_mut().call = Some(WasmCall::new(call));
        let served = self.serve();
        let fault = served.err().map(|error| fault(&error, &self.store));
        let host = self.store.data_mut();
        match &fault {
            Some(RunFault::Interrupted) => host.log.clear(),
            _ => host.log.write(&host.facts.api, &host.facts.name),
        }
        let call = host.call.take();
        match (fault, call) {
            (None, Some(call)) => Ok(call),
            (fault, call) => Err((fault.unwrap_or(RunFault::Interrupted), call.map(|call| Box::new(call.call)))),
        }
    }

    /// Whether the instance may be used again.
    pub(crate) fn is_small(&self) -> bool {
        memory_bytes(&self.store) <= KEPT_MEMORY_BYTES_MAX.max(self.start_bytes.saturating_mul(2))
    }

    fn serve(&mut self) -> Result<(), Error> {
        let id = self.next_context();
        let exports = &self.exports;
        if let Some(create) = &exports.create {
            create.call(&mut self.store, (id, ROOT))?;
        }
        let call = self.store.data().call.as_ref();
        let (list, lines, bytes) = call
            .map_or((HeaderList::Request, 0, 0), |call| (call.own_list(), call.line_count(call.own_list()), call.own_body().len()));
        let (headers, body) = match list {
            HeaderList::Request => (&exports.request_headers, &exports.request_body),
            HeaderList::Response => (&exports.response_headers, &exports.response_body),
        };
        let mut action = 0;
        if let Some(headers) = headers {
            action = headers.call(&mut self.store, (id, number(lines), i32::from(bytes == 0)))?;
        }
        if let Some(body) = body.as_ref().filter(|_| bytes > 0)
            && !has_reply(&self.store)
        {
            action = body.call(&mut self.store, (id, number(bytes), 1))?;
        }
        if let Some(done) = &exports.done {
            done.call(&mut self.store, id)?;
        }
        for end in [&exports.log, &exports.delete].into_iter().flatten() {
            end.call(&mut self.store, id)?;
        }
        let call = self.store.data().call.as_ref();
        if action == PAUSE && call.is_some_and(|call| call.reply.is_none() && !call.is_continued) {
            return Err(Error::msg("the plugin paused the request, and nothing will continue it"));
        }
        Ok(())
    }

    fn next_context(&mut self) -> i32 {
        self.last_context = self.last_context.checked_add(1).unwrap_or(ROOT + 1);
        self.last_context
    }
}

/// Takes out what a hook does not see.
fn trim(call: &mut HookCall) {
    if call.kind != HookKind::Response {
        call.response = None;
    } else if call.response.is_none() {
        call.response = Some(tollgate_plugin::PluginResponse { status: 0, headers: Lines::new(), body: Vec::new() });
    }
}

fn has_reply(store: &Store<Host>) -> bool {
    store.data().call.as_ref().is_some_and(|call| call.reply.is_some())
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn memory_bytes(store: &Store<Host>) -> usize {
    store.data().memory.map_or(0, |memory| memory.data_size(store))
}

fn set_deadline(store: &mut Store<Host>, deadline: Deadline) {
    store.set_epoch_deadline(deadline.ticks());
    store.data_mut().deadline = deadline;
}

/// Why a call failed. What the module logged last is often the reason.
fn fault(error: &Error, store: &Store<Host>) -> RunFault {
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::Interrupt) {
        return RunFault::Interrupted;
    }
    let why = trap.map_or_else(|| error.root_cause().to_string(), ToString::to_string);
    match store.data().log.last() {
        Some(line) if trap.is_some() => RunFault::Failed(format!("{why}: {}", line.trim().escape_debug())),
        _ => RunFault::Failed(why),
    }
}

/// Instantiates a module, and calls what it wants to be called at its start.
fn begin(store: &mut Store<Host>, module: &CompiledModule) -> Result<Exports, Error> {
    let instance = module.instance.instantiate(&mut *store)?;
    let memory = instance.get_memory(&mut *store, "memory").ok_or_else(|| Error::msg("the module exports no memory"))?;
    let allocate = match function(&instance, store, "proxy_on_memory_allocate")? {
        Some(allocate) => Some(allocate),
        None => function(&instance, store, "malloc")?,
    };
    let host = store.data_mut();
    (host.memory, host.allocate) = (Some(memory), allocate);
    initialise(&instance, store)?;
    let exports = Exports {
        create: function(&instance, store, "proxy_on_context_create")?,
        request_headers: function(&instance, store, "proxy_on_request_headers")?,
        request_body: function(&instance, store, "proxy_on_request_body")?,
        response_headers: function(&instance, store, "proxy_on_response_headers")?,
        response_body: function(&instance, store, "proxy_on_response_body")?,
        done: function(&instance, store, "proxy_on_done")?,
        log: function(&instance, store, "proxy_on_log")?,
        delete: function(&instance, store, "proxy_on_delete")?,
    };
    if let Some(create) = &exports.create {
        create.call(&mut *store, (ROOT, 0))?;
    }
    let configuration = number(store.data().facts.configuration.len());
    for (name, bytes) in [("proxy_on_vm_start", 0), ("proxy_on_configure", configuration)] {
        if let Some(start) = function::<(i32, i32), i32>(&instance, store, name)?
            && start.call(&mut *store, (ROOT, bytes))? == 0
        {
            return Err(Error::msg(format!("{name} of the plugin returned false")));
        }
    }
    Ok(exports)
}

/// Calls the module's own initialisation. A program with `main` has `_start`, and may end with 0.
fn initialise(instance: &Instance, store: &mut Store<Host>) -> Result<(), Error> {
    if let Some(initialise) = function::<(), ()>(instance, store, "_initialize")? {
        return initialise.call(&mut *store, ());
    }
    let Some(main) = function::<(), ()>(instance, store, "_start")? else { return Ok(()) };
    match main.call(&mut *store, ()) {
        Err(error) if error.downcast_ref::<Exited>().is_some_and(|exited| exited.0 == 0) => Ok(()),
        outcome => outcome,
    }
}

/// A function of the module with this name; an error if it has other parameters or results.
fn function<P: WasmParams, R: WasmResults>(
    instance: &Instance,
    store: &mut Store<Host>,
    name: &str,
) -> Result<Option<TypedFunc<P, R>>, Error> {
    let Some(function) = instance.get_func(&mut *store, name) else { return Ok(None) };
    let typed =
        function.typed(&*store).map_err(|error| Error::msg(format!("{name} has another type than the interface: {error}")))?;
    Ok(Some(typed))
}
