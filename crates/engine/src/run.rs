//! One run: a user turn being worked on, from the message to its one end.

pub(crate) mod accept;
pub(crate) mod ask_again;
pub(crate) mod bill;
pub(crate) mod call_model;
pub(crate) mod call_tools;
pub(crate) mod choose_model;
pub(crate) mod drive;
pub(crate) mod frame;
pub(crate) mod heard;
pub(crate) mod lifecycle;
pub(crate) mod resume;
pub(crate) mod stuck;
pub(crate) mod turn;
