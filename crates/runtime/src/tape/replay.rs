//! Replays: a recording runs in a fresh instance, without network and without sidecars.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenon_tape::{Event, Tape};
use tenon_transport::Transport;
use tokio::time::{Instant, timeout_at};

use super::change::Change;
use super::difference::{Difference, DifferenceKind, described};
use super::driver::Driver;
use super::log_lines::LogLine;
use super::loose::Loose;
use super::player::{Ended, Mode, Player};
use super::seam::Seam;
use crate::config::{Limits, transport_config};
use crate::instance::call::direct;
use crate::instance::call::{Blueprint, EntryPoint, Failure, Instance, trap_text};
use crate::instance::caller::Caller;
use crate::instance::shared_state::SharedState;
use crate::module::Module;
use crate::module::engine::SharedEngine;

/// How long a replay may take: so many times the recorded duration and some seconds, and a minute at most.
const TIMES: u32 = 10;
const LEAST: Duration = Duration::from_secs(10);
const MOST: Duration = Duration::from_mins(1);

/// The part of a difference that no event has.
const HIDDEN: &str = "memory that no answer, call or log line shows";

/// How often a guest that was stopped is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Time for another build to answer a request that was stopped. After it, that request is stopped as well.
const STOPPED: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 5_000 });

/// The reason why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("the component does not export sdk:core/handler")]
    OtherInterface,
    #[error("its component cannot be instantiated: {}", trap_text(.0))]
    Instantiate(wasmtime::Error),
    #[error("the component {0}")]
    Answer(&'static str),
    /// A recording may be a stranger's, so its limit cannot raise the configured one.
    #[error("it needs more than {name} = {limit}, which is the limit here: it was recorded with {recorded}")]
    Limit { name: &'static str, limit: u64, recorded: u64 },
}

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "verdict", content = "found")]
pub enum Verdict {
    /// Everything was the same.
    Same,
    /// The guest did something else.
    Differs(Box<Difference>),
    /// Another build answered differently.
    Changed(Vec<Change>),
    /// Another build asked for something that was not recorded.
    Asks(Box<Difference>),
}

/// A replayed recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// The outcome.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// True when the digest of the guest's memory was compared as well.
    pub compared_memory: bool,
    /// The log of another build; none in a replay of the recorded one, whose log must be the recorded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<LogLine>>,
}

/// The parts of a replay that its caller goes on with.
pub(super) struct Played {
    pub(super) ended: Option<Ended>,
    pub(super) mode: Mode,
    pub(super) memory: Option<u128>,
    /// The last place in the sources, if the guest was asked for it.
    pub(super) place: Option<String>,
    /// The differences of the answer of another build.
    pub(super) changes: Vec<Change>,
}

/// Replays a recording of this very component.
pub(crate) async fn strict(engine: &SharedEngine, module: &Arc<Module>, tape: Tape) -> Result<Replayed, ReplayError> {
    let recorded = tape.meta.memory;
    let events = tape.events.len();
    let last = tape.events.iter().rev().find(|event| is_shown(event)).map(described);
    let played = play(engine, module, tape.clone(), Mode::Strict, false).await?;
    let compared_memory = recorded.is_some() && played.memory.is_some();
    let verdict = match played.ended {
        Some(Ended::Differs(difference)) => {
            Verdict::Differs(located(engine, module, tape, Mode::Strict, difference).await)
        }
        Some(Ended::Cut) => Verdict::Same,
        None if compared_memory && recorded != played.memory => {
            let digest =
                |digest: Option<u128>| digest.map_or_else(String::new, |digest| format!("memory {digest:032x}"));
            let (recorded, replayed) = (digest(recorded), digest(played.memory));
            Verdict::Differs(Box::new(Difference {
                kind: DifferenceKind::Memory,
                event: events,
                recorded,
                replayed,
                part: Some(HIDDEN.to_string()),
                after: last,
                place: last_place(engine, module, tape).await,
                asked: None,
            }))
        }
        None => Verdict::Same,
    };
    Ok(Replayed { verdict, compared_memory, log: None })
}

