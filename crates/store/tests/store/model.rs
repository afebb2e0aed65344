//! Random questions to the embedded store, beside a map that is too simple to be wrong. Time passes and the store is
//! closed and opened again in between.

use crate::setting::{Random, Time, all, all_counters, ask, counters, delete, embedded, get, list, put, put_new, save_counters};
use std::collections::BTreeMap;
use tollgate_store::{CounterValue, DocumentSpace, Question};

type Documents = BTreeMap<(DocumentSpace, String), (Vec<u8>, Option<u64>)>;

const SEEDS: u64 = 12;
const STEPS: usize = 600;
const KINDS: [DocumentSpace; 2] = [DocumentSpace::Session, DocumentSpace::Certificate];

#[derive(Default)]
struct Model {
    documents: Documents,
    counters: BTreeMap<String, CounterValue>,
}

impl Model {
    fn forget_expired(&mut self, now: u64) {
        self.documents.retain(|_, (_, expires)| expires.is_none_or(|expires| now < expires));
        self.counters.retain(|_, counter| now < counter.renews_unix_s);
    }

    fn under(&self, kind: DocumentSpace, prefix: &str) -> Vec<(String, Vec<u8>)> {
        let of_kind = self.documents.iter().filter(|((of, id), _)| *of == kind && id.starts_with(prefix));
        of_kind.map(|((_, id), (value, _))| (id.clone(), value.clone())).collect()
    }
}

#[test]
fn the_embedded_store_answers_as_a_map_does() {
    (0..SEEDS).for_each(run);
}

fn run(seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let time = Time::new();
    let mut random = Random(seed);
    let mut model = Model::default();
    let mut store = embedded(directory.path(), &time);
    for step in 0..STEPS {
        model.forget_expired(time.now());
        let kind = random.one_of(&KINDS);
        let id = format!("{}{}", random.one_of(&["", "a", "ab", "é", "a\0", "\u{10ffff}"]), random.below(5));
        let value = vec![b'v'; random.below(3_000) as usize];
        let expires = (random.below(3) == 0).then(|| time.now() + random.below(100));
        let key = (kind, id.clone());
        let context = format!("seed {seed}, step {step}, {key:?}");
        match random.below(16) {
            0..3 => {
                let existed = model.documents.insert(key, (value.clone(), expires)).is_some();
                assert_eq!(put(&store, kind, &id, &value, expires), existed, "{context}");
            }
            3..5 => {
                let existed = model.documents.contains_key(&key);
                model.documents.entry(key).or_insert((value.clone(), expires));
                assert_eq!(put_new(&store, kind, &id, &value, expires), existed, "{context}");
            }
            5..7 => assert_eq!(delete(&store, kind, &id), model.documents.remove(&key).is_some(), "{context}"),
            7..9 => assert_eq!(get(&store, kind, &id), model.documents.get(&key).map(|(value, _)| value.clone()), "{context}"),
            9 => {
                let (prefix, limit) = (random.one_of(&["", "a", "a\0", "ab", "é"]), random.below(6) as usize + 1);
                let mut expected = model.under(kind, prefix);
                expected.retain(|(other, _)| *other > id);
                let more = expected.len() > limit;
                expected.truncate(limit);
                let page = list(&store, kind, prefix, Some(&id), limit);
                assert_eq!((page.next.is_some(), page.documents), (more, expected), "{context} under {prefix:?}");
            }
            10 => {
                let renews_unix_s = time.now() + random.below(100);
                let counter = CounterValue { name: id.clone(), value: random.below(1_000) as i64 - 500, renews_unix_s };
                model.counters.insert(id, counter.clone());
                save_counters(&store, vec![counter]);
            }
            11 => assert_eq!(counters(&store, &[&id]).first(), model.counters.get(&id), "{context}"),
            12 => {
                let before = model.counters.len();
                let prefix = random.one_of(&["a", "a\0", "\u{10ffff}", "é", "0"]);
                model.counters.retain(|name, _| !name.starts_with(prefix));
                let existed = ask(&store, Question::DeleteCountersUnder { prefix: prefix.into() }).unwrap().existed().unwrap();
                assert_eq!(existed, model.counters.len() < before, "{context} under {prefix:?}");
            }
            13 => {
                assert_eq!(all(&store, kind), model.under(kind, ""), "{context}");
                assert_eq!(all_counters(&store), model.counters.values().cloned().collect::<Vec<_>>(), "{context}");
            }
            14 => time.pass(random.below(40)),
            _ => {
                store.close();
                store = embedded(directory.path(), &time);
            }
        }
    }
}
