//! One consumer of a group, on librdkafka: opens it, hands its records on, and notices when there will be none.

use crate::ConsumerFault;
use crate::subscribers::Subscribers;
use crate::terms::{AssignmentStrategy, BrokerCredentials, ConsumerTerms};
use bytes::Bytes;
use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{Offset, TopicPartitionList};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long brokers may take to say that they have the topics.
const OPENING_TIME_MAX: Duration = Duration::from_secs(10);
/// How long all brokers may be away. Until then the client reconnects, and goes on where it was.
const OUTAGE_TIME_MAX: Duration = Duration::from_secs(30);
/// Longest wait for a record before the thread looks whether anybody still wants it.
const POLL_TIME: Duration = Duration::from_millis(250);
/// Longest wait for one answer about topics.
const ASK_TIME: Duration = Duration::from_secs(1);
/// How often brokers that are away are asked.
const ASK_INTERVAL: Duration = Duration::from_secs(5);

/// Largest record. Kafka's own default is 1 MiB.
pub const RECORD_BYTES_MAX: usize = 16 << 20;

type GroupConsumer = BaseConsumer<ConsumerSignals>;

/// Hands records on until nobody wants them; `Err` is why there will be none.
pub(crate) fn run(terms: &ConsumerTerms, subscribers: &Subscribers, is_over: &dyn Fn() -> bool) -> Result<(), ConsumerFault> {
    let signals = ConsumerSignals { starts_at_end: terms.starts_at_end, state: Mutex::default() };
    let consumer: GroupConsumer = settings(terms).create_with_context(signals).map_err(|error| unavailable(&error))?;
    if !has_topics(&consumer, terms, is_over)? {
        return Ok(());
    }
    let topics: Vec<&str> = terms.topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics).map_err(|error| unavailable(&error))?;
    let mut outage = Outage::default();
    while !is_over() {
        match consumer.poll(POLL_TIME) {
            Some(Ok(message)) => {
                outage = Outage::default();
                let value = message.payload().unwrap_or_default();
                if value.len() <= RECORD_BYTES_MAX {
                    subscribers.deliver(&Bytes::copy_from_slice(value));
                }
                if !terms.starts_at_end {
                    // Fails if the partition has gone to another member, which goes on from there.
                    let _ = consumer.store_offset_from_message(&message);
                }
                if value.len() > RECORD_BYTES_MAX {
                    return Err(ConsumerFault::Unavailable(format!("a record has more than {RECORD_BYTES_MAX} bytes")));
                }
            }
            Some(Err(error)) => consumer.context().note(&error, ""),
            None => {}
        }
        consumer.context().last_word()?;
        outage.watch(&consumer, terms)?;
    }
    Ok(())
}

fn unavailable(error: &KafkaError) -> ConsumerFault {
    ConsumerFault::Unavailable(error.to_string())
}

fn settings(terms: &ConsumerTerms) -> ClientConfig {
    let mut settings = ClientConfig::new();
    let assignment = match terms.assignment {
        AssignmentStrategy::Range => "range",
        AssignmentStrategy::RoundRobin => "roundrobin",
        AssignmentStrategy::Sticky => "cooperative-sticky",
    };
    settings
        .set("bootstrap.servers", terms.brokers.join(","))
        .set("group.id", &terms.group)
        .set("client.id", &terms.client)
        .set("partition.assignment.strategy", assignment)
        .set("isolation.level", if terms.reads_committed { "read_committed" } else { "read_uncommitted" })
        // A group without a place begins at the end, as in Tyk.
        .set("auto.offset.reset", "latest")
        // A place is remembered when the record has been handed on, not when it has been read.
        .set("enable.auto.commit", if terms.starts_at_end { "false" } else { "true" })
        .set("auto.commit.interval.ms", "1000")
        .set("enable.auto.offset.store", "false")
        // After a crash, other members get the partitions that soon; the same time as in Tyk.
        .set("session.timeout.ms", "10000")
        .set("allow.auto.create.topics", "false")
        // What waits in the library, besides one answer of each broker.
        .set("queued.min.messages", "1000")
        .set("queued.max.messages.kbytes", "4096")
        .set("receive.message.max.bytes", (RECORD_BYTES_MAX * 4).to_string())
        .set("reconnect.backoff.max.ms", "5000")
        .set_log_level(RDKafkaLogLevel::Warning);
    if let Some(BrokerCredentials { user, password }) = &terms.credentials {
        settings.set("security.protocol", "sasl_plaintext").set("sasl.mechanisms", "PLAIN");
        settings.set("sasl.username", user).set("sasl.password", password);
    }
    settings
}

/// Waits until the brokers say that they have the topics; `false` if nobody wants to know any more. A consumer alone would wait for ever.
fn has_topics(consumer: &GroupConsumer, terms: &ConsumerTerms, is_over: &dyn Fn() -> bool) -> Result<bool, ConsumerFault> {
    let deadline = Instant::now() + OPENING_TIME_MAX;
    let mut topics = terms.topics.iter();
    let mut next = topics.next();
    while let Some(topic) = next {
        if is_over() {
            return Ok(false);
        }
        match topic_state(consumer, topic) {
            Ok(()) => {
                next = topics.next();
                continue;
            }
            Err(TopicFault::Final(why)) => return Err(ConsumerFault::Unavailable(why)),
            Err(TopicFault::Passing(why)) if Instant::now() >= deadline => {
                let heard = consumer.context().state().heard.take();
                return Err(ConsumerFault::Unavailable(heard.unwrap_or(why)));
            }
            Err(TopicFault::Passing(_)) => {}
        }
        // What the client has heard meanwhile.
        if let Some(Err(error)) = consumer.poll(Duration::from_millis(50)) {
            consumer.context().note(&error, "");
        }
        consumer.context().last_word()?;
    }
    Ok(true)
}

