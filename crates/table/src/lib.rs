//! Part of psijoin.
