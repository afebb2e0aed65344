//! What a consumer is told: brokers, topics, group.

use std::fmt;

/// Longest name of a topic, as in Kafka.
const TOPIC_BYTES_MAX: usize = 249;
/// Longest other name; they are parts of each request to a broker.
const NAME_BYTES_MAX: usize = 255;

/// What a consumer is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerTerms {
    /// Addresses, each a host and a port.
    pub brokers: Vec<String>,
    /// Names of topics.
    pub topics: Vec<String>,
    /// The consumer group.
    pub group: String,
    /// What the client calls itself.
    pub client: String,
    /// Begins at the end of each partition, and remembers no place in it. Otherwise the group goes on where it was, at first at the end.
    pub starts_at_end: bool,
    /// Which member of the group gets which partitions.
    pub assignment: AssignmentStrategy,
    /// Passes over records of transactions that were given up, and waits for the end of those that are open.
    pub reads_committed: bool,
    /// For brokers that want SASL/PLAIN.
    pub credentials: Option<BrokerCredentials>,
}

/// Which member of a group gets which partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AssignmentStrategy {
    /// Ranges of the partitions of each topic.
    #[default]
    Range,
    /// Partitions in turn.
    RoundRobin,
    /// As it was, where that is possible.
    Sticky,
}

/// For SASL/PLAIN.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BrokerCredentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

/// Passwords do not belong in logs.
impl fmt::Debug for BrokerCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerCredentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A term that cannot be used, by its name in [`ConsumerTerms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermsFault {
    /// Which one.
    pub term: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TermsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.term, self.message)
    }
}

impl ConsumerTerms {
    /// Whether a consumer can be told this.
    pub fn check(&self) -> Result<(), TermsFault> {
        let fault = |term, message: String| Err(TermsFault { term, message });
        if self.brokers.is_empty() {
            return fault("brokers", "there are no brokers".to_owned());
        }
        if let Some(broker) = self.brokers.iter().find(|broker| !is_address(broker)) {
            return fault("brokers", format!("{broker:?} is no host with a port"));
        }
        if self.topics.is_empty() {
            return fault("topics", "there are no topics".to_owned());
        }
        // The library would read a name that begins with ^ as a pattern.
        if let Some(topic) = self.topics.iter().find(|topic| !is_topic(topic)) {
            return fault("topics", format!("{topic:?} is no name of a topic"));
        }
        for (term, name) in [("group", &self.group), ("client", &self.client)] {
            if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_control) {
                return fault(term, format!("{name:?} is no name"));
            }
        }
        match &self.credentials {
            Some(BrokerCredentials { user, password }) if [user, password].iter().any(|text| !is_credential(text)) => {
                fault("credentials", "user and password are texts without NUL, neither empty".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(is_plain),
    };
    is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_topic(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    (1..=TOPIC_BYTES_MAX).contains(&text.len()) && text.chars().all(is_plain) && !matches!(text, "." | "..")
}

fn is_credential(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4_096 && !text.contains('\0')
}

#[cfg(test)]
pub(crate) mod tests;
