//! Binds globals without an event queue: each object has an event handler that is called as events are read.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::Proxy;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_registry;

/// Event handler that ignores all events.
#[derive(Debug)]
pub(super) struct IgnoreEvents;

impl ObjectData for IgnoreEvents {
    fn event(self: Arc<Self>, _: &Backend, _: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

/// Binds a global at `version`, or at the highest version offered below it. Events go to `data`. `None` if the
/// compositor does not offer the global.
pub(super) fn bind<I: Proxy + 'static>(globals: &GlobalList, version: u32, data: Arc<dyn ObjectData>) -> Option<I> {
    let wanted = I::interface().name;
    let (name, offered) = globals
        .contents()
        .with_list(|all| all.iter().find(|one| one.interface == wanted).map(|one| (one.name, one.version)))?;
    let request = wl_registry::Request::Bind { name, id: (I::interface(), version.min(offered)) };
    globals.registry().send_constructor(request, data).ok()
}
