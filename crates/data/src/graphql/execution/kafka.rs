//! Kafka topics as sources of subscriptions: from a definition to the terms of a consumer, and from its records to events. The names that may
//! have variables are one text in JSON, which an execution completes like the body of any request.

pub(super) use tollgate_kafka_source::ConsumerTerms;
pub use tollgate_kafka_source::Consumers;

use super::source_fault::SourceFault;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tollgate_data_graph::{GraphSource, SourceDefinition, SourceFailure, SourceKind, SourceRequest, SourceTemplateFault};
use tollgate_kafka_source::{AssignmentStrategy, BrokerCredentials, ConsumerFault, TermsFault};
use tollgate_model::api::{GraphqlDataSource, GraphqlSourceConfig};

/// The versions that Tyk knows. The version itself is agreed on with the brokers.
const VERSIONS: [&str; 18] = [
    "V0_10_2_0",
    "V0_10_2_1",
    "V0_11_0_0",
    "V0_11_0_1",
    "V0_11_0_2",
    "V1_0_0_0",
    "V1_1_0_0",
    "V1_1_1_0",
    "V2_0_0_0",
    "V2_0_1_0",
    "V2_1_0_0",
    "V2_2_0_0",
    "V2_3_0_0",
    "V2_4_0_0",
    "V2_5_0_0",
    "V2_6_0_0",
    "V2_7_0_0",
    "V2_8_0_0",
];

/// The names of a consumer that may have variables.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ConsumerNames {
    topics: Vec<String>,
    group: String,
    client: String,
    user: String,
    password: String,
}

/// Reads a source. The terms are complete but for its names. `Err` is the field and what is wrong with it.
pub(super) fn source(entry: &GraphqlDataSource) -> Result<(GraphSource, Arc<ConsumerTerms>), (String, String)> {
    let config = &entry.config;
    let fault = |(field, message): (&str, String)| (format!("config.{field}"), message);
    let names = ConsumerNames {
        topics: config.topics.clone(),
        group: config.group_id.clone(),
        client: config.client_id.clone(),
        user: config.sasl.user.clone(),
        password: config.sasl.password.clone(),
    };
    let fixed = fixed_terms(config).map_err(fault)?;
    let checked = names.clone().map(without_variables).complete(&fixed).check();
    checked.map_err(|TermsFault { term, message }| fault((field_of(term), message)))?;
    // The names are texts, which always fit JSON.
    let body = serde_json::to_string(&names).unwrap_or_default();
    let definition = SourceDefinition { method: "POST", url: "kafka:", body: &body, ..Default::default() };
    let source = GraphSource::new(&entry.name, SourceKind::Rest, definition);
    let source = source.map_err(|(_, SourceTemplateFault(message))| ("config".to_owned(), message))?;
    Ok((source, Arc::new(fixed)))
}

fn fixed_terms(config: &GraphqlSourceConfig) -> Result<ConsumerTerms, (&'static str, String)> {
    let unknown = |field, value: &str, known: &str| Err((field, format!("{value:?} is unknown; it can be {known}")));
    let assignment = match config.balance_strategy.as_str() {
        "" | "BalanceStrategyRange" => AssignmentStrategy::Range,
        "BalanceStrategyRoundRobin" => AssignmentStrategy::RoundRobin,
        "BalanceStrategySticky" => AssignmentStrategy::Sticky,
        other => {
            let known = "BalanceStrategyRange, BalanceStrategyRoundRobin or BalanceStrategySticky";
            return unknown("balance_strategy", other, known);
        }
    };
    let reads_committed = match config.isolation_level.as_str() {
        "" | "ReadUncommitted" => false,
        "ReadCommitted" => true,
        other => return unknown("isolation_level", other, "ReadUncommitted or ReadCommitted"),
    };
    let version = config.kafka_version.as_str();
    if !version.is_empty() && !VERSIONS.contains(&version) {
        return unknown("kafka_version", version, "a version from V0_10_2_0 to V2_8_0_0");
    }
    let credentials = BrokerCredentials { user: config.sasl.user.clone(), password: config.sasl.password.clone() };
    Ok(ConsumerTerms {
        brokers: config.broker_addresses.clone(),
        topics: Vec::new(),
        group: String::new(),
        client: String::new(),
        starts_at_end: config.start_consuming_latest,
        assignment,
        reads_committed,
        credentials: config.sasl.enable.then_some(credentials),
    })
}

/// The field of a definition that a term is from.
fn field_of(term: &str) -> &'static str {
    match term {
        "brokers" => "broker_addresses",
        "topics" => "topics",
        "group" => "group_id",
        "client" => "client_id",
        _ => "sasl",
    }
}

/// A name with a letter in the place of each variable.
fn without_variables(name: String) -> String {
    let mut parts = name.split("{{");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| whole + "x" + part.split_once("}}").map_or("", |(_, rest)| rest))
}

impl ConsumerNames {
    fn map(self, change: impl Fn(String) -> String) -> Self {
        ConsumerNames {
            topics: self.topics.into_iter().map(&change).collect(),
            group: change(self.group),
            client: change(self.client),
            user: change(self.user),
            password: change(self.password),
        }
    }

    fn complete(self, fixed: &ConsumerTerms) -> ConsumerTerms {
        let ConsumerNames { topics, group, client, user, password } = self;
        let credentials = fixed.credentials.is_some().then_some(BrokerCredentials { user, password });
        ConsumerTerms { topics, group, client, credentials, ..fixed.clone() }
    }
}

/// Passes records on until nobody takes them.
pub(super) async fn subscribe(
    consumers: &Consumers,
    fixed: &ConsumerTerms,
    request: &SourceRequest,
    events: Sender<Vec<u8>>,
) -> Result<(), SourceFault> {
    let names: ConsumerNames =
        serde_json::from_slice(&request.body).map_err(|error| (SourceFailure::Unsendable, format!("Kafka: {error}")))?;
    let mut records = consumers.subscribe(names.complete(fixed)).map_err(told)?;
    loop {
        let record = records.next().await.map_err(told)?;
        if events.send(record.to_vec()).await.is_err() {
            return Ok(());
        }
    }
}

fn told(fault: ConsumerFault) -> SourceFault {
    let failure = match fault {
        ConsumerFault::Terms(_) => SourceFailure::Unsendable,
        ConsumerFault::Unavailable(_) | ConsumerFault::TooMany => SourceFailure::Unavailable,
        ConsumerFault::TooSlow => SourceFailure::TooSlow,
    };
    (failure, format!("Kafka: {fault}"))
}

#[cfg(test)]
mod tests;
