//! A damaged database: what is detected, named, and still works.
