//! The player of a recording. It gives a guest the recorded values in their order, and compares what the guest does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tenon_tape::{Call, Encoder, Event, Failure, Piece, Request, Response, Variable};
use wasmtime::format_err;

use super::difference::{Difference, DifferenceKind, bare, difference};
use super::loose::{Loose, Stop};
use super::placeholders::Placeholders;
use super::seam::locked;
use crate::instance::guest_log::FRAME;
use crate::telemetry::module_info::ModuleInfo;

/// How a guest's own values are treated.
pub(crate) enum Mode {
    /// They must equal the recorded ones.
    Strict,
    /// They replace the recorded ones: the guest has got placeholders for what is masked. Only their kinds must be equal.
    Masking(Box<Encoder>, Placeholders),
    /// They are those of another build, which may ask for time and random values in another order.
    Loose(Box<Loose>),
}

/// The reason why a replay has ended before the guest did.
pub(crate) enum Ended {
    /// The guest did something else.
    Differs(Box<Difference>),
    /// The recording ends here, because the guest was stopped here.
    Cut,
}

/// Plays the events of one request.
pub(crate) struct Player(Mutex<Play>);

pub(super) struct Play {
    events: VecDeque<Event>,
    /// Events that were played.
    at: usize,
    is_cut: bool,
    mode: Mode,
    ended: Option<Ended>,
    /// The last call, log line or request, for the place of a difference.
    last: Option<String>,
    /// Set when the guest notes its places.
    sources: Option<Arc<ModuleInfo>>,
    /// The last place in the project's sources.
    place: Option<String>,
}

/// The beginning of a text of the log that is a place (wit/handler.wit).
const PLACE: &[u8] = b"\0place\n";

impl Player {
    /// With `sources`, the guest notes the place of each event.
    pub(crate) fn new(events: Vec<Event>, is_cut: bool, mode: Mode, sources: Option<Arc<ModuleInfo>>) -> Self {
        let events = events.into();
        Self(Mutex::new(Play { events, at: 0, is_cut, mode, ended: None, last: None, sources, place: None }))
    }

    /// Returns whether the replay has ended before the guest did.
    pub(super) fn has_ended(&self) -> bool {
        locked(&self.0).ended.is_some()
    }

    /// The next call into the guest; none when there is no other.
    pub(super) fn enter(&self) -> Option<Request> {
        let mut play = locked(&self.0);
        if play.ended.is_some() {
            return None;
        }
        if let Mode::Loose(loose) = &mut play.mode {
            return loose.enter();
        }
        match play.events.front() {
            Some(Event::Enter(request)) => {
                let request = request.clone();
                play.pop();
                if let Mode::Masking(out, _) = &mut play.mode {
                    out.enter(&request.method, &request.path, &request.headers, request.body.as_deref());
                }
                Some(request)
            }
            Some(_) => {
                play.differ(None);
                None
            }
            None => None,
        }
    }

    /// The guest returned or trapped, which must be what is recorded.
    pub(super) fn leave(&self, event: Event) {
        let mut play = locked(&self.0);
        if play.ended.is_some() {
            return;
        }
        let play = &mut *play;
        // The driver compares whole answers.
        if let Mode::Loose(loose) = &mut play.mode {
            loose.leave(&event);
            return;
        }
        // The guest was stopped before it came as far.
        if play.is_cut && play.events.is_empty() {
            play.ended = Some(Ended::Cut);
            return;
        }
        match &mut play.mode {
            Mode::Strict => {
                if play.events.front() == Some(&event) {
                    play.pop();
                } else {
                    play.differ(Some(event));
                }
            }
            Mode::Masking(out, _) => {
                let is_same = match (play.events.front(), &event) {
                    (Some(Event::Leave(one)), Event::Leave(other)) => one.status == other.status,
                    (Some(Event::Trap(one)), Event::Trap(other)) => one == other,
                    _ => false,
                };
                if is_same {
                    out.event(&event);
                    play.pop();
                } else {
                    play.differ(Some(event));
                }
            }
            Mode::Loose(_) => {}
        }
    }

