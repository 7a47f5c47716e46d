//! Waiting, falling back, holding a permit and releasing it.

use futures::StreamExt;
use protocol::FinishReason;

use super::*;
use crate::scripted::{Reply, Scripted, fails, says};

fn request() -> ModelRequest {
    ModelRequest::default()
}

fn endpoint(model: &Scripted, limiter: &Arc<ProviderLimiter>) -> Endpoint {
    Endpoint { model: Arc::new(model.clone()), limiter: Some(Arc::clone(limiter)), facts: None }
}

fn limited() -> Reply {
    fails(ModelError::RateLimited { retry_after: None })
}

fn text(text: &str) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Text(text.to_owned()))
}

fn finished() -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Finished(FinishReason::Stop))
}

async fn answer(model: &Dispatch) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(request()).collect().await
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out_and_never_shown() {
    let script = Scripted::new([limited(), limited(), limited(), limited(), says("at last")]);
    let limiter = ProviderLimiter::new(None);
    let model = Dispatch::new(endpoint(&script, &limiter), [], 1);
    assert_eq!(answer(&model).await, [text("at last"), finished()]);
    assert_eq!(script.requests().len(), 5);
    assert_eq!(limiter.load().active, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_ever() {
    let script = Scripted::choosing(|_| limited());
    let model = Dispatch::new(endpoint(&script, &ProviderLimiter::new(None)), [], 1);
    let started = Instant::now();
    assert_eq!(answer(&model).await, [Err(ModelError::RateLimited { retry_after: None })]);
    assert_eq!(started.elapsed().as_secs(), QUEUE_TIMEOUT.as_secs());
}

#[tokio::test(start_paused = true)]
async fn the_next_model_answers_for_the_rest_of_the_run_and_the_person_is_told() {
    let first = Scripted::new([fails(ModelError::Unreachable)]);
    let second = Scripted::new([says("one"), says("two")]);
    let model = Dispatch::new(
        endpoint(&first, &ProviderLimiter::new(None)),
        [endpoint(&second, &ProviderLimiter::new(None))],
        1,
    );
    let note = FellBack {
        from: "scripted/script".to_owned(),
        to: "scripted/script".to_owned(),
        why: ModelError::Unreachable.to_string(),
    };
    assert_eq!(answer(&model).await, [Ok(ModelEvent::FellBack(Box::new(note))), text("one"), finished()]);
    assert_eq!(answer(&model).await, [text("two"), finished()]);
    assert_eq!(first.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_holds_a_run_up_for_a_moment_only_when_another_model_can_answer() {
    let first = Scripted::choosing(|_| limited());
    let second = Scripted::new([says("here")]);
    let model = Dispatch::new(
        endpoint(&first, &ProviderLimiter::new(None)),
        [endpoint(&second, &ProviderLimiter::new(None))],
        1,
    );
    let started = Instant::now();
    let said = answer(&model).await;
    assert_eq!(said[1..], [text("here"), finished()]);
    assert_eq!(started.elapsed().as_secs(), QUEUE_TIMEOUT_WITH_FALLBACK.as_secs());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_again_once_a_word_was_said_or_when_the_request_is_wrong() {
    let first = Scripted::new([says("half").then(fails(ModelError::Cut))]);
    let second = Scripted::new([says("never")]);
    let model = Dispatch::new(
        endpoint(&first, &ProviderLimiter::new(None)),
        [endpoint(&second, &ProviderLimiter::new(None))],
        1,
    );
    assert_eq!(answer(&model).await, [text("half"), Err(ModelError::Cut)]);
    let wrong = ModelError::Refused { status: 400, message: "too long".to_owned() };
    let first = Scripted::new([fails(wrong.clone())]);
    let model = Dispatch::new(
        endpoint(&first, &ProviderLimiter::new(None)),
        [endpoint(&second, &ProviderLimiter::new(None))],
        1,
    );
    assert_eq!(answer(&model).await, [Err(wrong)]);
    assert!(second.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_answer_holds_its_permit_until_it_ends_and_a_dropped_call_releases_it() {
    let script = Scripted::new([says("one"), says("two")]);
    let limiter = ProviderLimiter::new(Some(1));
    let model = Dispatch::new(endpoint(&script, &limiter), [], 1);
    let mut first = model.stream(request());
    first.next().await.unwrap().unwrap();
    assert_eq!(limiter.load().active, 1);
    let mut second = model.stream(request());
    assert!(futures::poll!(second.next()).is_pending());
    assert_eq!(limiter.load().queued, 1);
    drop(first);
    assert_eq!(second.next().await, Some(text("two")));
    drop(second);
    assert_eq!(limiter.load().active, 0);
    assert_eq!(script.live(), 0);
}
