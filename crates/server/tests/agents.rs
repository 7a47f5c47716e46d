//! Sub-agents: delegated through one set of checks, active in parallel, shown inside the call that started them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod agents {
    pub mod approvals;
    pub mod background;
    pub mod cast;
    pub mod definitions;
    pub mod delegation;
    pub mod demo;
    pub mod drill_down;
    pub mod gate;
    pub mod grants;
    pub mod hub;
    pub mod idempotent;
    pub mod in_force;
    pub mod lane;
    pub mod left_over;
    pub mod limits;
    pub mod main_agents;
    pub mod page;
    pub mod plan;
    pub mod random;
    pub mod recovery;
    pub mod services;
    pub mod slots;
    pub mod trees;
    pub mod user_input;
}
