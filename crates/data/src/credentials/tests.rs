//! Which method a value is matched to.

use super::*;

#[test]
fn a_value_belongs_to_the_method_whose_form_it_has() {
    use AuthMethod::{Basic, Hmac, Jwt, OpenId, Token};
    for (value, basic, hmac, jwt, token) in [
        ("Basic YTpi", CredentialForm::Own, CredentialForm::Missing, CredentialForm::Missing, CredentialForm::Missing),
        ("bAsIc YTpi", CredentialForm::Own, CredentialForm::Missing, CredentialForm::Missing, CredentialForm::Missing),
        ("Signature keyId=\"a\"", CredentialForm::Missing, CredentialForm::Own, CredentialForm::Missing, CredentialForm::Missing),
        ("a.b.c", CredentialForm::Missing, CredentialForm::Missing, CredentialForm::Own, CredentialForm::Any),
        ("default1234", CredentialForm::Missing, CredentialForm::Missing, CredentialForm::Odd, CredentialForm::Any),
        ("basic", CredentialForm::Missing, CredentialForm::Missing, CredentialForm::Odd, CredentialForm::Any),
    ] {
        let of = |method| CredentialForm::of(value, method);
        assert_eq!((of(Basic), of(Hmac), of(Jwt), of(OpenId), of(Token)), (basic, hmac, jwt, jwt, token), "{value}");
    }
}
