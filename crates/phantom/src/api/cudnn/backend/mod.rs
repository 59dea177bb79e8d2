//! The graph API: descriptors with attributes to set, finalise and read.
//!
//! cudnn-frontend, which is compiled into PyTorch, builds a graph of operations, asks a heuristic for engine
//! configurations, makes a plan of one and executes the plan. Set attributes read as they were set; attributes that
//! cuDNN would have determined are answered in `answers.rs`; reading any other attribute fails by name.

mod answers;
mod attributes;
mod descriptor;
mod graph;

use std::sync::Arc;

use super::workspace::used;
use super::{Answer, CudnnStatus, destroy, known, library};
use crate::boundary::{In, Out, Status, export};
use crate::handle::{Handle, Table};
use crate::journal;
use attributes as name;
use descriptor::{Attribute, Descriptor};

/// A child descriptor keeps the state that it had when it was set, as in cuDNN: the `Arc` is shared, and copied when the caller
/// changes the original.
static DESCRIPTORS: Table<Arc<Descriptor>> = Table::new();

fn get(handle: Handle) -> Answer<Arc<Descriptor>> {
    known(&DESCRIPTORS, handle, |descriptor| Arc::clone(descriptor))
}

/// Reads an attribute's elements as the caller passes them.
fn read(kind: i32, elements: usize, array: In<u8>) -> Answer<Attribute> {
    if kind == name::BACKEND_DESCRIPTOR {
        let bytes = elements.checked_mul(size_of::<Handle>()).ok_or(CudnnStatus::INVALID)?;
        let handles: Vec<Handle> = array.array(bytes).typed().to_vec()?;
        return Ok(Attribute::Descriptors(handles.into_iter().map(get).collect::<Answer<_>>()?));
    }
    let size = attributes::element_bytes(kind).ok_or(CudnnStatus::INVALID)?;
    let bytes = array.array(elements.checked_mul(size).ok_or(CudnnStatus::INVALID)?).to_vec()?;
    Ok(Attribute::Plain { kind, elements, bytes })
}

/// Writes an attribute's elements, no more than `room` of them.
fn write(attribute: &Attribute, room: usize, array: Out<u8>) -> Answer {
    match attribute {
        Attribute::Descriptors(children) => {
            let wanted = &children[..room.min(children.len())];
            let targets = array.array(size_of_val(wanted)).typed::<Handle>().to_vec()?;
            wanted.iter().zip(targets).try_for_each(|(child, target)| fill(target, child))
        }
        Attribute::Plain { elements, bytes, .. } => {
            let size = bytes.len().checked_div(*elements).unwrap_or(0);
            let room = room.saturating_mul(size);
            array.array(room).write(bytes.iter().copied().take(room))
        }
    }
}

/// Makes the descriptor behind `target` a copy of `child`, which must be of the same kind.
fn fill(target: Handle, child: &Arc<Descriptor>) -> Answer {
    let is_filled = known(&DESCRIPTORS, target, |slot| {
        let fits = slot.kind == child.kind;
        if fits {
            *slot = Arc::clone(child);
        }
        fits
    })?;
    if is_filled { Ok(()) } else { Err(CudnnStatus::INVALID) }
}

/// The attribute as it was set, or cuDNN's own value.
fn look_up(descriptor: &Arc<Descriptor>, attribute: i32) -> Answer<Attribute> {
    if let Some(set) = descriptor.get(attribute) {
        return Ok(set.clone());
    }
    answers::answer(descriptor, attribute).ok_or_else(|| {
        journal::record_missing(attributes::reading(attribute));
        CudnnStatus::UNSUPPORTED
    })
}

export! { CudnnStatus;
    fn cudnnBackendCreateDescriptor(kind: i32, out: Out<Handle>) {
        super::create(&DESCRIPTORS, Arc::new(Descriptor::new(kind)), out)
    }

    fn cudnnBackendDestroyDescriptor(handle: Handle) {
        destroy(&DESCRIPTORS, handle)
    }

    fn cudnnBackendSetAttribute(handle: Handle, attribute: i32, kind: i32, elements: i64, array: In<u8>) {
        let elements = usize::try_from(elements).map_err(|_| CudnnStatus::INVALID)?;
        let value = read(kind, elements, array)?;
        known(&DESCRIPTORS, handle, |slot| Arc::make_mut(slot).set(attribute, value))?
    }

    fn cudnnBackendFinalize(handle: Handle) {
        known(&DESCRIPTORS, handle, |slot| Arc::make_mut(slot).finalize())?
    }

    fn cudnnBackendGetAttribute(
        handle: Handle, attribute: i32, kind: i32, requested: i64, elements: Out<i64>, array: Out<u8>,
    ) {
        let descriptor = get(handle)?;
        if !descriptor.is_final() {
            return Err(CudnnStatus::INVALID);
        }
        let value = look_up(&descriptor, attribute)?;
        if value.kind() != kind {
            return Err(CudnnStatus::INVALID);
        }
        let room = usize::try_from(requested).map_err(|_| CudnnStatus::INVALID)?;
        // Without room, the answer is the number of elements. With room, cudnn-frontend reads as many results as are reported
        // (`EngineHeuristics_v8::getEngineConfig`), and has made descriptors for the requested number only.
        let reported = if array.is_null() || room == 0 { value.elements() } else { value.elements().min(room) };
        elements.set_if_wanted(reported as i64);
        if array.is_null() { Ok(()) } else { write(&value, room, array) }
    }

    fn cudnnBackendExecute(context: Handle, plan: Handle, pack: Handle) {
        library::check(context)?;
        library::note_work(context)?;
        let (plan, pack) = (get(plan)?, get(pack)?);
        let workspace = graph::plan_workspace(&plan).ok_or(CudnnStatus::INVALID)?;
        let address = pack.number(name::VARIANT_PACK_WORKSPACE).unwrap_or(0);
        used(workspace.model, address as usize, workspace.bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