/// Replays a recording of another build.
pub(crate) async fn against(engine: &SharedEngine, module: &Arc<Module>, tape: Tape) -> Result<Replayed, ReplayError> {
    let loose = || Mode::Loose(Box::new(Loose::new(&tape)));
    let Played { ended, mode, mut changes, .. } = play(engine, module, tape.clone(), loose(), false).await?;
    let mut log = Vec::new();
    if let Mode::Loose(loose) = mode {
        let (missing, lines) = loose.end();
        changes.extend(missing);
        let source_map = &module.info.source_map;
        log.extend(lines.into_iter().map(|line| LogLine { text: source_map.apply(&line.text).into_owned(), ..line }));
    }
    let verdict = match ended {
        Some(Ended::Differs(difference)) if difference.kind == DifferenceKind::New => {
            Verdict::Asks(located(engine, module, tape.clone(), loose(), difference).await)
        }
        Some(Ended::Differs(difference)) => Verdict::Differs(difference),
        _ if !changes.is_empty() => Verdict::Changed(changes),
        _ => Verdict::Same,
    };
    Ok(Replayed { verdict, compared_memory: false, log: Some(log) })
}

/// Finds the place of a difference: the guest runs again and notes its places, which changes its memory and nothing else.
async fn located(
    engine: &SharedEngine,
    module: &Arc<Module>,
    tape: Tape,
    mode: Mode,
    mut found: Box<Difference>,
) -> Box<Difference> {
    if let Ok(Played { ended: Some(Ended::Differs(again)), .. }) = play(engine, module, tape, mode, true).await
        && (again.event, &again.replayed) == (found.event, &found.replayed)
    {
        found.place = again.place;
    }
    found
}

/// Finds the last place in the sources of a replay in which every event is the same.
async fn last_place(engine: &SharedEngine, module: &Arc<Module>, tape: Tape) -> Option<String> {
    let played = play(engine, module, tape, Mode::Strict, true).await.ok()?;
    played.ended.is_none().then_some(played.place)?
}

/// Returns whether an event is one that a reader of the sources knows: a request, a call, its result, or a log line.
fn is_shown(event: &Event) -> bool {
    matches!(
        event,
        Event::Enter(_)
            | Event::Start(..)
            | Event::Take(Some(_))
            | Event::Read(..)
            | Event::Write(..)
            | Event::Cancel(_)
            | Event::Log(..)
    )
}

