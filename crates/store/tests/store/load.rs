//! Many documents: all of them come back, and the file is not much larger than they are.

use crate::setting::{Time, embedded, wait};
use std::collections::VecDeque;
use tollgate_store::{DocumentSpace, Question, Store};

const DOCUMENTS: usize = 200_000;
const DOCUMENT_BYTES: usize = 400;

#[test]
fn two_hundred_thousand_sessions_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let store = embedded(directory.path(), &Time::new());
    wait(async {
        let mut replies = VecDeque::new();
        for n in 0..DOCUMENTS {
            // Spread over the tree as hashes of keys are.
            let id = format!("{:016x}", (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let value = vec![b'v'; DOCUMENT_BYTES];
            replies.push_back(store.ask(Question::Put { kind: DocumentSpace::Session, id, value, expires_unix_s: None }));
            if replies.len() == 4_096 {
                replies.pop_front().unwrap().await.unwrap();
            }
        }
        for reply in replies {
            assert!(!reply.await.unwrap().existed().unwrap());
        }
    });
    let (mut documents, mut bytes) = (0, 0);
    store
        .for_each(DocumentSpace::Session, &mut |_, value| {
            documents += 1;
            bytes += value.len();
        })
        .unwrap();
    assert_eq!((documents, bytes), (DOCUMENTS, DOCUMENTS * DOCUMENT_BYTES));
    store.close();
    let file_bytes = std::fs::metadata(directory.path().join("tollgate.db")).unwrap().len();
    let per_document = file_bytes as usize / DOCUMENTS;
    println!("{per_document} bytes of the file per document of {DOCUMENT_BYTES} bytes");
    assert!(per_document < 2 * DOCUMENT_BYTES, "{per_document}");
}
