//! The named users of the console: one small document, with hashed passwords.

use crate::role::Role;
use crate::scope::OperatorScope;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Argon2, password_hash};
use serde::{Deserialize, Serialize};

/// Users in the document; a gateway has operators, not customers.
pub const USERS_MAX: usize = 500;
/// Characters of a password at least.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Bytes of a password; longer ones would only cost time.
pub const PASSWORD_BYTES_MAX: usize = 256;
/// The name of someone who uses the control secret.
pub const SECRET: &str = "secret";
/// The name of changes that a reload finds in files.
pub const FILES: &str = "files";
/// Names that stand for something else.
const RESERVED: [&str; 3] = [SECRET, FILES, "me"];
/// Characters of a name at most.
const NAME_CHARS_MAX: usize = 64;
/// The hash of no password, with which one is compared if the user does not exist: the answer takes the same time.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5$mPjVBo9nYpHFWaCvJGUAgXsIKVmFZ4wFDdxVSvsbdDo";

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What they reach.
    #[serde(default)]
    pub scope: OperatorScope,
    /// The hash of their password, with salt and parameters.
    pub password_hash: String,
    /// When they were added, in seconds since 1970.
    pub created_unix_s: u64,
}

/// All users, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Users {
    /// The users.
    pub users: Vec<User>,
}

impl Users {
    /// The user with this name.
    pub fn get(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }

    /// The user with this name, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut User> {
        self.users.iter_mut().find(|user| user.name == name)
    }

    /// Adds a user.
    ///
    /// # Errors
    /// Why not: the name is taken, or there are too many.
    pub fn add(&mut self, user: User) -> Result<(), String> {
        if self.get(&user.name).is_some() {
            return Err(format!("there is a user {:?} already", user.name));
        }
        if self.users.len() >= USERS_MAX {
            return Err(format!("there are {USERS_MAX} users, which is the maximum"));
        }
        self.users.push(user);
        self.users.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }

    /// Removes a user. False if there was none.
    pub fn remove(&mut self, name: &str) -> bool {
        let count = self.users.len();
        self.users.retain(|user| user.name != name);
        self.users.len() < count
    }

    /// The user with this name and password. Slow by design, and as slow for unknown users.
    pub fn verified(&self, name: &str, password: &str) -> Option<&User> {
        let user = self.get(name);
        let is_right = verifies(user.map(|user| user.password_hash.as_str()), password);
        user.filter(|_| is_right)
    }
}

/// Checks a name.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = !name.is_empty()
        && name.len() <= NAME_CHARS_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_@".contains(&byte));
    if !is_plain {
        return Err(format!("name: must have 1 to {NAME_CHARS_MAX} letters, digits, '.', '-', '_' and '@'"));
    }
    if RESERVED.contains(&name) { Err(format!("name: {name:?} stands for something else")) } else { Ok(()) }
}

/// Checks a new password.
///
/// # Errors
/// What is wrong with it.
pub fn check_password(password: &str) -> Result<(), String> {
    if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
        return Err(format!(
            "password: must have at least {PASSWORD_CHARS_MIN} characters, and at most {PASSWORD_BYTES_MAX} bytes"
        ));
    }
    Ok(())
}

/// Hashes a password with a random salt. Slow by design.
///
/// # Errors
/// The reason why it can't be hashed.
pub fn hash_password(password: &str, salt: [u8; 16]) -> Result<String, password_hash::Error> {
    let salt = SaltString::encode_b64(&salt)?;
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}

/// Whether somebody has this password. Slow by design, and as slow for those who have no hash, who have none.
pub fn verifies(hash: Option<&str>, password: &str) -> bool {
    let is_right = password.len() <= PASSWORD_BYTES_MAX && is_password(password, hash.unwrap_or(NOBODY));
    is_right && hash.is_some()
}

/// Whether a hash is of this password.
fn is_password(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests;
