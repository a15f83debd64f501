//! Replays: a recording runs in a fresh instance, without network and without sidecars.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenon_tape::{Call, Event, Field, Request, Response, Tape};
use tenon_transport::Transport;
use tokio::time::{Instant, timeout_at};

use super::change::{Change, shown};
use super::exchange::Exchange;
use super::log_lines::LogLine;
use super::loose::Loose;
use super::player::{Ended, Mode, Player};
use super::seam::Seam;
use crate::config::{Limits, transport_config};
use crate::instance::call::direct;
use crate::instance::call::{Blueprint, EntryPoint, Failure, Instance};
use crate::instance::caller::Caller;
use crate::instance::shared_state::SharedState;
use crate::module::Module;
use crate::module::engine::SharedEngine;

/// How long a replay may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// How often a guest that was stopped is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Time for another build to answer a request that was stopped. After it, that request is stopped as well.
const STOPPED: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 5_000 });

/// The reason why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("the component does not export sdk:core/handler")]
    OtherInterface,
    #[error("its component cannot be instantiated: {}", trap(.0))]
    Instantiate(wasmtime::Error),
    #[error("the component {0}")]
    Answer(&'static str),
    /// A recording may be a stranger's, so its limit cannot raise the configured one.
    #[error("it needs more than {name} = {limit}, which is the limit here: it was recorded with {recorded}")]
    Limit { name: &'static str, limit: u64, recorded: u64 },
}

/// The first difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The number of the event, from 0.
    pub event: usize,
    /// The recorded event, in words.
    pub recorded: String,
    /// The event that the guest caused in its place, in words.
    pub replayed: String,
    /// The part that differs, where both are of one kind.
    pub part: Option<String>,
    /// The last call or log line before it.
    pub after: Option<String>,
    /// The place in the sources where the guest caused it. For an answer, and for an event that only Tenon's code caused, it is the
    /// last place before it.
    pub place: Option<String>,
    /// True when another build asked for something that is nowhere in the recording.
    pub is_new: bool,
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
    /// The differences of the answer of another build.
    pub(super) changes: Vec<Change>,
}

