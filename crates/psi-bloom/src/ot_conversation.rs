//! What is said in oblivious transfers, and in which order.

use psijoin_ot::extension::Extension;
use psijoin_psi::Conversation;

/// The setup.
pub(crate) fn setup(extension: Extension) -> Conversation {
    Conversation::default().both(
        extension.setup_sender_bytes(),
        extension.setup_receiver_bytes(),
    )
}

/// `count` OTs of given choices.
pub(crate) fn chosen(extension: Extension, count: usize) -> Conversation {
    let random = extension.receiver_bytes(count);
    Conversation::default()
        .receiver(random)
        .sender(extension.sender_bytes(count))
        .receiver(extension.chosen_receiver_bytes(count) - random)
}
