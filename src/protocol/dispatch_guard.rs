//! Panic guard of all handlers: each request, bind and destroyed object goes through here. `State` has only these
//! generic handlers, which call the handlers of [`Handlers`] and catch their panics
//! ([`guard::panic_guard`](crate::guard::panic_guard)).

use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use super::offer_guard;
use crate::guard::Handlers;
use crate::guard::panic_guard::{self, catch};
use crate::state::State;
use upbeat_record::faults::{self, Fault};

impl<I, U> Dispatch<I, U> for State
where
    I: Resource + 'static,
    U: Send + Sync + 'static,
    Handlers: Dispatch<I, U, State>,
{
    fn request(
        state: &mut Self,
        client: &Client,
        object: &I,
        request: I::Request,
        data: &U,
        display: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let handled = catch(|| {
            faults::panic_if_due(Fault::Request);
            <Handlers as Dispatch<I, U, State>>::request(state, client, object, request, data, display, init);
        });
        if let Err(panic) = handled {
            panic_guard::end_client_after_panic(display, client, I::interface().name, &panic);
        }
        offer_guard::guard_new_offers(display);
    }

    fn destroyed(state: &mut Self, client: ClientId, object: &I, data: &U) {
        let State { protocols, display_handle, .. } = state;
        if !protocols.deferred_destroy.must_defer(display_handle, &client) {
            return ended(state, &client, object, data);
        }
        let object = object.clone();
        let last = move |state: &mut State| {
            if let Some(data) = object.data::<U>() {
                ended(state, &client, &object, data);
            }
        };
        protocols.deferred_destroy.defer(I::interface().name, Box::new(last));
    }
}

/// Calls the handler for a destroyed object.
fn ended<I, U>(state: &mut State, client: &ClientId, object: &I, data: &U)
where
    I: Resource + 'static,
    Handlers: Dispatch<I, U, State>,
{
    let handled = catch(|| {
        faults::panic_if_due(Fault::End);
        <Handlers as Dispatch<I, U, State>>::destroyed(state, client.clone(), object, data);
    });
    if let Err(panic) = handled {
        panic_guard::end_client_by_id_after_panic(&state.display_handle, client, I::interface().name, &panic);
    }
    offer_guard::guard_new_offers(&state.display_handle);
}

impl<I, G> GlobalDispatch<I, G> for State
where
    I: Resource + 'static,
    Handlers: GlobalDispatch<I, G, State>,
{
    fn bind(
        state: &mut Self,
        display: &DisplayHandle,
        client: &Client,
        object: New<I>,
        data: &G,
        init: &mut DataInit<'_, Self>,
    ) {
        let bound = catch(|| {
            faults::panic_if_due(Fault::Request);
            <Handlers as GlobalDispatch<I, G, State>>::bind(state, display, client, object, data, init);
        });
        if let Err(panic) = bound {
            panic_guard::end_client_after_panic(display, client, I::interface().name, &panic);
            // libwayland needs an error for an object without data. Any will do, since the client has one already and
            // gets no second.
            let _ = catch(|| {
                if let Ok(nobody) = I::from_id(display, ObjectId::null()) {
                    init.post_error(New::wrap(nobody), 0_u32, String::new());
                }
            });
        }
    }

    fn can_view(client: Client, data: &G) -> bool {
        let handled = catch(|| <Handlers as GlobalDispatch<I, G, State>>::can_view(client, data));
        handled.unwrap_or_else(|panic| {
            panic_guard::log_panic(I::interface().name, &panic);
            false
        })
    }
}

/// Forwards requests of an interface to Smithay: `delegate!(Interface: Data => Manager)`, or `delegate!(global …)` for
/// binds.
macro_rules! delegate {
    (global $interface:ty: $data:ty => $to:ty) => {
        impl smithay::reexports::wayland_server::GlobalDispatch<$interface, $data, $crate::state::State>
            for $crate::guard::Handlers
        {
            fn bind(
                state: &mut $crate::state::State,
                display: &smithay::reexports::wayland_server::DisplayHandle,
                client: &smithay::reexports::wayland_server::Client,
                object: smithay::reexports::wayland_server::New<$interface>,
                data: &$data,
                init: &mut smithay::reexports::wayland_server::DataInit<'_, $crate::state::State>,
            ) {
                use smithay::reexports::wayland_server::GlobalDispatch;
                <$to as GlobalDispatch<$interface, $data, $crate::state::State>>::bind(
                    state, display, client, object, data, init,
                );
            }

            fn can_view(client: smithay::reexports::wayland_server::Client, data: &$data) -> bool {
                use smithay::reexports::wayland_server::GlobalDispatch;
                <$to as GlobalDispatch<$interface, $data, $crate::state::State>>::can_view(client, data)
            }
        }
    };
    ($interface:ty: $data:ty => $to:ty) => {
        impl smithay::reexports::wayland_server::Dispatch<$interface, $data, $crate::state::State>
            for $crate::guard::Handlers
        {
            fn request(
                state: &mut $crate::state::State,
                client: &smithay::reexports::wayland_server::Client,
                object: &$interface,
                request: <$interface as smithay::reexports::wayland_server::Resource>::Request,
                data: &$data,
                display: &smithay::reexports::wayland_server::DisplayHandle,
                init: &mut smithay::reexports::wayland_server::DataInit<'_, $crate::state::State>,
            ) {
                use smithay::reexports::wayland_server::Dispatch;
                <$to as Dispatch<$interface, $data, $crate::state::State>>::request(
                    state, client, object, request, data, display, init,
                );
            }

            fn destroyed(
                state: &mut $crate::state::State,
                client: smithay::reexports::wayland_server::backend::ClientId,
                object: &$interface,
                data: &$data,
            ) {
                use smithay::reexports::wayland_server::Dispatch;
                <$to as Dispatch<$interface, $data, $crate::state::State>>::destroyed(state, client, object, data);
            }
        }
    };
}

pub(crate) use delegate;
