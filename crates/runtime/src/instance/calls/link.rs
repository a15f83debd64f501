//! The functions of both interfaces. A recording notes their values, and a replay's player gives them.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, WasmList};

use super::seam;
use super::wit::{Bodies, Output, Piece, Request};
use crate::instance::guest_log::Stream;
use crate::instance::host::Host;

/// Links both interfaces. They leave nothing on the host that outlives a request, so they do not mark it as touched.
pub(crate) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut calls = linker.instance("sdk:core/calls@0.1.0")?;
    calls.func_wrap("start", |mut store: StoreContextMut<'_, Host>, (request, bodies): (Request, Bodies)| {
        Ok((start(store.data_mut(), request, bodies)?,))
    })?;
    calls.func_wrap_async("wait", |mut store: StoreContextMut<'_, Host>, (timeout,): (u32,)| {
        Box::new(async move {
            if let Some(player) = store.data().seam.player() {
                return Ok((player.wait(timeout)?,));
            }
            let (has_ended, has_waited) = store.data_mut().calls.wait(timeout).await;
            store.data().seam.note(|tape| tape.wait(timeout, has_ended));
            if has_waited {
                // The guest did not compute meanwhile.
                store.set_epoch_deadline(store.data().first_yield());
            }
            Ok((has_ended,))
        })
    })?;
    calls.func_wrap("take", |mut store: StoreContextMut<'_, Host>, (): ()| {
        if let Some(player) = store.data().seam.player() {
            return Ok((player.take()?.map(|(call, outcome)| (call, seam::outcome(outcome))),));
        }
        let taken = store.data_mut().calls.take();
        store.data().seam.note(|tape| seam::note_taken(tape, taken.as_ref()));
        if let (Some((_, Ok(response))), Some(meter)) = (&taken, &store.data().bounds.meter) {
            meter.note_in(response.body.len());
        }
        Ok((taken,))
    })?;
    calls.func_wrap("ready", |mut store: StoreContextMut<'_, Host>, (): ()| {
        if let Some(player) = store.data().seam.player() {
            return Ok((player.ready()?,));
        }
        let ready = store.data_mut().calls.ready();
        store.data().seam.note(|tape| tape.ready(ready));
        Ok((ready,))
    })?;
    calls.func_wrap("read", |mut store: StoreContextMut<'_, Host>, (call,): (u32,)| {
        if let Some(player) = store.data().seam.player() {
            return Ok((seam::piece(player.read(call)?),));
        }
        let piece = store.data_mut().calls.read(call);
        store.data().seam.note(|tape| seam::note_read(tape, call, &piece));
        if let (Piece::Bytes(bytes), Some(meter)) = (&piece, &store.data().bounds.meter) {
            meter.note_in(bytes.len());
        }
        Ok((piece,))
    })?;
    calls.func_wrap("write", |mut store: StoreContextMut<'_, Host>, (call, piece): (u32, Option<WasmList<u8>>)| {
        if let Some(player) = store.data().seam.player() {
            let piece = piece.map(|piece| piece.as_le_slice(&store).to_vec());
            return Ok((player.write(call, piece)?,));
        }
        let Some(piece) = piece else {
            let ended = store.data_mut().calls.end(call);
            store.data().seam.note(|tape| tape.write(call, None, ended));
            return Ok((ended,));
        };
        let room = store.data_mut().calls.room(call, piece.len());
        let bytes = piece.as_le_slice(&store);
        store.data().seam.note(|tape| tape.write(call, Some(bytes), room.map(|room| room as u32)));
        if let Some(room) = room {
            store.data().calls.write(call, &bytes[..room]);
            if let Some(meter) = &store.data().bounds.meter {
                meter.note_out(room);
            }
        }
        Ok((room.map(|room| room as u32),))
    })?;
    calls.func_wrap("cancel", |mut store: StoreContextMut<'_, Host>, (call,): (u32,)| {
        if let Some(player) = store.data().seam.player() {
            return player.cancel(call);
        }
        store.data_mut().calls.cancel(call);
        store.data().seam.note(|tape| tape.cancel(call));
        Ok(())
    })?;
    link_log(linker)
}

fn link_log(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.instance("sdk:core/log@0.1.0")?.func_wrap(
        "write",
        |store: StoreContextMut<'_, Host>, (output, text): (Output, WasmList<u8>)| {
            let stream = match output {
                Output::Out => Stream::Output,
                Output::Err => Stream::Error,
            };
            let (host, text) = (store.data(), text.as_le_slice(&store));
            let is_error = matches!(stream, Stream::Error);
            if let Some(player) = host.seam.player() {
                return player.log(is_error, text);
            }
            host.seam.note(|tape| tape.log(is_error, text));
            host.log.write_to(stream, text);
            host.check()
        },
    )
}

/// Starts a call.
fn start(host: &mut Host, request: Request, bodies: Bodies) -> wasmtime::Result<u32> {
    if let Some(player) = host.seam.player() {
        return player.start(seam::call(&request, bodies));
    }
    host.check()?;
    // The request is the call's from here on, so it is noted before.
    let next = host.calls.next();
    let noted = host.seam.recorder().map(|recorder| {
        let mut place = Default::default();
        recorder.note(|tape| {
            place = tape.place();
            seam::note_start(tape, next, &request, bodies);
        });
        place
    });
    let Host { calls, egress, .. } = host;
    let call = calls.start(request, egress, bodies);
    if let (Err(_), Some(place)) = (&call, noted) {
        host.seam.note(|tape| tape.truncate(place));
    }
    let call = host.seam.refused(call)?;
    host.check()?;
    Ok(call)
}
