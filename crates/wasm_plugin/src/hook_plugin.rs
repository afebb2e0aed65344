//! The plugin of one hook: its module, its instances, and where its calls run.

use crate::answer::answer;
use crate::compiled::{CompiledModule, WasmEngine};
use crate::deadline::{CallClock, Deadline};
use crate::instance::{PluginInstance, RunFault};
use crate::limits::{KEPT_INSTANCES_MAX, SHORT_CALLS_TO_RETURN, START_TIME_MAX, TICK};
use crate::long_calls::{CallOutcome, LongCalls, LongCounts};
use crate::property::PluginFacts;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tollgate_plugin::{HookCall, HookFault};

/// The plugin of one hook.
pub(crate) struct HookPlugin {
    engine: Arc<WasmEngine>,
    module: Arc<CompiledModule>,
    facts: Arc<PluginFacts>,
    long_calls: Arc<LongCalls>,
    /// Whether an instance starts so quickly that a data thread may do it.
    starts_quickly: bool,
    /// One instance for each data thread. No other thread takes these locks.
    instances: Vec<Mutex<Option<PluginInstance>>>,
    /// Instances for other threads, and for data threads without one.
    spare: Mutex<Vec<PluginInstance>>,
    /// Calls that must be short before data threads run them again.
    short_calls_left: AtomicU32,
    long_counts: Arc<LongCounts>,
}

/// What became of a call on a data thread.
enum Tried {
    Ended(CallOutcome),
    TooLong(HookCall),
}

impl HookPlugin {
    /// Starts the plugin: its first instance.
    pub(crate) fn start(
        engine: &Arc<WasmEngine>,
        module: Arc<CompiledModule>,
        facts: PluginFacts,
        long_calls: &Arc<LongCalls>,
        threads: usize,
    ) -> Result<Self, String> {
        let facts = Arc::new(facts);
        let began = Instant::now();
        let deadline = Deadline::Until(CallClock::new(began + START_TIME_MAX));
        let _ticking = engine.ticker.begin();
        let first = PluginInstance::start(engine, &module, &facts, deadline).map_err(|fault| match fault {
            RunFault::Interrupted => format!("the plugin does not start within {} seconds", START_TIME_MAX.as_secs()),
            RunFault::Failed(why) => format!("the plugin does not start: {why}"),
        })?;
        Ok(HookPlugin {
            engine: engine.clone(),
            module,
            facts,
            long_calls: long_calls.clone(),
            starts_quickly: began.elapsed() < TICK,
            instances: (0..threads.max(1)).map(|_| Mutex::default()).collect(),
            spare: Mutex::new(vec![first]),
            short_calls_left: AtomicU32::new(0),
            long_counts: Arc::default(),
        })
    }

    /// Calls the hook: on this data thread if that is short, otherwise on another one.
    pub(crate) async fn call(self: Arc<Self>, call: HookCall) -> CallOutcome {
        let began = Instant::now();
        let call = match self.try_here(call) {
            Tried::Ended(outcome) => return outcome,
            Tried::TooLong(call) => call,
        };
        let (long_calls, counts) = (self.long_calls.clone(), self.long_counts.clone());
        let clock = CallClock::new(began + call.time_max);
        long_calls.run(counts, clock, move |clock| self.run_long(call, clock)).await
    }

    fn try_here(&self, call: HookCall) -> Tried {
        if self.short_calls_left.load(Ordering::Relaxed) > 0 {
            return Tried::TooLong(call);
        }
        let own = self.instances.get(call.core % self.instances.len().max(1));
        let kept = own.and_then(|own| lock(own).take()).or_else(|| lock(&self.spare).pop());
        if kept.is_none() && !self.starts_quickly {
            return Tried::TooLong(call);
        }
        let _ticking = self.engine.ticker.begin();
        let (outcome, instance) = self.run(kept, call, || Deadline::Here(None));
        if let (Some(own), Some(instance)) = (own, instance) {
            *lock(own) = Some(instance);
        }
        match outcome {
            Ok(outcome) => Tried::Ended(outcome),
            Err(call) => {
                self.short_calls_left.store(SHORT_CALLS_TO_RETURN, Ordering::Relaxed);
                Tried::TooLong(call)
            }
        }
    }

    /// Runs a call on a thread that serves nobody else.
    fn run_long(&self, call: HookCall, clock: &Arc<CallClock>) -> CallOutcome {
        let began = Instant::now();
        let kept = lock(&self.spare).pop();
        let _ticking = self.engine.ticker.begin();
        let had_instance = kept.is_some();
        let (outcome, instance) = self.run(kept, call, || Deadline::Until(clock.clone()));
        if let Some(instance) = instance {
            let mut spare = lock(&self.spare);
            if spare.len() < self.instances.len().max(KEPT_INSTANCES_MAX) {
                spare.push(instance);
            }
        }
        if had_instance && began.elapsed() < TICK {
            let one_less = |left: u32| left.checked_sub(1);
            let _ = self.short_calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        }
        outcome.unwrap_or(Err(HookFault::Timeout))
    }

    /// Runs a call in an instance, or in a new one. The call comes back if it was interrupted, and the instance if it can be used again.
    fn run(
        &self,
        kept: Option<PluginInstance>,
        call: HookCall,
        deadline: impl Fn() -> Deadline,
    ) -> (Result<CallOutcome, HookCall>, Option<PluginInstance>) {
        let started = kept.map_or_else(|| PluginInstance::start(&self.engine, &self.module, &self.facts, deadline()), Ok);
        let mut instance = match started {
            Ok(instance) => instance,
            Err(RunFault::Interrupted) => return (Err(call), None),
            Err(RunFault::Failed(why)) => return (Ok(Err(HookFault::Failed(why))), None),
        };
        match instance.run(call, deadline()) {
            Ok(call) => (Ok(answer(call)), Some(instance).filter(PluginInstance::is_small)),
            Err((RunFault::Interrupted, Some(call))) => (Err(*call), None),
            Err((RunFault::Interrupted, None)) => (Ok(Err(HookFault::Timeout)), None),
            Err((RunFault::Failed(why), _)) => (Ok(Err(HookFault::Failed(why))), None),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
