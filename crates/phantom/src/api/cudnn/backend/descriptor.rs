//! A descriptor: its kind and its set attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::{Answer, CudnnStatus};
use super::attributes as name;
use crate::boundary::Status;

/// The value of an attribute: an array.
#[derive(Clone, Debug)]
pub(crate) enum Attribute {
    /// Elements of a `cudnnBackendAttributeType_t`, as the caller gave them.
    Plain { kind: i32, elements: usize, bytes: Vec<u8> },
    /// Other descriptors.
    Descriptors(Vec<Arc<Descriptor>>),
}

impl Attribute {
    /// An array of `CUDNN_TYPE_INT64`.
    pub(crate) fn int64(values: &[i64]) -> Attribute {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Attribute::Plain { kind: name::INT64, elements: values.len(), bytes }
    }

    /// One `CUDNN_TYPE_INT32`.
    pub(crate) fn int32(value: i32) -> Attribute {
        Attribute::Plain { kind: name::INT32, elements: 1, bytes: value.to_ne_bytes().to_vec() }
    }

    /// An array of an enumeration of the header.
    pub(crate) fn enumeration(kind: i32, values: &[i32]) -> Attribute {
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Attribute::Plain { kind, elements: values.len(), bytes }
    }

    /// An array of any plain type, without elements.
    pub(crate) fn none(kind: i32) -> Attribute {
        Attribute::Plain { kind, elements: 0, bytes: Vec::new() }
    }

    /// Its `cudnnBackendAttributeType_t`.
    pub(crate) fn kind(&self) -> i32 {
        match self {
            Attribute::Plain { kind, .. } => *kind,
            Attribute::Descriptors(_) => name::BACKEND_DESCRIPTOR,
        }
    }

    /// The number of elements.
    pub(crate) fn elements(&self) -> usize {
        match self {
            Attribute::Plain { elements, .. } => *elements,
            Attribute::Descriptors(children) => children.len(),
        }
    }

    /// The elements as numbers; empty if an element is not 1, 4 or 8 bytes wide.
    fn numbers(&self) -> Vec<i64> {
        let Attribute::Plain { elements, bytes, .. } = self else {
            return Vec::new();
        };
        let size = bytes.len().checked_div(*elements).unwrap_or(1).max(1);
        bytes.chunks_exact(size).filter_map(number).collect()
    }
}

fn number(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        1 => Some(i64::from(bytes[0])),
        4 => Some(i64::from(i32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(i64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// A `cudnnBackendDescriptor_t`.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    /// `cudnnBackendDescriptorType_t`.
    pub(crate) kind: i32,
    is_final: bool,
    attributes: BTreeMap<i32, Attribute>,
}

impl Descriptor {
    /// A descriptor without attributes.
    pub(crate) fn new(kind: i32) -> Descriptor {
        Descriptor { kind, is_final: false, attributes: BTreeMap::new() }
    }

    /// A final descriptor of our own making.
    pub(crate) fn made(kind: i32, attributes: impl IntoIterator<Item = (i32, Attribute)>) -> Descriptor {
        Descriptor { kind, is_final: true, attributes: attributes.into_iter().collect() }
    }

    /// True if attributes may be read and no longer set.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// Sets an attribute; a final descriptor refuses.
    pub(crate) fn set(&mut self, attribute: i32, value: Attribute) -> Answer {
        if self.is_final {
            return Err(CudnnStatus::INVALID);
        }
        self.attributes.insert(attribute, value);
        Ok(())
    }

    /// Finalises the descriptor; refuses if a required attribute is missing.
    pub(crate) fn finalize(&mut self) -> Answer {
        let is_complete = match self.kind {
            name::ENGINE => self.child(name::ENGINE_OPERATION_GRAPH).is_some(),
            name::ENGINECFG => self.child(name::ENGINECFG_ENGINE).is_some(),
            name::ENGINEHEUR => self.child(name::ENGINEHEUR_OPERATION_GRAPH).is_some(),
            name::EXECUTION_PLAN => self.child(name::EXECUTION_PLAN_ENGINE_CONFIG).is_some(),
            name::OPERATIONGRAPH => self.child(name::OPERATIONGRAPH_OPS).is_some(),
            _ => true,
        };
        self.is_final |= is_complete;
        if is_complete { Ok(()) } else { Err(CudnnStatus::INVALID) }
    }

    /// A set attribute.
    pub(crate) fn get(&self, attribute: i32) -> Option<&Attribute> {
        self.attributes.get(&attribute)
    }

    /// The descriptors of an attribute; empty where it was not set.
    pub(crate) fn children(&self, attribute: i32) -> &[Arc<Descriptor>] {
        match self.get(attribute) {
            Some(Attribute::Descriptors(children)) => children,
            _ => &[],
        }
    }

    /// The only, or first, descriptor of an attribute.
    pub(crate) fn child(&self, attribute: i32) -> Option<&Arc<Descriptor>> {
        self.children(attribute).first()
    }

    /// The numbers of an attribute; empty where it was not set.
    pub(crate) fn numbers(&self, attribute: i32) -> Vec<i64> {
        self.get(attribute).map(Attribute::numbers).unwrap_or_default()
    }

    /// The only, or first, number of an attribute.
    pub(crate) fn number(&self, attribute: i32) -> Option<i64> {
        self.numbers(attribute).first().copied()
    }
}
