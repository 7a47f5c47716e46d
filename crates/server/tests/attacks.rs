//! Attacks on a running server, each of which once succeeded: what a model, a client, a file or a damaged database may
//! do, and that the server survives it. One module per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "attacks/attachments.rs"]
mod attachments;
#[path = "attacks/damage.rs"]
mod damage;
#[path = "attacks/imports.rs"]
mod imports;
#[path = "attacks/limits.rs"]
mod limits;
#[path = "attacks/model_output.rs"]
mod model_output;
#[path = "attacks/sign_in.rs"]
mod sign_in;
#[path = "attacks/templates.rs"]
mod templates;
