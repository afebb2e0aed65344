//! The data plane's I/O: one single-threaded runtime per core, each with its own listener, connections, upstream pools and clock.
//! Cores share nothing while a request passes.
//!
//! A [`Handler`] outside this crate decides about a request: a plain synchronous value that sees the request head and returns a
//! [`Verdict`]. The engine knows nothing of APIs, keys or limits, and a handler knows nothing of sockets.
#![deny(unsafe_code)]

mod addresses;
mod buffer_account;
mod coding_turns;
mod connection;
mod core;
mod counter;
mod datagrams;
mod deadlines;
mod dial;
mod egress;
mod engine;
mod fault;
mod handshake;
mod handshake_limit;
mod http2;
mod http2_clients;
mod kept_bodies;
mod limits;
mod listen;
mod listener;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
mod outbox;
mod output_buffers;
mod own_requests;
mod pace;
mod peers;
mod pipe;
mod pool;
mod proxy_header;
mod resolver;
mod serve;
mod service;
mod shared_upstreams;
mod stats;
mod stream;
mod stream_forward;
mod target;
mod tunnel;
mod turn;
mod unsent;

pub use addresses::{AddressCounts, AddressLimit, IpPermit, LimitReached, client_network};
pub use counter::Counter;
pub use engine::{Engine, EngineConfig, ListenerControl, OpenListener};
pub use fault::{Fault, FaultKind, FaultReason};
pub use limits::Limits;
pub use listen::{Content, Listen, ListenSocket, TlsChoice, TlsConfigSelector, TrustedProxies};
pub use pace::Speed;
pub use resolver::{SrvRecord, SrvResolver};
pub use service::{
    BodyCoder, BodyCut, BodySink, BodySource, Capture, ClientInfo, ClientTls, CoderStep, DetachedExchange, Ended, Forward, Handler,
    HedgeEnd, HoldUntil, KeepForResend, KeptBody, NotKept, Outgoing, OwnExchange, OwnFault, OwnRequests, OwnResponse, OwnWatch,
    Resend, ResponseVerdict, Retarget, Service, ServiceFactory, SourcedBody, StreamHandler, Times, TryEnd, TunnelInspector,
    Verdict, Work,
};
pub use stats::CoreStats;
pub use target::{Address, EgressProxy, Http2, LocalConnector, ProxyProtocol, Target, TargetTls};
