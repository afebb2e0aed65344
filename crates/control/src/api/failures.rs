//! Failures that several endpoints answer with, as the description of the control API tells them: one type for each cause, with its status
//! and its words.
#![expect(dead_code, reason = "describes answers, which `answer::error` makes")]

use super::answer::Error;
use utoipa::IntoResponses;

/// There is no such API.
#[derive(IntoResponses)]
#[response(status = 404)]
pub(super) struct NoSuchApi(Error);

/// There is no such API or client.
#[derive(IntoResponses)]
#[response(status = 404)]
pub(super) struct NoSuchClient(Error);

/// No such key.
#[derive(IntoResponses)]
#[response(status = 404)]
pub(super) struct NoSuchKey(Error);

/// Metrics are switched off.
#[derive(IntoResponses)]
#[response(status = 404)]
pub(super) struct MetricsOff(Error);

/// The body is not a session, or has no access rights, or one that does not fit its API.
#[derive(IntoResponses)]
#[response(status = 400)]
pub(super) struct InvalidSession(Error);

/// The body is not a policy, its id can't be a file name, or an access right does not fit its API.
#[derive(IntoResponses)]
#[response(status = 400)]
pub(super) struct InvalidPolicy(Error);

/// The store does not answer, or could not be written to.
#[derive(IntoResponses)]
#[response(status = 500)]
pub(super) struct StoreFailed(Error);

/// The store could not be written to.
#[derive(IntoResponses)]
#[response(status = 500)]
pub(super) struct ChangeNotStored(Error);

/// The policies of the session can't be applied, or the store could not be written to.
#[derive(IntoResponses)]
#[response(status = 500)]
pub(super) struct SessionNotStored(Error);

/// The file could not be written.
#[derive(IntoResponses)]
#[response(status = 500)]
pub(super) struct DefinitionNotWritten(Error);

/// There is no `policy_path`, or the file could not be written.
#[derive(IntoResponses)]
#[response(status = 500)]
pub(super) struct PolicyNotWritten(Error);