    /// The end of the replay, the player's mode, and the last place in the sources.
    pub(super) fn end(&self) -> (Option<Ended>, Mode, Option<String>) {
        let mut play = locked(&self.0);
        if play.ended.is_none() && !play.events.is_empty() && !matches!(play.mode, Mode::Loose(_)) {
            play.differ(None);
        }
        (play.ended.take(), std::mem::replace(&mut play.mode, Mode::Strict), play.place.take())
    }

    /// True when the guest was stopped here as in the recording.
    pub(super) fn is_at_cut(&self) -> bool {
        let play = locked(&self.0);
        play.is_cut && play.events.is_empty()
    }

    /// Notes that the guest did not end in so many seconds.
    pub(super) fn fail_endless(&self, seconds: u64) {
        let mut play = locked(&self.0);
        if play.ended.is_none() {
            let mut difference = play.difference(None);
            difference.kind = DifferenceKind::Endless;
            difference.replayed = format!("the replay did not end within {seconds} s");
            play.ended = Some(Ended::Differs(Box::new(difference)));
        }
    }

    pub(crate) fn monotonic(&self) -> wasmtime::Result<u64> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.monotonic());
        }
        match play.events.front() {
            Some(Event::Monotonic(now)) => {
                let now = *now;
                play.taken(|out| out.monotonic(now));
                Ok(now)
            }
            _ => Err(play.asks(Event::Monotonic(0))),
        }
    }

    pub(crate) fn wall(&self) -> wasmtime::Result<u64> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.wall());
        }
        match play.events.front() {
            Some(Event::Wall(now)) => {
                let now = *now;
                play.taken(|out| out.wall(now));
                Ok(now)
            }
            _ => Err(play.asks(Event::Wall(0))),
        }
    }

    pub(crate) fn random_bytes(&self, length: u64) -> wasmtime::Result<Vec<u8>> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return loose.random_bytes(length).map_err(|stop| play.stop(stop));
        }
        match play.events.front() {
            Some(Event::RandomBytes(bytes)) if bytes.len() as u64 == length => {
                let mut bytes = bytes.clone();
                if let Mode::Masking(_, placeholders) = &play.mode {
                    placeholders.random(play.at, &mut bytes);
                }
                play.taken(|out| out.random_bytes(&bytes));
                Ok(bytes)
            }
            _ => Err(play.asks(Event::RandomBytes(vec![0; usize::try_from(length.min(64))?]))),
        }
    }

    pub(crate) fn random_number(&self) -> wasmtime::Result<u64> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.random_number());
        }
        match play.events.front() {
            Some(Event::RandomNumber(number)) => {
                let mut bytes = number.to_le_bytes();
                if let Mode::Masking(_, placeholders) = &play.mode {
                    placeholders.random(play.at, &mut bytes);
                }
                let number = u64::from_le_bytes(bytes);
                play.taken(|out| out.random_number(number));
                Ok(number)
            }
            _ => Err(play.asks(Event::RandomNumber(0))),
        }
    }

    pub(crate) fn environment(&self) -> wasmtime::Result<Vec<(String, String)>> {
        let mut play = self.play()?;
        let variables = if let Mode::Loose(loose) = &mut play.mode {
            loose.environment()
        } else if let Some(Event::Environment(variables)) = play.events.front() {
            let variables = variables.clone();
            let event = Event::Environment(variables.clone());
            play.taken(|out| out.event(&event));
            variables
        } else {
            return Err(play.asks(Event::Environment(Vec::new())));
        };
        Ok(variables.into_iter().map(|Variable { name, value, .. }| (name, value)).collect())
    }

    pub(crate) fn start(&self, call: Call) -> wasmtime::Result<u32> {
        let mut play = self.play()?;
        let last = format!("{} {}", call.method, call.url);
        let number = if let Mode::Loose(loose) = &mut play.mode {
            loose.start(call).map_err(|stop| play.stop(stop))?
        } else {
            match play.events.front() {
                Some(Event::Start(number, recorded)) if play.fits(recorded, &call) => {
                    let number = *number;
                    play.taken(|out| out.start(number, &call));
                    number
                }
                _ => return Err(play.asks(Event::Start(0, call))),
            }
        };
        play.last = Some(last);
        Ok(number)
    }

    pub(crate) fn wait(&self, timeout: u32) -> wasmtime::Result<bool> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return loose.wait(timeout).map_err(|stop| play.stop(stop));
        }
        let is_masking = matches!(play.mode, Mode::Masking(..));
        match play.events.front() {
            Some(Event::Wait(recorded, has_any)) if *recorded == timeout || is_masking => {
                let has_any = *has_any;
                play.taken(|out| out.wait(timeout, has_any));
                Ok(has_any)
            }
            _ => Err(play.asks(Event::Wait(timeout, false))),
        }
    }

    pub(crate) fn take(&self) -> wasmtime::Result<Option<(u32, Result<Response, Failure>)>> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.take());
        }
        match play.events.front() {
            Some(Event::Take(taken)) => {
                let taken = taken.clone();
                let event = Event::Take(taken.clone());
                play.taken(|out| out.event(&event));
                Ok(taken)
            }
            _ => Err(play.asks(Event::Take(None))),
        }
    }

    pub(crate) fn ready(&self) -> wasmtime::Result<Option<u32>> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.ready());
        }
        match play.events.front() {
            Some(Event::Ready(number)) => {
                let number = *number;
                play.taken(|out| out.ready(number));
                Ok(number)
            }
            _ => Err(play.asks(Event::Ready(None))),
        }
    }

    pub(crate) fn read(&self, call: u32) -> wasmtime::Result<Piece> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return Ok(loose.read(call));
        }
        match play.events.front() {
            Some(Event::Read(number, piece)) if *number == call => {
                let piece = piece.clone();
                let event = Event::Read(call, piece.clone());
                play.taken(|out| out.event(&event));
                Ok(piece)
            }
            _ => Err(play.asks(Event::Read(call, Piece::Later))),
        }
    }

    pub(crate) fn write(&self, call: u32, piece: Option<Vec<u8>>) -> wasmtime::Result<Option<u32>> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            return loose.write(call, piece).map_err(|stop| play.stop(stop));
        }
        let is_masking = matches!(play.mode, Mode::Masking(..));
        match play.events.front() {
            Some(Event::Write(number, recorded, taken))
                if *number == call
                    && if is_masking {
                        recorded.as_ref().map(Vec::len) == piece.as_ref().map(Vec::len)
                    } else {
                        *recorded == piece
                    } =>
            {
                let taken = *taken;
                play.taken(|out| out.write(call, piece.as_deref(), taken));
                Ok(taken)
            }
            _ => Err(play.asks(Event::Write(call, piece, None))),
        }
    }

    pub(crate) fn cancel(&self, call: u32) -> wasmtime::Result<()> {
        let mut play = self.play()?;
        if let Mode::Loose(loose) = &mut play.mode {
            loose.cancel(call);
            return Ok(());
        }
        match play.events.front() {
            Some(Event::Cancel(number)) if *number == call => {
                play.taken(|out| out.cancel(call));
                Ok(())
            }
            _ => Err(play.asks(Event::Cancel(call))),
        }
    }

    pub(crate) fn log(&self, is_error: bool, text: &[u8]) -> wasmtime::Result<()> {
        if let Some(stack) = text.strip_prefix(PLACE)
            && self.note_place(stack)
        {
            return Ok(());
        }
        let mut play = self.play()?;
        let line = String::from_utf8_lossy(text);
        // An exception.
        if line.contains(FRAME) {
            play.note_place(&line);
        }
        if let Mode::Loose(loose) = &mut play.mode {
            loose.log(is_error, text);
        } else {
            let is_masking = matches!(play.mode, Mode::Masking(..));
            match play.events.front() {
                Some(Event::Log(error, recorded)) if *error == is_error && (is_masking || recorded == text) => {
                    play.taken(|out| out.log(is_error, text));
                }
                _ => return Err(play.asks(Event::Log(is_error, text.to_vec()))),
            }
        }
        play.last = Some(format!("log {}", line.trim_end().lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Notes the place of the next event, if the guest was asked for it.
    fn note_place(&self, stack: &[u8]) -> bool {
        let mut play = locked(&self.0);
        play.note_place(&String::from_utf8_lossy(stack));
        play.sources.is_some()
    }

    /// The state, unless the replay has ended: then the guest traps.
    fn play(&self) -> wasmtime::Result<std::sync::MutexGuard<'_, Play>> {
        let mut play = locked(&self.0);
        if play.ended.is_some() {
            return Err(format_err!("the replay has ended"));
        }
        // The host ended the guest in this function.
        if let Some(Event::Refused(text)) = play.events.front()
            && !matches!(play.mode, Mode::Loose(_))
        {
            let text = text.clone();
            if let Mode::Masking(out, _) = &mut play.mode {
                out.refused(&text);
            }
            play.pop();
            return Err(wasmtime::Error::msg(text));
        }
        Ok(play)
    }
}

impl Play {
    /// Turns a stack into a place in the sources: the first frame that is not Tenon's.
    fn note_place(&mut self, stack: &str) {
        let Some(map) = self.sources.as_ref().map(|info| &info.source_map) else { return };
        let frame = stack.lines().find(|line| line.starts_with(FRAME) && !map.is_of_tenon(line));
        if let Some(frame) = frame {
            self.place = Some(map.apply(frame).trim_start_matches(FRAME).to_string());
        }
    }

    fn pop(&mut self) {
        self.events.pop_front();
        self.at += 1;
    }

    /// Advances past the next event.
    fn taken(&mut self, write: impl FnOnce(&mut Encoder)) {
        if let Mode::Masking(out, _) = &mut self.mode {
            write(out);
        }
        self.pop();
    }

    /// Returns whether a call matches a recorded one.
    fn fits(&self, recorded: &Call, call: &Call) -> bool {
        match self.mode {
            Mode::Masking(..) => recorded.streamed == call.streamed && recorded.method == call.method,
            Mode::Strict | Mode::Loose(_) => recorded == call,
        }
    }

    /// The guest asks for something that is not next in the recording.
    fn asks(&mut self, asked: Event) -> wasmtime::Error {
        if self.is_cut && self.events.is_empty() {
            self.ended = Some(Ended::Cut);
            return format_err!("the recording ends here");
        }
        self.differ(Some(asked));
        format_err!("the guest does something else than in the recording")
    }

    /// Another build cannot go on.
    fn stop(&mut self, stop: Stop) -> wasmtime::Error {
        match stop {
            Stop::Refused(text) => wasmtime::Error::msg(text),
            Stop::Cut => {
                self.ended = Some(Ended::Cut);
                format_err!("the recording ends here")
            }
            Stop::Asks(asked) => self.asks_new(*asked),
        }
    }

    /// Another build asks for something that is nowhere in the recording.
    fn asks_new(&mut self, asked: Event) -> wasmtime::Error {
        let mut difference = difference(self.at, None, Some(&asked), self.last.clone());
        difference.kind = DifferenceKind::New;
        difference.place.clone_from(&self.place);
        self.ended = Some(Ended::Differs(Box::new(difference)));
        format_err!("the guest asks for something that was not recorded")
    }

    fn differ(&mut self, replayed: Option<Event>) {
        let mut difference = self.difference(replayed.as_ref());
        difference.place.clone_from(&self.place);
        self.ended = Some(Ended::Differs(Box::new(difference)));
    }

    /// The difference between the next recorded event and another one.
    fn difference(&self, replayed: Option<&Event>) -> Difference {
        let mut difference = difference(self.at, self.events.front(), replayed, self.last.clone());
        if matches!(self.mode, Mode::Masking(..)) {
            // Recorded answers and calls still have masked values, and the log of the server gets this.
            difference.recorded = bare(self.events.front());
            difference.replayed = bare(replayed);
            difference.asked = None;
        }
        difference
    }
}
