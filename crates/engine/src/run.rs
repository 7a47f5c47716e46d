//! One run: a user turn being worked on, from the message to its one end.

pub(crate) mod accept;
pub(crate) mod ask_again;
mod attend;
pub(crate) mod background;
pub(crate) mod bill;
pub(crate) mod budget;
pub(crate) mod call_model;
pub(crate) mod call_tools;
pub(crate) mod choose_model;
pub(crate) mod delegate;
pub(crate) mod drive;
pub(crate) mod frame;
pub(crate) mod grants;
pub(crate) mod heard;
pub(crate) mod hub;
pub(crate) mod inline;
pub(crate) mod lifecycle;
pub(crate) mod mail;
pub(crate) mod order;
pub(crate) mod post;
pub(crate) mod raise;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod schema;
pub(crate) mod stuck;
pub(crate) mod tree;
pub(crate) mod turn;
