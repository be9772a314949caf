//! The program `psijoin`.
fn main() {}
