//! What guards do with requests and answers on their way.

mod answer;
mod answer_guards;
mod request;
mod stream;
mod verdict;
