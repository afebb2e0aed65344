//! In place of topics of Kafka as sources, in a gateway that is built without them.

use super::source_fault::SourceFault;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tollgate_data_graph::{GraphSource, SourceRequest};
use tollgate_model::api::GraphqlDataSource;

/// No terms: no source has any.
#[derive(Debug)]
pub enum ConsumerTerms {}

/// No consumers.
#[derive(Clone, Default)]
pub struct Consumers;

/// Why there is no such source, and the field that asks for it.
pub(super) fn source(_: &GraphqlDataSource) -> Result<(GraphSource, Arc<ConsumerTerms>), (String, String)> {
    let message = "this gateway was built without `kafka`: topics of Kafka cannot be sources";
    Err(("kind".to_owned(), message.to_owned()))
}

pub(super) async fn subscribe(
    _: &Consumers,
    terms: &ConsumerTerms,
    _: &SourceRequest,
    _: Sender<Vec<u8>>,
) -> Result<(), SourceFault> {
    match *terms {}
}

#[cfg(test)]
mod tests {
    use super::source;
    use tollgate_model::api::GraphqlDataSource;

    #[test]
    fn a_gateway_without_kafka_names_the_feature() {
        let refused = source(&GraphqlDataSource::default()).map(|_| ()).expect_err("there is no such source");
        assert_eq!(refused.0, "kind");
        assert!(refused.1.contains("built without `kafka`"), "{}", refused.1);
    }
}
