//! Chooses when the server is killed.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::{dice::Dice, world::World};

/// Any time, soon after the start, or right when a client has got something that must not be lost.
pub async fn wait_for_the_moment(world: &World, dice: &mut Dice) {
    let (soon, later) = (dice.between(0, 20), dice.between(20, 400));
    match dice.between(0, 3) {
        0 => sleep(Duration::from_millis(soon)).await,
        1 => {
            let boundaries = world.boundaries(dice.between(1, 15));
            // Not all clients may be in a turn.
            timeout(Duration::from_millis(400), boundaries).await.unwrap_or_default();
        }
        _ => sleep(Duration::from_millis(later)).await,
    }
}
