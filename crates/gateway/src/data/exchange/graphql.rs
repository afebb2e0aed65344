//! What is noted of a GraphQL request for its record.

use super::Exchange;
use crate::base::answers::RequestSlot;
use crate::observe::GraphqlFacts;
use std::cell::Cell;

/// The number under which a request keeps its facts.
const FACTS: u64 = RequestSlot::GraphqlFacts.number();

/// Taken once, when the record begins.
type NotedFacts = Cell<Option<Box<GraphqlFacts>>>;

impl Exchange<'_> {
    /// Notes what the request's record will say.
    pub(crate) fn note_graphql(&mut self, facts: Option<Box<GraphqlFacts>>) {
        if let Some(facts) = facts {
            self.answers.put(FACTS, NotedFacts::new(Some(facts)));
        }
    }

    /// Takes what was noted.
    pub(crate) fn noted_graphql(&self) -> Option<Box<GraphqlFacts>> {
        self.answers.get::<NotedFacts>(FACTS)?.take()
    }
}
