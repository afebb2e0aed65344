//! Composition of the subgraphs of a GraphQL federation: from their SDL to the one schema that clients see, and to what each subgraph
//! contributes to it. Reads Apollo Federation 1 and 2. It knows nothing of requests: plans of queries are made from its result. No I/O and no
//! clock.

mod compose;
mod default_values;
mod field_set;
mod finding;
mod hide;
mod merge;
mod satisfiable;
mod sharing;
mod source;
mod specification;
mod supergraph;

pub use compose::compose;
pub use finding::CompositionFinding;
pub use source::SubgraphText;
pub use supergraph::{EntityKey, Subgraph, SubgraphField, SubgraphType, Supergraph};
