//! The documents that the control API takes and shows, as its description refers to them: by name. The schemas themselves are the model's.

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
    /// What a key may do, or an organisation.
    Session;
}
