//! The allocator of the process. What was freed goes back to the system a second later, but only while more is freed: a gateway that has become
//! idle would keep what it took for its largest answers. So one thread asks for it now and then.
#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How often memory is given back.
pub(crate) const GIVE_BACK_EVERY: Duration = Duration::from_secs(5);

/// Gives memory back to the system that was freed more than a second ago, by whatever thread.
pub(crate) fn give_back() {
    // SAFETY: takes nothing, and any thread may call it at any time.
    unsafe { libmimalloc_sys::mi_collect(false) }
}
