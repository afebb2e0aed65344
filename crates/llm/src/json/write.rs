//! Writes JSON straight into bytes.

/// An object that is being written.
pub(crate) struct ObjectOut<'w> {
    bytes: &'w mut Vec<u8>,
    is_first: bool,
}

/// An array that is being written.
pub(crate) struct ArrayOut<'w> {
    bytes: &'w mut Vec<u8>,
    is_first: bool,
}

/// Writes an object behind these bytes.
pub(crate) fn object<R>(bytes: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut) -> R) -> R {
    bytes.push(b'{');
    let result = write(&mut ObjectOut { bytes, is_first: true });
    bytes.push(b'}');
    result
}

fn array<R>(bytes: &mut Vec<u8>, write: impl FnOnce(&mut ArrayOut) -> R) -> R {
    bytes.push(b'[');
    let result = write(&mut ArrayOut { bytes, is_first: true });
    bytes.push(b']');
    result
}

/// Strings, booleans and finite numbers can always be written into memory.
fn scalar(bytes: &mut Vec<u8>, value: impl serde::Serialize) {
    let _ = serde_json::to_writer(bytes, &value);
}

impl ObjectOut<'_> {
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.bytes.push(b',');
        }
        scalar(self.bytes, name);
        self.bytes.push(b':');
        self.bytes
    }

    /// A string.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        scalar(self.name(name), value);
    }

    /// A string, if there is one.
    pub(crate) fn text_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// A number without fraction.
    pub(crate) fn whole(&mut self, name: &str, value: u64) {
        scalar(self.name(name), value);
    }

    /// A number without fraction, if there is one.
    pub(crate) fn whole_if(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.whole(name, value);
        }
    }

    /// A number with sign, if there is one.
    pub(crate) fn integer_if(&mut self, name: &str, value: Option<i64>) {
        if let Some(value) = value {
            scalar(self.name(name), value);
        }
    }

    /// A number, if there is one.
    pub(crate) fn number_if(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            scalar(self.name(name), value);
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        scalar(self.name(name), value);
    }

    /// `null`.
    pub(crate) fn null(&mut self, name: &str) {
        self.raw(name, "null");
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.name(name).extend_from_slice(value.as_ref());
    }

    /// An object.
    pub(crate) fn object<R>(&mut self, name: &str, write: impl FnOnce(&mut ObjectOut) -> R) -> R {
        object(self.name(name), write)
    }

    /// An array.
    pub(crate) fn array<R>(&mut self, name: &str, write: impl FnOnce(&mut ArrayOut) -> R) -> R {
        array(self.name(name), write)
    }
}

impl ArrayOut<'_> {
    fn item(&mut self) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.bytes.push(b',');
        }
        self.bytes
    }

    /// A string.
    pub(crate) fn text(&mut self, value: &str) {
        scalar(self.item(), value);
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, value: impl AsRef<[u8]>) {
        self.item().extend_from_slice(value.as_ref());
    }

    /// An object.
    pub(crate) fn object<R>(&mut self, write: impl FnOnce(&mut ObjectOut) -> R) -> R {
        object(self.item(), write)
    }
}
