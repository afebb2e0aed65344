//! The response cache: rules for storing and reuse by RFC 9111 (and RFC 5861, 9211, 9213), or by Tyk's rules; storage within a memory
//! limit; and coalescing of requests for the same response. No I/O, no runtime, no clock: callers pass the time, in Unix milliseconds, and
//! a waker where they wait.
//!
//! The calls for one request, in order:
//!
//! 1. [`ApiCache::lookup`] with a [`CacheRequest`]: the request as it is sent to the upstream, but with its client's conditions.
//! 2. Depending on the [`Decision`]:
//!    - `Serve`: write [`CachedResponse::status`], [`CachedResponse::write_lines`], an empty line, then the bytes of [`CachedResponse::body`].
//!    - `Revalidate`: as for `Serve`, and continue with the [`Fill`] as below, with `GET` and without a client.
//!    - `Wait`: [`Follower::is_ready`] registers a waker; when it is woken, or at the deadline, [`ApiCache::resume`] makes the
//!      next decision.
//!    - `Bypass`: ask the upstream as if there were no cache. After an unsafe method call [`ApiCache::after_unsafe`], after HEAD
//!      [`ApiCache::after_head`].
//!    - `Fail`: answer with its status. `Refuse`: answer with 504.
//!    - `Fetch`: ask the upstream with [`Fill::conditions`] in place of the lines [`ANSWERED_HERE`].
//! 3. When the upstream's head has arrived: [`Fill::head`]. When the upstream fails before: [`Fill::failed`].
//!    - `Store`: each piece of the body goes to [`BodyWriter::push`] and to the client, or the client reads the answer's body, which grows;
//!      [`BodyWriter::finish`] after the last byte. Dropping the writer marks the body as truncated.
//!    - `Pass`: relay. `Serve`: drop the upstream's response and write this one. `Again`: ask again.
//!
//! Every value may be dropped at any time; waiting requests are then released.
#![forbid(unsafe_code)]

mod answer;
mod api;
mod body;
mod budget;
mod cache_status;
mod directives;
mod figures;
mod fill;
mod flights;
mod generations;
mod head;
mod key;
mod lines;
mod lookup;
mod range;
mod request;
mod reuse;
mod store;
mod structured;
mod syntax;
mod tyk;
mod tyk_lookup;
mod validators;
mod vary;
mod waiters;

pub use answer::{CachedBody, CachedResponse};
pub use api::{ApiCache, ApiCacheSettings, Cache, CacheSettings, NoRoomForApi};
pub use body::BodyRead;
pub use cache_status::{CacheStatus, ForwardReason};
pub use directives::{DeltaSeconds, RequestDirectives, ResponseDirectives};
pub use figures::CacheFigures;
pub use fill::{BodyWriter, Fill, Filled};
pub use generations::{Purge, PurgeMark};
pub use head::{Freshness, Head, NotStored};
pub use key::{CacheKey, KeyParts, header_values, is_same_name};
pub use lines::{HeaderLines, LineBlock};
pub use lookup::{Decision, Follower};
pub use range::{RangeRequest, Segment};
pub use request::{ANSWERED_HERE, CacheRequest, MethodClass};
pub use store::Stored;
pub use tyk::{TykBody, TykKeyParts, TykPayload, TykRules, Unusable, is_safe_method};
pub use tyk_lookup::TykRequest;
pub use validators::{ClientHas, EntityTag, IfRange};
pub use vary::{Vary, VaryNames};
