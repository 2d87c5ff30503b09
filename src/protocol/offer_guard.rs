//! Panic guard for data offers: Smithay installs its own object data for them instead of our handlers, so it is wrapped
//! here.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use smithay::reexports::wayland_server::backend::protocol::Message;
use smithay::reexports::wayland_server::backend::{ClientId, Handle, ObjectData, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_data_offer::WlDataOffer;
use smithay::reexports::wayland_server::{DisplayHandle, Resource, ResourceData};

use super::selection::drag::DragOffer;
use crate::guard;
use crate::guard::panic_guard::{self, catch};
use crate::state::State;
use upbeat_record::faults::{self, Fault};

/// Calls Smithay's handlers and catches their panics.
struct GuardedOffer(Arc<dyn ObjectData<State>>);

impl ObjectData<State> for GuardedOffer {
    fn request(
        self: Arc<Self>,
        handle: &Handle,
        state: &mut State,
        client: ClientId,
        message: Message<ObjectId, OwnedFd>,
    ) -> Option<Arc<dyn ObjectData<State>>> {
        let interface = message.sender_id.interface().name;
        if asks_for_data(interface, message.opcode)
            && !state.protocols.selection.do_owners_read(interface, &state.display_handle)
        {
            // The owner is behind: more events would fill its socket and disconnect it. The descriptor is closed with
            // the message, so that the client reads an empty file.
            return None;
        }
        let handled = catch(|| {
            faults::panic_if_due(Fault::Request);
            self.0.clone().request(handle, state, client.clone(), message)
        });
        handled.unwrap_or_else(|panic| {
            panic_guard::end_client_by_id_after_panic(&state.display_handle, &client, interface, &panic);
            None
        })
    }

    fn destroyed(self: Arc<Self>, handle: &Handle, state: &mut State, client: ClientId, object: ObjectId) {
        let interface = object.interface().name;
        let handled = catch(|| {
            faults::panic_if_due(Fault::End);
            self.0.clone().destroyed(handle, state, client.clone(), object);
        });
        if let Err(panic) = handled {
            panic_guard::end_client_by_id_after_panic(&state.display_handle, &client, interface, &panic);
        }
    }
}

/// Whether a request asks the owner of an offer for its data.
fn asks_for_data(interface: &str, opcode: u16) -> bool {
    // The opcode of `receive`.
    opcode == if interface == WlDataOffer::interface().name { 1 } else { 0 }
}

/// Wraps the offers that were created since the last call. Must be called before a client can send a request on an
/// offer: after each request, and before clients are read.
pub fn guard_new_offers(display: &DisplayHandle) {
    let made = guard::take_offers();
    if made.is_empty() {
        return;
    }
    let done = catch(|| {
        let handle = display.backend_handle();
        for (client, interface, number) in made {
            let Ok(object) = handle.object_for_protocol_id(client, interface, number) else { continue };
            let Ok(data) = handle.get_object_data::<State>(object.clone()) else { continue };
            // The same offer may be named twice, because protocol ids are reused. Offers of drags have our own handler
            // already.
            let is_caught = data.is::<GuardedOffer>() || data.is::<ResourceData<WlDataOffer, DragOffer>>();
            if !is_caught {
                // Cannot fail, since the object was found just above.
                let _ = handle.set_object_data::<State>(object, Arc::new(GuardedOffer(data)));
            }
        }
    });
    if let Err(panic) = done {
        panic_guard::log_panic("wl_data_offer", &panic);
    }
}
