use super::*;

fn data(password: &str, hash_type: &str) -> BasicAuthData {
    BasicAuthData { password: password.to_owned(), hash_type: hash_type.to_owned(), ..BasicAuthData::default() }
}

fn is(password: &str, hash_type: &str, guess: &str) -> bool {
    StoredPassword::of(&data(password, hash_type)).is_some_and(|stored| stored.is(guess.as_bytes()))
}

/// Hash of `U*U`, from the test vectors of bcrypt's first implementation.
const BCRYPT: &str = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";

#[test]
fn a_password_is_compared_as_its_kind_says() {
    assert!(is(BCRYPT, "bcrypt", "U*U") && !is(BCRYPT, "bcrypt", "U*V"));
    assert!(is(BCRYPT, "", "U*U"), "known by its beginning");
    assert!(is("open", "", "open") && !is("open", "", "opem") && !is("open", "", ""));
    // SHA-256 of "password".
    let sha256 = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
    assert!(is(sha256, "sha256", "password") && !is(sha256, "sha256", "Password"));
}

#[test]
fn argon2_is_understood() {
    use argon2::password_hash::{PasswordHasher, SaltString};
    let salt = SaltString::encode_b64(b"sixteen bytes of").expect("a salt");
    let made = Argon2::default().hash_password(b"word", &salt).expect("a hash").to_string();
    assert!(is(&made, "argon2", "word") && is(&made, "", "word") && !is(&made, "argon2", "other"));
}

#[test]
fn nobody_has_no_password_at_all() {
    assert!(StoredPassword::of(&data("", "")).is_none() && StoredPassword::of(&data("", "bcrypt")).is_none());
    assert!(StoredPassword::of(&data("x", "rot13")).is_none(), "an unknown kind of hash lets nobody in");
    assert!(StoredPassword::nobodys().is_slow() && !StoredPassword::nobodys().is(b""));
}

#[test]
fn broken_and_endless_hashes_let_nobody_in() {
    for hash in ["$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$2b$", "$2", "$2b$xx$yy", "$argon2id$", "$argon2"]
    {
        assert!(!is(hash, "bcrypt", "U*U") && !is(hash, "argon2", "U*U"), "{hash}");
    }
}

#[test]
fn a_new_password_is_hashed_and_a_hash_stays() {
    let mut new = data("secret", "");
    hash(&mut new).expect("hashed");
    assert!(new.hash_type == "bcrypt" && new.password.starts_with("$2") && is(&new.password, "bcrypt", "secret"));
    let before = new.clone();
    hash(&mut new).expect("kept");
    assert_eq!(new, before);
    let mut claimed = data("secret", "bcrypt");
    hash(&mut claimed).expect("hashed");
    assert!(is(&claimed.password, "bcrypt", "secret"), "what only says that it is a hash is none");
}

#[test]
fn a_password_that_is_too_long_for_bcrypt_counts_to_its_end() {
    for (length, expect) in [(71, "bcrypt"), (72, "bcrypt"), (73, "argon2id"), (1_000, "argon2id")] {
        let password = "x".repeat(length);
        let mut new = data(&password, "");
        hash(&mut new).expect("hashed");
        assert_eq!(new.hash_type, expect, "{length}");
        let is = |guess: &str| is(&new.password, &new.hash_type, guess);
        assert!(is(&password) && !is(&password[1..]) && !is(&format!("{}y", &password[1..])), "{length}");
        let before = new.clone();
        hash(&mut new).expect("kept");
        assert_eq!(new, before);
    }
}
