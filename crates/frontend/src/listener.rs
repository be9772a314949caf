//! The listener to the events of a join.

use std::borrow::Cow;

use crate::{Code, Failure, Position, Remedy};

/// Advice for users, in a few words.
pub type Hint = Cow<'static, str>;

/// A person, a log, or whoever has psijoin as a library. A text may have several lines, and
/// characters that are not printable.
pub trait Listener: Sync {
    /// Hears what a person might want to know.
    fn say(&self, text: &str);

    /// Hears what the user should think about, and what to do about it.
    fn warn(&self, text: &str, hint: Option<&str>);

    /// Hears what must not be overlooked, though nothing failed.
    fn insist(&self, text: &str) {
        self.say(text);
    }

    /// Hears at once why a run will end so, while the other party is still to be told. It ends with
    /// this failure.
    fn fail(&self, _failure: &str, _hint: Option<&str>, _code: Code) {}

    /// Hears that the result is about to be handed out: a deadline does not count any more.
    fn hands_out(&self) {}

    /// Calls `work` once, and may show meanwhile how far it is.
    fn during(
        &self,
        _what: &str,
        _position: &mut (dyn FnMut() -> Position + Send),
        work: &mut dyn FnMut(),
    ) {
        work();
    }

    /// Returns a remedy in words: options, keywords, or whatever else users say there.
    fn hint(&self, remedy: &Remedy) -> Option<Hint>;
}

/// Nobody.
impl Listener for () {
    fn say(&self, _: &str) {}

    fn warn(&self, _: &str, _: Option<&str>) {}

    fn hint(&self, _: &Remedy) -> Option<Hint> {
        None
    }
}

impl dyn Listener + '_ {
    /// Returns what users do about a failure.
    pub fn hint_of(&self, failure: &Failure) -> Option<Hint> {
        self.hint(&failure.remedy()?)
    }
}
