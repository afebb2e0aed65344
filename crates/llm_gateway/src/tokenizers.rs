//! Vocabularies in files: read once for all APIs, and anew when they change.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use tollgate_llm::{TextSplit, Tokenizer};
use tollgate_model::config::{SplitRule, TokenizerSettings};
use tollgate_model::readable_files::note;
use tollgate_pattern::Glob;

/// Largest file: those of OpenAI have up to 4 MB.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// The tokenizers of models.
#[derive(Clone, Debug, Default)]
pub struct Tokenizers(Vec<(Vec<Arc<Glob>>, FileState, Arc<Tokenizer>)>);

impl Tokenizers {
    /// The tokenizer of a model. Names of a provider and a fine-tuning around the model's own do not count.
    pub(crate) fn of(&self, model: &str) -> Option<Arc<Tokenizer>> {
        let model = model.rsplit('/').next().unwrap_or(model);
        let model = model.strip_prefix("ft:").unwrap_or(model);
        let found = self.0.iter().find(|(patterns, ..)| patterns.iter().any(|pattern| pattern.is_match(model)));
        found.map(|(.., tokenizer)| tokenizer.clone())
    }
}

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileState {
    file: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
    split: TextSplit,
}

/// The vocabularies that are in use.
#[derive(Default)]
pub struct TokenizerLibrary(Mutex<HashMap<FileState, Weak<Tokenizer>>>);

impl TokenizerLibrary {
    /// The tokenizers, and what is wrong with those that cannot be had: the index of each, and why.
    pub fn tokenizers(&self, settings: &[TokenizerSettings]) -> (Tokenizers, Vec<(usize, String)>) {
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for (index, one) in settings.iter().enumerate() {
            let split = match one.split {
                SplitRule::O200kBase => TextSplit::O200k,
                SplitRule::Cl100kBase => TextSplit::Cl100k,
            };
            match self.tokenizer(&one.file, split) {
                Ok((state, tokenizer)) => {
                    let known = split.models().iter().map(|pattern| Arc::new(Glob::new(pattern)));
                    let own = one.models.iter().map(|pattern| Arc::new(Glob::new(pattern)));
                    found.push((if one.models.is_empty() { known.collect() } else { own.collect() }, state, tokenizer));
                }
                Err(why) => problems.push((index, format!("{}: {why}", one.file.display()))),
            }
        }
        (Tokenizers(found), problems)
    }

    fn tokenizer(&self, file: &Path, split: TextSplit) -> Result<(FileState, Arc<Tokenizer>), String> {
        note(file);
        let facts = fs::metadata(file).map_err(|error| error.to_string())?;
        if !facts.is_file() || facts.len() > FILE_BYTES_MAX {
            return Err(format!("is no file of at most {FILE_BYTES_MAX} bytes"));
        }
        let state = FileState { file: file.to_owned(), bytes: facts.len(), modified: facts.modified().ok(), split };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, tokenizer| tokenizer.strong_count() > 0);
        if let Some(tokenizer) = known.get(&state).and_then(Weak::upgrade) {
            return Ok((state, tokenizer));
        }
        let mut bytes = Vec::new();
        let read = File::open(file).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
        read.map_err(|error| error.to_string())?;
        let tokenizer = Arc::new(Tokenizer::read(&bytes, split)?);
        known.insert(state.clone(), Arc::downgrade(&tokenizer));
        Ok((state, tokenizer))
    }
}

#[cfg(test)]
mod tests {
    use super::TokenizerLibrary;
    use std::fs;
    use std::sync::Arc;
    use tollgate_model::config::TokenizerSettings;

    /// All bytes as tokens, in base64.
    fn bytes() -> String {
        use base64::Engine as _;
        let encode = |byte: u8| base64::engine::general_purpose::STANDARD.encode([byte]);
        (0..=u8::MAX).map(|byte| format!("{} {byte}\n", encode(byte))).collect()
    }

    #[test]
    fn models_have_the_tokenizer_of_their_name_and_files_are_read_once() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("bytes.tiktoken");
        fs::write(&file, bytes()).expect("a file");
        let terms = |models: &[&str]| TokenizerSettings {
            file: file.clone(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            ..TokenizerSettings::default()
        };
        let library = TokenizerLibrary::default();
        let (known, problems) = library.tokenizers(&[terms(&[])]);
        assert_eq!(problems, []);
        for (model, has) in
            [("gpt-4o-mini", true), ("openai/gpt-5", true), ("ft:gpt-4o:acme", true), ("gpt-4-turbo", false), ("claude", false)]
        {
            assert_eq!(known.of(model).is_some(), has, "{model}");
        }
        let (own, _) = library.tokenizers(&[terms(&["qwen*"])]);
        let (Some(one), Some(other)) = (known.of("gpt-4o"), own.of("qwen3")) else { panic!("both have one") };
        assert!(Arc::ptr_eq(&one, &other) && own.of("gpt-4o").is_none());
        fs::write(&file, bytes() + "YWI= 256\n").expect("a file");
        let (new, _) = library.tokenizers(&[terms(&[])]);
        assert_eq!((one.count("ab"), new.of("gpt-4o").map(|new| new.count("ab"))), (2, Some(1)));
        fs::write(&file, "no vocabulary").expect("a file");
        let nowhere = TokenizerSettings { file: folder.path().join("none"), ..terms(&[]) };
        let (none, problems) =
            library.tokenizers(&[terms(&[]), nowhere, TokenizerSettings { file: folder.path().to_owned(), ..terms(&[]) }]);
        assert!(none.of("gpt-4o").is_none());
        assert!(
            matches!(problems.as_slice(), [(0, first), (1, _), (2, _)] if first.ends_with("line 1 is no token in base64 with its rank")),
            "{problems:?}"
        );
    }
}
