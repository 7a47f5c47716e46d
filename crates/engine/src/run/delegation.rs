//! Delegation: sub-agents from the call that starts them to the result that their caller reads.

pub(crate) mod approval_relay;
pub(crate) mod background;
pub(crate) mod budget;
pub(crate) mod delegate;
pub(crate) mod handover;
pub(crate) mod hub;
pub(crate) mod position;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod sub_agent;
pub(crate) mod tree;
pub(crate) mod work_permit;
