//! Chooses the model of a run: the one its request names, else the one the session chose before, else the agent's, else
//! the default. The choice is made once, when the run starts or is resumed, and holds for all its steps.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use futures::{FutureExt, StreamExt, future};
use models::{Catalog, ChoiceError, Model, ModelError, ModelRequest, ModelSelection, ModelStream};
use protocol::RunOptions;

use crate::{
    agents::{AgentDefinition, ModelChoice},
    session_name::SessionName,
};

/// `session` decides whose turn it is when calls must wait for a provider.
pub(crate) fn choose_model(
    catalog: &Catalog,
    session: &SessionName,
    options: &RunOptions,
    agent: &AgentDefinition,
) -> Result<Arc<dyn Model>, ChoiceError> {
    let own = agent.model.as_ref().map(ModelChoice::name);
    let wanted = ModelSelection {
        id: options.chat_model_id.as_deref(),
        source: options.chat_model_source.as_deref(),
        agent: own.as_deref(),
        params: agent.model.as_ref().map(|model| &model.params),
        fallback: &agent.fallback,
    };
    catalog.resolve(&wanted, lane(session))
}

/// Two sessions with the same number would only share their turns.
fn lane(session: &SessionName) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(session)
}

/// Replaces a model that is gone when a run is resumed: the run ends with the reason instead of staying unfinished.
pub(crate) struct UnavailableModel(pub(crate) ChoiceError);

impl Model for UnavailableModel {
    fn name(&self) -> &str {
        "none"
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let error =
            ModelError::Explained { text: self.0.to_string(), error: Box::new(ModelError::Unreachable) };
        future::ready(Err(error)).into_stream().boxed()
    }
}
