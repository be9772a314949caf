//! The console as a listener to a session, with options and commands as hints.

use psijoin_frontend::{Code, Hint, Listener, Position, Remedy};

use crate::{
    console::{self, Console},
    guard, hints,
};

impl Listener for Console {
    fn say(&self, text: &str) {
        Console::say(self, text);
    }

    fn warn(&self, text: &str, hint: Option<&str>) {
        self.advise(text, hint);
    }

    fn insist(&self, text: &str) {
        Console::insist(self, text);
    }

    fn fail(&self, failure: &str, hint: Option<&str>, code: Code) {
        console::failed(failure, hint);
        guard::has_said(code);
    }

    fn hands_out(&self) {
        guard::lift_deadline();
    }

    fn during(
        &self,
        what: &str,
        position: &mut (dyn FnMut() -> Position + Send),
        work: &mut dyn FnMut(),
    ) {
        Console::during(self, what, position, work);
    }

    fn hint(&self, remedy: &Remedy) -> Option<Hint> {
        Some(hints::of(remedy))
    }
}
