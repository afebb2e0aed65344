//! The head of a request as middlewares read it: as the client sent it, with the changes that plugins have made for all who come after them.

use std::cell::OnceCell;
use tollgate_http::{HeadView, HeaderEdits, Headers};

/// Where edits are kept that were shown to middlewares, as long as their request is in a chain.
#[derive(Default)]
pub struct ShownEdits(OnceCell<Box<Shown>>);

struct Shown {
    edits: HeaderEdits,
    later: ShownEdits,
}

impl ShownEdits {
    fn keep(&self, edits: HeaderEdits) -> &HeaderEdits {
        let mut place = self;
        while let Some(shown) = place.0.get() {
            place = &shown.later;
        }
        &place.0.get_or_init(|| Box::new(Shown { edits, later: ShownEdits::default() })).edits
    }
}

/// The head as it is read.
#[derive(Clone, Copy)]
pub struct ShownHead<'a> {
    view: HeadView<'a>,
    shown: &'a ShownEdits,
}

impl<'a> ShownHead<'a> {
    /// The head as the client sent it.
    pub fn new(headers: &'a Headers<'a>, shown: &'a ShownEdits) -> Self {
        ShownHead { view: HeadView::new(headers), shown }
    }

    /// Its lines.
    #[inline]
    pub fn lines(self) -> HeadView<'a> {
        self.view
    }

    /// From now on the lines are those that `edits` make of the client's; without edits, the client's.
    pub fn show(&mut self, edits: Option<HeaderEdits>) {
        self.view = match edits {
            Some(edits) => self.view.edited(self.shown.keep(edits)),
            None => self.view.as_received(),
        };
    }
}
