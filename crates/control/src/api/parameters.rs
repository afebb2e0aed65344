//! Path parameters shared by several resources.

use serde::Deserialize;
use utoipa::IntoParams;

/// The API in a path, which an OpenAPI document defines.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct DocumentId {
    /// Id of an API.
    #[param(example = "pets", min_length = 1)]
    pub id: String,
}

/// The proxy for the Model Context Protocol in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ProxyId {
    /// Id of a proxy.
    #[param(example = "assistant", min_length = 1)]
    pub id: String,
}

/// The API in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ApiId {
    /// Id of an API.
    #[param(example = "quick", min_length = 1)]
    pub id: String,
}
