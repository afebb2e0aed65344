//! Whether enums are used as input, as output, or both.

use apollo_compiler::Name;
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::ExtendedType;

use crate::source::SubgraphSource;

/// How a type is used.
#[derive(Clone, Copy, Default)]
pub(super) struct EnumUse {
    pub(super) as_input: bool,
    pub(super) as_output: bool,
}

/// The uses of all named types.
pub(super) struct EnumUses<'s>(HashMap<&'s Name, EnumUse>);

impl EnumUses<'_> {
    pub(super) fn of(&self, name: &Name) -> EnumUse {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// Finds the uses in all subgraphs.
pub(super) fn of(sources: &[SubgraphSource]) -> EnumUses<'_> {
    let mut uses: HashMap<&Name, EnumUse> = HashMap::default();
    for ty in sources.iter().flat_map(|source| source.types.values()) {
        for field in ty.fields.values() {
            uses.entry(field.definition.ty.inner_named_type()).or_default().as_output = true;
            for argument in &field.definition.arguments {
                uses.entry(argument.ty.inner_named_type()).or_default().as_input = true;
            }
        }
        if let ExtendedType::InputObject(input) = &ty.definition {
            for field in input.fields.values() {
                uses.entry(field.ty.inner_named_type()).or_default().as_input = true;
            }
        }
    }
    EnumUses(uses)
}
