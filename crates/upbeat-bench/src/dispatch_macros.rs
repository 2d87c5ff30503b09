//! Macros that implement `wayland_client::Dispatch` for the bench clients, in one line for each interface.

/// Implements `Dispatch` of an interface and its user data:
/// `impl_dispatch!(Game: WlBuffer, usize, |game, buffer, event, index, queue| …)`.
macro_rules! impl_dispatch {
    (
        $client:ty: $interface:ty, $data:ty,
        |$state:pat_param, $object:pat_param, $event:pat_param, $known:pat_param, $queue:pat_param| $body:expr
    ) => {
        impl wayland_client::Dispatch<$interface, $data> for $client {
            fn event(
                $state: &mut Self,
                $object: &$interface,
                $event: <$interface as wayland_client::Proxy>::Event,
                $known: &$data,
                _: &wayland_client::Connection,
                $queue: &wayland_client::QueueHandle<Self>,
            ) {
                $body
            }
        }
    };
}

/// Ignores globals that are added or removed later.
macro_rules! ignore_globals {
    ($client:ty) => {
        $crate::dispatch_macros::impl_dispatch!(
            $client: wayland_client::protocol::wl_registry::WlRegistry, wayland_client::globals::GlobalListContents,
            |_, _, _, _, _| {}
        );
    };
}

/// For clients with a window: ignores later globals and answers pings.
macro_rules! answer_pings {
    ($client:ty) => {
        $crate::dispatch_macros::ignore_globals!($client);
        $crate::dispatch_macros::impl_dispatch!(
            $client: wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase, (),
            |_, base, event, _, _| {
                if let wayland_protocols::xdg::shell::client::xdg_wm_base::Event::Ping { serial } = event {
                    base.pong(serial);
                }
            }
        );
    };
}

/// For clients with a single window: sets its fields `configured` and `closed`. The configured size is ignored, because
/// the cost of a frame must not depend on the layout.
macro_rules! track_window {
    ($client:ty) => {
        $crate::dispatch_macros::impl_dispatch!(
            $client: wayland_protocols::xdg::shell::client::xdg_surface::XdgSurface, (),
            |client, surface, event, _, _| {
                if let wayland_protocols::xdg::shell::client::xdg_surface::Event::Configure { serial } = event {
                    surface.ack_configure(serial);
                    client.configured = true;
                }
            }
        );
        $crate::dispatch_macros::impl_dispatch!(
            $client: wayland_protocols::xdg::shell::client::xdg_toplevel::XdgToplevel, (),
            |client, _, event, _, _| {
                if let wayland_protocols::xdg::shell::client::xdg_toplevel::Event::Close = event {
                    client.closed = true;
                }
            }
        );
    };
}

pub(super) use {answer_pings, ignore_globals, impl_dispatch, track_window};
