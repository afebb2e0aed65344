//! What the results of checks say about a target: up until they fail often enough in a row, down until they succeed often enough.

/// The state that one check finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckState {
    is_down: bool,
    /// Results in a row that contradict the state.
    against: u32,
}

impl CheckState {
    /// Notes a result. Returns whether the target is up, if that changed.
    pub fn note(&mut self, is_good: bool, rise: u32, fall: u32) -> Option<bool> {
        if is_good != self.is_down {
            self.against = 0;
            return None;
        }
        self.against += 1;
        if self.against < if self.is_down { rise } else { fall } {
            return None;
        }
        *self = CheckState { is_down: !self.is_down, against: 0 };
        Some(self.is_up())
    }

    /// Whether the target is up. It is before the first result.
    pub fn is_up(&self) -> bool {
        !self.is_down
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_count_in_a_row() {
        let mut state = CheckState::default();
        let results = [true, false, false, true, false, false, false, false, true, false, true, true, true];
        let changes: Vec<_> = results.into_iter().map(|good| state.note(good, 2, 3)).collect();
        let at: Vec<_> = changes.iter().enumerate().filter_map(|(index, change)| Some((index, (*change)?))).collect();
        assert_eq!(at, [(6, false), (11, true)]);
    }
}
