//! Texts as people and programs send them, before anybody knows what they say: the byte-order mark at their start, YAML as values, cells of CSV.
//! No I/O, no clock, nothing of ours below it.

pub mod byte_order_mark;
pub mod csv;
pub mod yaml;
