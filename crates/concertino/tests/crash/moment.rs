//! Chooses when the server is killed.

use std::time::Duration;

use testkit::Rng;
use tokio::time::{sleep, timeout};

use crate::world::World;

/// Any time, soon after the start, or right when a client has got something that must not be lost.
pub async fn wait_for_the_moment(world: &World, rng: &mut Rng) {
    let (soon, later) = (rng.between(0, 20), rng.between(20, 400));
    match rng.between(0, 3) {
        0 => sleep(Duration::from_millis(soon)).await,
        1 => {
            let boundaries = world.boundaries(rng.between(1, 15));
            // Not all clients may be in a turn.
            timeout(Duration::from_millis(400), boundaries).await.unwrap_or_default();
        }
        _ => sleep(Duration::from_millis(later)).await,
    }
}
