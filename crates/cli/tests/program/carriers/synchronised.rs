//! A program that keeps two folders alike.

use std::{
    collections::HashMap,
    fs,
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

/// See the [module](self). It keeps everything that was ever in them.
pub(crate) struct Synchronised {
    folders: [String; 2],
    /// The folder where each file has appeared first, and its content when it was copied last.
    copied: HashMap<String, (usize, Vec<u8>)>,
    kept: Vec<u8>,
}

/// Ends programs that run for as long as this is not over, also if a test fails.
#[cfg(unix)]
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

#[cfg(unix)]
impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl Synchronised {
    pub(crate) fn new(folders: [String; 2]) -> Self {
        Self {
            folders,
            copied: HashMap::new(),
            kept: Vec::new(),
        }
    }

    /// Runs for as long as parties do, and returns the names and contents of all files.
    pub(crate) fn run(mut self, is_over: &AtomicBool) -> Vec<u8> {
        while !is_over.load(Relaxed) {
            self.keep_alike();
        }
        self.kept
    }

    /// Runs until it has copied so many files, if that comes.
    #[cfg(unix)]
    pub(crate) fn run_for(&mut self, files: usize, is_over: &AtomicBool) {
        while self.copied.len() < files && !is_over.load(Relaxed) {
            self.keep_alike();
        }
    }

    fn keep_alike(&mut self) {
        for from in 0..2 {
            self.look(from);
        }
        thread::sleep(Duration::from_millis(2));
    }

    /// Copies what is new in one folder, and removes what is gone in either.
    fn look(&mut self, from: usize) {
        let [here, there] = [from, 1 - from].map(|it| self.folders[it].clone());
        let there = Path::new(&there);
        let names = names_below(Path::new(&here));
        for name in &names {
            let Ok(content) = fs::read(Path::new(&here).join(name)) else {
                continue;
            };
            match self.copied.get(name) {
                Some((first, _)) if *first != from => continue,
                Some((_, known)) if *known == content => continue,
                _ => {}
            }
            self.kept.extend_from_slice(name.as_bytes());
            self.kept.extend_from_slice(&content);
            let copy = there.join(name);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            // Somebody may have removed the folder again.
            let Ok(mut file) = fs::File::create(&copy) else {
                continue;
            };
            // It grows before the eyes of the reader.
            for piece in content.chunks(content.len().div_ceil(3).max(1)) {
                let _ = file.write_all(piece);
            }
            self.copied.insert(name.clone(), (from, content));
        }
        let is_gone = |name: &String| !names.contains(name);
        let gone: Vec<_> = self
            .copied
            .keys()
            .filter(|it| is_gone(it))
            .cloned()
            .collect();
        for name in gone {
            let _ = fs::remove_file(there.join(&name));
        }
    }
}

/// Returns the names of all files below a folder, as they are from there.
fn names_below(folder: &Path) -> Vec<String> {
    let rooms = fs::read_dir(folder).unwrap().flatten();
    let files = rooms.flat_map(|room| {
        let name = room.file_name().into_string().unwrap();
        let files = fs::read_dir(room.path()).into_iter().flatten().flatten();
        files
            .map(|file| format!("{name}/{}", file.file_name().into_string().unwrap()))
            .collect::<Vec<_>>()
    });
    // A file under this name is not whole yet.
    files.filter(|name| !name.contains(".part-")).collect()
}
