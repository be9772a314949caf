use super::{Budget, Error, Folder};

/// The place of stores' records: within a budget of memory, and beyond it in a folder. A clone is
/// the same place.
#[derive(Clone)]
pub struct Spill {
    /// The memory that they may take together...
    pub budget: Budget,
    /// ...and where the rest lies.
    pub folder: Folder,
}

impl Spill {
    /// Returns a place with this much memory, and this folder.
    pub fn new(budget: Budget, folder: Folder) -> Self {
        Self { budget, folder }
    }

    /// Returns a place where nothing goes to disk.
    pub fn in_memory() -> Self {
        Self::new(Budget::unlimited(), Folder::temporary())
    }

    /// Checks that the folder has room for what stores will hold beyond the budget if they get this
    /// many bytes more.
    ///
    /// # Errors
    /// As [`Folder::check_room`].
    pub fn check_room(&self, bytes: u64) -> Result<(), Error> {
        self.budget.check_room(bytes, &self.folder)
    }
}
