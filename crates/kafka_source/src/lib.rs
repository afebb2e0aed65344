//! Records of Kafka topics for those who subscribe to them. Subscriptions on the same terms share one consumer, each gets every record from
//! then on. Each consumer has a thread of its own, because librdkafka is asked and waits; subscribers may be tasks of any runtime. Knows nothing
//! of GraphQL.

mod consumer;
mod consumers;
mod subscribers;
mod terms;

pub use consumer::RECORD_BYTES_MAX;
pub use consumers::Consumers;
pub use subscribers::TopicRecords;
pub use terms::{AssignmentStrategy, BrokerCredentials, ConsumerTerms, TermsFault};

/// Why there are no records, or no further ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerFault {
    /// The terms cannot be used.
    Terms(TermsFault),
    /// What the brokers, or their silence, say.
    Unavailable(String),
    /// There are as many consumers as there may be.
    TooMany,
    /// The subscriber has left its records waiting for too long.
    TooSlow,
}

impl std::fmt::Display for ConsumerFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConsumerFault::Terms(fault) => fault.fmt(f),
            ConsumerFault::Unavailable(why) => f.write_str(why),
            ConsumerFault::TooMany => write!(f, "there are {} consumers already", consumers::CONSUMERS_MAX),
            ConsumerFault::TooSlow => {
                write!(f, "records waited for the subscriber for more than {} seconds", subscribers::SLOW_TIME_MAX.as_secs())
            }
        }
    }
}
