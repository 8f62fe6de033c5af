//! The GPU path of a build without interfaces: it has no adapters.

use std::sync::Arc;

use crate::error::Result;
use crate::ir::Backend;
use crate::limits::Limits;
use crate::options::{AdapterKind, Options};

/// An adapter, which cannot exist here.
#[derive(Clone, Debug)]
pub(crate) enum Found {}

impl Found {
    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn kind(&self) -> AdapterKind {
        match *self {}
    }

    pub(crate) fn interface(&self) -> &'static str {
        match *self {}
    }

    pub(crate) fn driver(&self) -> String {
        match *self {}
    }

    pub(crate) fn limits(&self) -> Limits {
        match *self {}
    }

    pub(crate) fn features(&self) -> Vec<&'static str> {
        match *self {}
    }
}

pub(crate) async fn find() -> &'static [Found] {
    &[]
}

pub(crate) async fn find_but_gl() -> &'static [Found] {
    &[]
}

pub(crate) async fn missing(_: &[Found]) -> Vec<(&'static str, String)> {
    Vec::new()
}

pub(crate) async fn open(found: &Found, _: &Options) -> Result<Arc<dyn Backend>> {
    match *found {}
}
