//! Whose credentials a value may be.

use super::*;

#[test]
fn a_value_belongs_to_the_method_whose_form_it_has() {
    use AuthMethod::{Basic, Hmac, Jwt, OpenId, Token};
    for (value, basic, hmac, jwt, token) in [
        ("Basic YTpi", Form::Own, Form::Missing, Form::Missing, Form::Missing),
        ("bAsIc YTpi", Form::Own, Form::Missing, Form::Missing, Form::Missing),
        ("Signature keyId=\"a\"", Form::Missing, Form::Own, Form::Missing, Form::Missing),
        ("a.b.c", Form::Missing, Form::Missing, Form::Own, Form::Any),
        ("default1234", Form::Missing, Form::Missing, Form::Odd, Form::Any),
        ("basic", Form::Missing, Form::Missing, Form::Odd, Form::Any),
    ] {
        let of = |method| Form::of(value, method);
        assert_eq!((of(Basic), of(Hmac), of(Jwt), of(OpenId), of(Token)), (basic, hmac, jwt, jwt, token), "{value}");
    }
}
