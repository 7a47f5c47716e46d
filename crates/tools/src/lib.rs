//! What agents can do: one file = one tool. A tool never authorises itself: it states what it needs, the engine
//! decides. It reaches the world only through the handles of [`ToolCtx`].

pub mod tool;

pub use tool::{
    AnyTool, Approval, Effect, Emit, InputError, Notes, Place, PreparedCall, Tool, ToolCtx, ToolError,
};
