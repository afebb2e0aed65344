//! The functions of the `sprig` library, by subject. Some are refused: a template that uses one is an error of the parser, with the
//! function's name and the reason.

mod casing;
mod dates;
mod encoding;
mod lists;
mod maps;
mod math;
mod random;
mod regular_expressions;
mod strings;
mod urls;
mod versions;

use crate::arguments::Function;
use crate::value::Value;

/// All functions.
pub(crate) static TABLES: &[&[Function]] = &[
    strings::FUNCTIONS,
    casing::FUNCTIONS,
    lists::FUNCTIONS,
    maps::FUNCTIONS,
    math::FUNCTIONS,
    encoding::FUNCTIONS,
    dates::FUNCTIONS,
    random::FUNCTIONS,
    regular_expressions::FUNCTIONS,
    urls::FUNCTIONS,
    versions::FUNCTIONS,
];

/// Why a function of sprig is refused.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    const KEYS: &str = "making keys and certificates takes too long for a request";
    const PASSWORDS: &str = "hashing passwords takes too long for a request";
    const ENCRYPTION: &str = "its encryption has no protection against changes of the text";
    Some(match name {
        "env" | "expandenv" => "templates cannot read the environment of the gateway, as in Tyk",
        "getHostByName" => "templates cannot use the network",
        "genPrivateKey"
        | "genCA"
        | "genCAWithKey"
        | "genSelfSignedCert"
        | "genSelfSignedCertWithKey"
        | "genSignedCert"
        | "genSignedCertWithKey"
        | "buildCustomCert" => KEYS,
        "bcrypt" | "htpasswd" | "derivePassword" => PASSWORDS,
        "encryptAES" | "decryptAES" => ENCRYPTION,
        _ => return None,
    })
}

/// Whether sprig considers a value empty: whether it is false in the language.
fn is_empty(value: &Value) -> bool {
    !value.is_true()
}

/// The argument as a function of type `interface{}` stores it: no value becomes nil.
fn stored(value: &Value) -> Value {
    if value.is_nil() { Value::Null } else { value.clone() }
}
