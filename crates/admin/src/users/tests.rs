use super::{NOBODY, User, Users, check_name, check_password, hash_password};
use crate::role::Role;
use crate::scope::OperatorScope;
use argon2::password_hash::PasswordHash;

fn user(name: &str, password: &str) -> User {
    let password_hash = hash_password(password, [7; 16]).unwrap();
    User { name: name.to_owned(), role: Role::Viewer, scope: OperatorScope::default(), password_hash, created_unix_s: 0 }
}

#[test]
fn a_user_is_found_by_name_and_password_only() {
    let mut users = Users::default();
    users.add(user("bob", "correct horse battery")).unwrap();
    users.add(user("ann", "another good password")).unwrap();
    assert_eq!(users.users.iter().map(|user| user.name.as_str()).collect::<Vec<_>>(), ["ann", "bob"]);
    assert!(users.add(user("ann", "another good password")).is_err());
    assert_eq!(users.verified("bob", "correct horse battery").map(|user| user.name.as_str()), Some("bob"));
    for (name, password) in [("bob", "another good password"), ("eve", "correct horse battery"), ("bob", ""), ("", "")] {
        assert_eq!(users.verified(name, password), None, "{name} {password}");
    }
    assert!(users.remove("bob") && !users.remove("bob"));
    assert_eq!(users.verified("bob", "correct horse battery"), None);
}

#[test]
fn an_unknown_user_costs_as_much_as_a_known_one() {
    let known = hash_password("x", [1; 16]).unwrap();
    let [nobody, known] = [NOBODY, known.as_str()].map(|hash| PasswordHash::new(hash).unwrap());
    assert_eq!((nobody.algorithm, nobody.version, nobody.params), (known.algorithm, known.version, known.params));
    assert_eq!(nobody.hash.map(|hash| hash.len()), known.hash.map(|hash| hash.len()));
}

#[test]
fn names_and_passwords_have_a_form() {
    for name in ["ann", "ann.b-c_d@example.com", &"x".repeat(64)] {
        assert_eq!(check_name(name), Ok(()));
    }
    for name in ["", "secret", "files", "me", "a b", "a/b", "ä", "<b>", &"x".repeat(65)] {
        assert!(check_name(name).is_err(), "{name}");
    }
    for (password, is_good) in [("12345678901", false), ("123456789012", true), (&"x".repeat(256), true), (&"x".repeat(257), false)]
    {
        assert_eq!(check_password(password).is_ok(), is_good, "{password}");
    }
}