/// Replays a recording of this very component.
pub(crate) async fn strict(engine: &SharedEngine, module: &Arc<Module>, tape: Tape) -> Result<Replayed, ReplayError> {
    let recorded = tape.meta.memory;
    let events = tape.events.len();
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
            Verdict::Differs(Box::new(Difference {
                event: events,
                recorded: digest(recorded),
                replayed: digest(played.memory),
                part: None,
                after: None,
                place: None,
                is_new: false,
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
        Some(Ended::Differs(difference)) if difference.is_new => {
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
    let mut exchange = matches!(mode, Mode::Loose(_)).then(|| Exchange::new(&tape));
    let time = match &exchange {
        Some(_) if is_cut => STOPPED,
        _ => TIMEOUT,
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
        let next = match &mut exchange {
            Some(_) if player.has_ended() => None,
            Some(exchange) => exchange.next(player.enter()),
            None => player.enter(),
        };
        let Some(request) = next else { break };
        let called = tokio::select! {
            biased;
            called = timeout_at(ends, direct::replay(&mut instance, request, notes_places)) => called,
            // Nothing more of it is known: it was stopped here.
            () = cut(&player), if is_cut && exchange.is_none() => {
                is_whole = false;
                break;
            }
        };
        match (called, &mut exchange) {
            (Ok(Ok(response)), exchange) => {
                player.leave(Event::Leave(response.clone()));
                if let Some(exchange) = exchange {
                    exchange.returned(response);
                }
            }
            (Ok(Err(Failure::Trap(error, _))), exchange) => {
                is_whole = false;
                let trap = Event::Trap(trap(&error));
                player.leave(trap.clone());
                match exchange {
                    // The trap is the end of the replay, which has its own reason.
                    Some(exchange) if !player.has_ended() => exchange.trapped(trap),
                    _ => {}
                }
                break;
            }
            (Ok(Err(failure)), _) => return Err(failure.into()),
            (Err(_), exchange) => {
                is_whole = false;
                // Both were stopped.
                if exchange.is_none() || !is_cut {
                    player.fail(&format!("the replay did not end within {} s", time.as_secs()));
                }
                break;
            }
        }
    }
    check_limits(&instance, tape.meta.limits, &module.shared_state.limits)?;
    let memory = if is_whole { instance.digest().await } else { None };
    let at_cut = player.is_at_cut() && !is_whole;
    let (ended, mode, _) = player.end();
    let changes = exchange.map(Exchange::changes).unwrap_or_default();
    Ok(Played { ended: ended.or(at_cut.then_some(Ended::Cut)), mode, memory, changes })
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

/// The text by which a trap is recorded: its first cause.
pub(crate) fn trap(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
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

/// Describes the difference between a recorded event and another one.
pub(super) fn difference(
    event: usize,
    recorded: Option<&Event>,
    replayed: Option<&Event>,
    after: Option<String>,
) -> Difference {
    let part = match (recorded, replayed) {
        (Some(Event::Start(_, one)), Some(Event::Start(_, other))) => part_of_calls(one, other),
        (Some(Event::Leave(one)), Some(Event::Leave(other))) => part_of_responses(one, other),
        (Some(Event::Log(_, one)), Some(Event::Log(_, other))) => Some(format!("byte {}", first(one, other))),
        (Some(Event::Write(_, Some(one), _)), Some(Event::Write(_, Some(other), _))) => {
            Some(format!("byte {}", first(one, other)))
        }
        _ => None,
    };
    let text = |event: Option<&Event>| event.map_or_else(|| "nothing more".to_string(), described);
    Difference { event, recorded: text(recorded), replayed: text(replayed), part, after, place: None, is_new: false }
}

/// The first place at which two texts differ.
fn first(one: &[u8], other: &[u8]) -> usize {
    let at = one.iter().zip(other).position(|(one, other)| one != other);
    at.unwrap_or(one.len().min(other.len()))
}

fn part_of_bodies(one: Option<&Vec<u8>>, other: Option<&Vec<u8>>) -> Option<String> {
    let [one, other] = [one, other].map(|body| body.map(Vec::as_slice).unwrap_or_default());
    (one != other).then(|| format!("body, byte {}", first(one, other)))
}

fn part_of_headers(one: &[Field], other: &[Field]) -> Option<String> {
    if one == other {
        return None;
    }
    let pairs = one.iter().zip(other);
    let differing = pairs.into_iter().find(|(one, other)| one != other).map(|(one, _)| &one.0);
    Some(differing.map_or_else(|| "the number of headers".to_string(), |name| format!("header {name}")))
}

fn part_of_calls(one: &Call, other: &Call) -> Option<String> {
    match () {
        () if one.method != other.method => Some("method".to_string()),
        () if one.url != other.url => Some("URL".to_string()),
        () => part_of_headers(&one.headers, &other.headers)
            .or_else(|| part_of_bodies(one.body.as_ref(), other.body.as_ref())),
    }
}

fn part_of_responses(one: &Response, other: &Response) -> Option<String> {
    if one.status != other.status {
        return Some("status".to_string());
    }
    part_of_headers(&one.headers, &other.headers).or_else(|| part_of_bodies(one.body.as_ref(), other.body.as_ref()))
}

/// An event in a line.
pub(crate) fn described(event: &Event) -> String {
    let body = |body: &Option<Vec<u8>>| match body {
        Some(body) if !body.is_empty() => format!(" {}", shown(body)),
        _ => String::new(),
    };
    match event {
        Event::Enter(Request { method, path, body: own, .. }) => format!("request {method} {path}{}", body(own)),
        Event::Leave(Response { status, body: own, .. }) => format!("answer {status}{}", body(own)),
        Event::Trap(text) => format!("trap: {}", shown(text.as_bytes())),
        Event::Refused(text) => format!("ended by the host: {}", shown(text.as_bytes())),
        Event::Start(_, Call { method, url, body: own, .. }) => format!("call {method} {url}{}", body(own)),
        Event::Wait(timeout, _) if *timeout == u32::MAX => "wait for a call".to_string(),
        Event::Wait(timeout, _) => format!("wait for {timeout} µs"),
        Event::Take(Some((call, Ok(Response { status, body: own, .. })))) => {
            format!("result of call {call}: {status}{}", body(own))
        }
        Event::Take(Some((call, Err(failure)))) => {
            format!("result of call {call}: {}", shown(failure.detail.as_bytes()))
        }
        Event::RandomBytes(bytes) => format!("{} random bytes", bytes.len()),
        Event::Write(call, piece, _) => format!("write to call {call}{}", body(piece)),
        Event::Read(call, _) => format!("read of call {call}"),
        Event::Cancel(call) => format!("end of call {call}"),
        Event::Log(_, text) => format!("log {}", shown(text).trim_end()),
        other => other.kind().to_string(),
    }
}
