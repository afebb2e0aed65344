//! Executes GraphQL operations from several sources: REST services, GraphQL servers, and the subgraphs of a federation. An operation becomes a
//! plan, once; an execution of the plan says which requests it needs, is given the answers, and ends with the response. No I/O and no clock:
//! the caller sends the requests, as many at a time as it likes.

mod answer_value;
mod completion;
mod execution;
mod field_set;
mod graph;
mod plan;
mod template;

pub use execution::{Execution, ExecutionContext, ExecutionLimits, SourceAnswer, SourceFailure, SourceRequest};
pub use graph::{DataGraph, FieldMapping, FieldOwner, GraphFault, GraphNotes, GraphSource, SourceDefinition, SourceKind};
pub use plan::{OperationPlan, PlanFault};
pub use template::SourceTemplateFault;
