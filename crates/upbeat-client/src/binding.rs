//! How globals are bound without an event queue: what an object is given takes its events as they are read.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::Proxy;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_registry;

/// For objects whose events do not matter.
#[derive(Debug)]
pub(super) struct Deaf;

impl ObjectData for Deaf {
    fn event(self: Arc<Self>, _: &Backend, _: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

/// Binds a global, if there is one, at `version` or what is offered below it. Its events go to `data`.
pub(super) fn bind<I: Proxy + 'static>(globals: &GlobalList, version: u32, data: Arc<dyn ObjectData>) -> Option<I> {
    let wanted = I::interface().name;
    let (name, offered) = globals
        .contents()
        .with_list(|all| all.iter().find(|one| one.interface == wanted).map(|one| (one.name, one.version)))?;
    let request = wl_registry::Request::Bind { name, id: (I::interface(), version.min(offered)) };
    globals.registry().send_constructor(request, data).ok()
}