enum TopicFault {
    Final(String),
    Passing(String),
}

fn topic_state(consumer: &GroupConsumer, topic: &str) -> Result<(), TopicFault> {
    let told = |code: RDKafkaErrorCode| {
        let why = format!("topic {topic}: {code}");
        if is_final(code) { TopicFault::Final(why) } else { TopicFault::Passing(why) }
    };
    let metadata = consumer.fetch_metadata(Some(topic), ASK_TIME);
    let metadata = metadata.map_err(|error| match error.rdkafka_error_code() {
        Some(code) if is_final(code) => TopicFault::Final(error.to_string()),
        _ => TopicFault::Passing(error.to_string()),
    })?;
    match metadata.topics().iter().find(|known| known.name() == topic).map(|known| known.error()) {
        Some(None) => Ok(()),
        Some(Some(error)) => Err(told(error.into())),
        None => Err(told(RDKafkaErrorCode::UnknownTopic)),
    }
}

/// Whether waiting does not help.
fn is_final(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode::*;
    matches!(
        code,
        Authentication
            | ClusterAuthorizationFailed
            | Fatal
            | GroupAuthorizationFailed
            | GroupMaxSizeReached
            | InconsistentGroupProtocol
            | InvalidGroupId
            | InvalidTopic
            | NotImplemented
            | SaslAuthenticationFailed
            | TopicAuthorizationFailed
            | UnknownPartition
            | UnknownTopic
            | UnknownTopicOrPartition
            | UnsupportedFeature
            | UnsupportedSASLMechanism
            | UnsupportedVersion
    )
}

/// What the client says of itself, on the thread that polls it.
struct ConsumerSignals {
    starts_at_end: bool,
    state: Mutex<SignalState>,
}

#[derive(Default)]
struct SignalState {
    /// Why there will be no records.
    last_word: Option<String>,
    /// The last reason that was told.
    heard: Option<String>,
    is_down: bool,
}

impl ConsumerSignals {
    fn state(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, error: &KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "Kafka");
        let mut state = self.state();
        let told = if reason.is_empty() { error.to_string() } else { format!("{error}: {reason}") };
        let code = error.rdkafka_error_code();
        state.is_down |= code == Some(RDKafkaErrorCode::AllBrokersDown);
        if code.is_some_and(is_final) {
            state.last_word.get_or_insert(told);
        } else if !reason.is_empty() && code != Some(RDKafkaErrorCode::AllBrokersDown) {
            state.heard = Some(told);
        }
    }

    fn last_word(&self) -> Result<(), ConsumerFault> {
        match self.state().last_word.take() {
            Some(why) => Err(ConsumerFault::Unavailable(why)),
            None => Ok(()),
        }
    }
}

impl ClientContext for ConsumerSignals {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        // Whoever loses a subscription logs why.
        tracing::debug!(facility, message, "Kafka");
        if matches!(level, RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical | RDKafkaLogLevel::Error) {
            self.state().heard = Some(message.to_owned());
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.note(&error, reason);
    }
}

impl ConsumerContext for ConsumerSignals {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, code: RDKafkaRespErr, partitions: &mut TopicPartitionList) {
        if let Err(error) = self.take(consumer, code, partitions) {
            self.note(&error, "partitions");
        }
    }
}

impl ConsumerSignals {
    fn take(&self, consumer: &BaseConsumer<Self>, code: RDKafkaRespErr, partitions: &mut TopicPartitionList) -> KafkaResult<()> {
        let is_step = matches!(consumer.rebalance_protocol(), RebalanceProtocol::Cooperative);
        if code != RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            return if is_step { consumer.incremental_unassign(partitions) } else { consumer.unassign() };
        }
        if self.starts_at_end {
            partitions.set_all_offsets(Offset::End)?;
        }
        if is_step { consumer.incremental_assign(partitions) } else { consumer.assign(partitions) }
    }
}

/// How long all brokers have been away.
#[derive(Default)]
struct Outage {
    since: Option<Instant>,
    asked: Option<Instant>,
}

impl Outage {
    fn watch(&mut self, consumer: &GroupConsumer, terms: &ConsumerTerms) -> Result<(), ConsumerFault> {
        if std::mem::take(&mut consumer.context().state().is_down) {
            self.since.get_or_insert_with(Instant::now);
        }
        let Some(since) = self.since else { return Ok(()) };
        if since.elapsed() >= OUTAGE_TIME_MAX {
            let heard = consumer.context().state().heard.take().unwrap_or_default();
            let seconds = OUTAGE_TIME_MAX.as_secs();
            return Err(ConsumerFault::Unavailable(format!("no broker has answered for {seconds} seconds: {heard}")));
        }
        if self.asked.is_none_or(|asked| asked.elapsed() >= ASK_INTERVAL) {
            self.asked = Some(Instant::now());
            let Some(topic) = terms.topics.first() else { return Ok(()) };
            match topic_state(consumer, topic) {
                Ok(()) => *self = Outage::default(),
                Err(TopicFault::Final(why)) => return Err(ConsumerFault::Unavailable(why)),
                Err(TopicFault::Passing(_)) => {}
            }
        }
        Ok(())
    }
}
