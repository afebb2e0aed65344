//! Handles signals, and everything that the gateway does between start and end besides serving: it reloads, hands over to a new
//! process, tells the service manager that it is alive, and gives memory back to the system.

use crate::allocator;
use crate::handover::HandoverState;
use crate::notify::Notifier;
use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tollgate_control::definitions::Reloads;

/// Why the gateway stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// A signal asked for it.
    Stop,
    /// The process with this id serves instead.
    HandedOver(u32),
}

/// The signals that the gateway handles.
pub(crate) struct Signals {
    runtime: tokio::runtime::Runtime,
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    restart: Signal,
}

type HandingOver<'e> = Pin<Box<dyn Future<Output = Result<u32, String>> + 'e>>;

impl Signals {
    /// Installs the handlers: from now on, signals no longer end the process by themselves.
    pub(crate) fn catch() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let context = runtime.enter();
        let (hangup, terminate) = (signal(SignalKind::hangup())?, signal(SignalKind::terminate())?);
        let (interrupt, quit) = (signal(SignalKind::interrupt())?, signal(SignalKind::quit())?);
        let restart = signal(SignalKind::user_defined2())?;
        drop(context);
        Ok(Signals { runtime, hangup, terminate, interrupt, quit, restart })
    }

    /// Reloads on SIGHUP and hands over on SIGUSR2; returns on SIGTERM, SIGINT or SIGQUIT, and when another process serves. Calls `is_alive`
    /// at the interval that the service manager expects.
    pub(crate) fn wait_for_end(
        &mut self,
        reloads: &Reloads,
        estate: &HandoverState,
        notifier: &Arc<Notifier>,
        mut is_alive: impl FnMut() -> bool,
    ) -> StopCause {
        let Signals { runtime, hangup, terminate, interrupt, quit, restart } = self;
        runtime.block_on(async {
            let mut alive = notifier.alive_every().map(every);
            let mut memory = every(allocator::GIVE_BACK_EVERY);
            let mut handing_over: Option<HandingOver<'_>> = None;
            loop {
                tokio::select! {
                    _ = hangup.recv() => reload(reloads, notifier),
                    _ = terminate.recv() => return StopCause::Stop,
                    _ = interrupt.recv() => return StopCause::Stop,
                    _ = quit.recv() => return StopCause::Stop,
                    _ = restart.recv() => match handing_over {
                        Some(_) => tracing::warn!("a new process is starting already"),
                        None => {
                            tracing::info!("starting a new process to hand over to");
                            handing_over = Some(Box::pin(estate.hand_over()));
                        }
                    },
                    result = outcome(&mut handing_over) => {
                        handing_over = None;
                        match result {
                            Ok(pid) => return StopCause::HandedOver(pid),
                            Err(why) => {
                                tracing::error!(why, "the new process does not take over; this one continues");
                                notifier.status(&format!("serving; a restart failed: {why}"));
                            }
                        }
                    }
                    () = next(&mut alive) => if is_alive() {
                        notifier.alive();
                    },
                    _ = memory.tick() => allocator::give_back(),
                }
            }
        })
    }

    /// Waits for `time`, or for another signal to stop.
    pub(crate) fn wait_for_another(&mut self, time: Duration) {
        let Signals { runtime, terminate, interrupt, quit, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
                () = tokio::time::sleep(time) => {}
            }
        });
    }
}

fn reload(reloads: &Reloads, notifier: &Arc<Notifier>) {
    notifier.reloading();
    let (done, notifier) = (reloads.request(), notifier.clone());
    tokio::spawn(async move {
        let _ = done.await;
        notifier.ready(None);
    });
}

async fn outcome(handing_over: &mut Option<HandingOver<'_>>) -> Result<u32, String> {
    match handing_over {
        Some(handing_over) => handing_over.await,
        None => pending().await,
    }
}

fn every(time: Duration) -> Interval {
    let mut interval = interval(time);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

async fn next(interval: &mut Option<Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => pending().await,
    }
}
