//! A request as sinks see it.

use super::facts::ApiFacts;
use super::record::Record;
use tollgate_model::analytics::Time;

/// A record with what is known of its API.
pub struct Hit<'a> {
    pub record: &'a Record,
    pub facts: &'a ApiFacts,
    /// Address and port at the other end of the connection, where records are logged.
    pub peer: &'a str,
    /// When the request ended.
    pub time: Time,
}