/// Runs the events of a recording in a fresh instance.
pub(super) async fn play(
    engine: &SharedEngine,
    module: &Arc<Module>,
    tape: Tape,
    mode: Mode,
    notes_places: bool,
) -> Result<Played, ReplayError> {
    let EntryPoint::Direct(_) = &module.entry else {
        return Err(ReplayError::OtherInterface);
    };
    let shared_state = alone(&module.shared_state, tape.meta.limits);
    let is_cut = tape.meta.is_cut;
    let mut driver = matches!(mode, Mode::Loose(_)).then(|| Driver::new(&tape));
    let time = match &driver {
        Some(_) if is_cut => STOPPED,
        _ => Duration::from_nanos(tape.meta.duration).saturating_mul(TIMES).saturating_add(LEAST).min(MOST),
    };
    let sources = notes_places.then(|| Arc::clone(&module.info));
    let player = Arc::new(Player::new(tape.events, is_cut, mode, sources));
    let caller = Caller { seam: Seam::Replayed(Arc::clone(&player)), ..Caller::host("replay", &shared_state.limits) };
    let slot = engine.slots.take().await;
    let blueprint = Blueprint { shared_state: &shared_state, ..module.blueprint() };
    let made = Instance::new(blueprint, caller, slot).await;
    let mut instance = made?;
    let mut is_whole = true;
    let ends = Instant::now() + time;
    loop {
        let next = match &mut driver {
            Some(_) if player.has_ended() => None,
            Some(driver) => driver.next(player.enter()),
            None => player.enter(),
        };
        let Some(request) = next else { break };
        let called = tokio::select! {
            biased;
            called = timeout_at(ends, direct::replay(&mut instance, request, notes_places)) => called,
            // Nothing more of it is known: it was stopped here.
            () = cut(&player), if is_cut && driver.is_none() => {
                is_whole = false;
                break;
            }
        };
        match (called, &mut driver) {
            (Ok(Ok(response)), driver) => {
                player.leave(Event::Leave(response.clone()));
                if let Some(driver) = driver {
                    driver.returned(response);
                }
            }
            (Ok(Err(Failure::Trap(error, _))), driver) => {
                is_whole = false;
                let trap = Event::Trap(trap_text(&error));
                player.leave(trap.clone());
                match driver {
                    // The trap is the end of the replay, which has its own reason.
                    Some(driver) if !player.has_ended() => driver.trapped(trap),
                    _ => {}
                }
                break;
            }
            (Ok(Err(failure)), _) => return Err(failure.into()),
            (Err(_), driver) => {
                is_whole = false;
                // Both were stopped.
                if driver.is_none() || !is_cut {
                    player.fail_endless(time.as_secs());
                }
                break;
            }
        }
    }
    check_limits(&instance, tape.meta.limits, &module.shared_state.limits)?;
    let memory = if is_whole { instance.digest().await } else { None };
    let at_cut = player.is_at_cut() && !is_whole;
    let (ended, mode, place) = player.end();
    let changes = driver.map(Driver::changes).unwrap_or_default();
    Ok(Played { ended: ended.or(at_cut.then_some(Ended::Cut)), mode, memory, place, changes })
}

/// Refuses a replay that ran into a limit which was higher when the request was recorded.
fn check_limits(instance: &Instance, recorded: [u64; 2], limits: &Limits) -> Result<(), ReplayError> {
    let Some(denied) = instance.denied() else { return Ok(()) };
    let all = [
        ("memory_limit_bytes", limits.memory_limit_bytes, recorded[0]),
        ("max_table_elements", limits.max_table_elements, recorded[1]),
    ];
    match all.into_iter().find(|(name, limit, recorded)| *name == denied && recorded > limit) {
        Some((name, limit, recorded)) => Err(ReplayError::Limit { name, limit, recorded }),
        None => Ok(()),
    }
}

impl From<Failure> for ReplayError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Trap(error, _) => Self::Instantiate(error),
            Failure::InvalidResponse(what) => Self::Answer(what),
            Failure::Unanswered => Self::Answer("ended without an answer"),
            Failure::NoRoom => Self::Answer("has an answer that the buffers have no room for"),
        }
    }
}

/// Waits until a guest has done all that it did before it was stopped.
async fn cut(player: &Player) {
    while !player.is_at_cut() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The state of a module that reaches nothing, with the recorded limits.
fn alone(state: &SharedState, limits: [u64; 2]) -> Arc<SharedState> {
    // A stranger's recording may name any limit (`check_limits`).
    let own = &state.limits;
    let limits = Limits {
        memory_limit_bytes: limits[0].min(own.memory_limit_bytes),
        max_table_elements: limits[1].min(own.max_table_elements),
        ..own.clone()
    };
    Arc::new(SharedState {
        environment: Vec::new(),
        masks: Arc::default(),
        transport: Transport::new(Vec::new(), Vec::new(), transport_config(&limits)),
        limits,
        isolation: crate::config::Isolation::Request,
        metrics: Arc::clone(&state.metrics),
        sidecars: Vec::new(),
        allow: Vec::new(),
        #[cfg(test)]
        without: None,
        #[cfg(test)]
        peak: Arc::default(),
    })
}
