//! Documents that the control API accepts and returns. Its OpenAPI description refers to them by name; the model provides the
//! schemas.

use std::borrow::Cow;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! documents {
    ($($(#[$comment:meta])* $name:ident;)*) => {$(
        $(#[$comment])*
        pub(crate) struct $name;

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                Ref::from_schema_name(stringify!($name)).into()
            }
        }
    )*};
}

documents! {
    /// A classic API definition.
    ApiDefinition;
    /// A policy.
    Policy;
    /// The access rights and limits of a key or an organisation.
    Session;
}
