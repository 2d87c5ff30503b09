//! State that programs declare for their surfaces and windows: alpha, content type, toplevel tag, modal dialogs,
//! decoration mode.

use wayland_client::protocol::wl_fixes::WlFixes;
use wayland_client::protocol::wl_registry::WlRegistry;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::alpha_modifier::v1::client::{
    wp_alpha_modifier_surface_v1::WpAlphaModifierSurfaceV1, wp_alpha_modifier_v1::WpAlphaModifierV1,
};
use wayland_protocols::wp::content_type::v1::client::{
    wp_content_type_manager_v1::WpContentTypeManagerV1, wp_content_type_v1, wp_content_type_v1::WpContentTypeV1,
};
use wayland_protocols::xdg::dialog::v1::client::{xdg_dialog_v1::XdgDialogV1, xdg_wm_dialog_v1::XdgWmDialogV1};
use wayland_protocols::xdg::toplevel_tag::v1::client::xdg_toplevel_tag_manager_v1::XdgToplevelTagManagerV1;
use wayland_protocols_misc::server_decoration::client::{
    org_kde_kwin_server_decoration::{self, OrgKdeKwinServerDecoration},
    org_kde_kwin_server_decoration_manager::{self, OrgKdeKwinServerDecorationManager},
};

use crate::fixture::client::TestClientState;
use crate::fixture::content::Xrgb8888Pixel;
use crate::fixture::dispatch::silent;
use crate::fixture::{ClientEvent, TestWorld};

silent!(
    WpAlphaModifierV1,
    WpAlphaModifierSurfaceV1,
    WpContentTypeManagerV1,
    WpContentTypeV1,
    XdgWmDialogV1,
    XdgDialogV1,
    XdgToplevelTagManagerV1,
    WlFixes
);

impl Dispatch<OrgKdeKwinServerDecorationManager, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &OrgKdeKwinServerDecorationManager,
        event: org_kde_kwin_server_decoration_manager::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let org_kde_kwin_server_decoration_manager::Event::DefaultMode { mode } = event {
            data.events.push(ClientEvent::InWords(format!("default {mode:?}")));
        }
    }
}

impl Dispatch<OrgKdeKwinServerDecoration, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &OrgKdeKwinServerDecoration,
        event: org_kde_kwin_server_decoration::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let org_kde_kwin_server_decoration::Event::Mode { mode } = event else { return };
        data.events.push(ClientEvent::InWords(format!("{mode:?}")));
    }
}

/// Centre of a window.
fn middle(world: &TestWorld, title: &str) -> (i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x + rect.size.w / 2, rect.loc.y + rect.size.h / 2)
}

const WHITE: Xrgb8888Pixel = 0x00ff_ffff;

#[test]
fn alpha_multiplier_takes_effect_with_the_next_commit() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", (100, 100), WHITE);
    let (x, y) = middle(&world, "a");
    world.run_until_idle();
    let (full, bare) = (world.pixel(x, y) & 0xff, world.pixel(x - 90, y) & 0xff);
    assert_eq!(full, 255);

    let modifier = {
        let client = world.client(client);
        let modifier = client.bind::<WpAlphaModifierV1>().get_surface(&window.surface, &client.handle(), ());
        modifier.set_multiplier(u32::MAX / 2);
        modifier
    };
    world.settle();
    world.run_until_idle();
    assert_eq!(world.pixel(x, y) & 0xff, full, "it has not committed");

    // A commit without a buffer and without damage.
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    let faded = world.pixel(x, y) & 0xff;
    let expected = u32::midpoint(full, bare);
    assert!(faded.abs_diff(expected) <= 2, "{faded}, half of the way from {full} to {bare} is {expected}");

    // The modifier is destroyed: first before its surface, then after its surface.
    modifier.destroy();
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!(world.pixel(x, y) & 0xff, full);
    let handle = world.client(client).handle();
    let modifier = world.client(client).bind::<WpAlphaModifierV1>().get_surface(&window.surface, &handle, ());
    window.toplevel.destroy();
    window.xdg.destroy();
    window.surface.destroy();
    modifier.destroy();
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
}

#[test]
fn second_alpha_modifier_of_a_surface_is_an_error() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 100, 100);
    let handle = world.client(client).handle();
    let manager = world.client(client).bind::<WpAlphaModifierV1>();
    let _both = [manager.get_surface(&window.surface, &handle, ()), manager.get_surface(&window.surface, &handle, ())];
    world.settle();
    assert_eq!(world.client(client).error, Some(("wp_alpha_modifier_v1".to_owned(), 0)));
}

#[test]
fn content_type_and_toplevel_tag_are_recorded() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 100, 100);
    assert_eq!((world.window("a").tag(), world.window("a").content()), (None, None));
    let handle = world.client(client).handle();
    let tags = world.client(client).bind::<XdgToplevelTagManagerV1>();
    tags.set_toplevel_tag(&window.toplevel, "player".to_owned());
    tags.set_toplevel_description(&window.toplevel, "where the film is seen".to_owned());
    let content = world.client(client).bind::<WpContentTypeManagerV1>();
    let content = content.get_surface_content_type(&window.surface, &handle, ());
    content.set_content_type(wp_content_type_v1::Type::Video);
    window.surface.commit();
    world.settle();
    assert_eq!((world.window("a").tag(), world.window("a").content()), (Some("player"), Some("video")));
}

#[test]
fn activating_a_window_focuses_its_modal_dialog() {
    let mut world = TestWorld::new();
    let (client, main) = world.open("main", 300, 200);
    let dialog = world.open_in(client, "dialog", 100, 50);
    dialog.toplevel.set_parent(Some(&main.toplevel));
    dialog.surface.commit();
    world.settle();
    let rect = world.window("main").rect();
    let corner = (f64::from(rect.loc.x + 5), f64::from(rect.loc.y + 5));
    world.click(corner.0, corner.1);
    assert_eq!(world.focused().as_deref(), Some("main"), "it is not modal yet");

    let handle = world.client(client).handle();
    let modal = world.client(client).bind::<XdgWmDialogV1>().get_xdg_dialog(&dialog.toplevel, &handle, ());
    modal.set_modal();
    world.settle();
    assert_eq!(world.focused().as_deref(), Some("dialog"), "the window below its modal dialog gets no focus");
    world.click(corner.0, corner.1);
    assert_eq!(world.focused().as_deref(), Some("dialog"));

    modal.unset_modal();
    world.settle();
    world.click(corner.0, corner.1);
    assert_eq!(world.focused().as_deref(), Some("main"));

    // The objects may be destroyed in any order.
    modal.set_modal();
    dialog.toplevel.destroy();
    modal.unset_modal();
    dialog.xdg.destroy();
    dialog.surface.destroy();
    modal.set_modal();
    modal.destroy();
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
    assert_eq!(world.focused().as_deref(), Some("main"));
}

#[test]
fn window_with_a_dialog_object_leaves_no_memory_behind_when_its_client_goes() {
    #[derive(Clone)]
    struct SurfaceDataMarker(#[expect(dead_code, reason = "it is counted")] std::sync::Arc<()>);
    let mut world = TestWorld::new();
    let kept = std::sync::Arc::new(());
    let (client, dialog) = world.open("dialog", 100, 50);
    let handle = world.client(client).handle();
    let modal = world.client(client).bind::<XdgWmDialogV1>().get_xdg_dialog(&dialog.toplevel, &handle, ());
    modal.set_modal();
    world.settle();
    let surface = world.window("dialog").surface().clone();
    upbeat::guard::with_states(&surface, |states| {
        states.data_map.insert_if_missing_threadsafe(|| SurfaceDataMarker(kept.clone()));
    });
    drop(surface);
    assert_eq!(std::sync::Arc::strong_count(&kept), 2);
    world.kill(client);
    world.run_until("the surface data to be freed", |_| std::sync::Arc::strong_count(&kept) == 1);
}

#[test]
fn second_dialog_object_of_a_window_is_an_error() {
    let mut world = TestWorld::new();
    let (client, dialog) = world.open("dialog", 100, 50);
    let handle = world.client(client).handle();
    let manager = world.client(client).bind::<XdgWmDialogV1>();
    manager.get_xdg_dialog(&dialog.toplevel, &handle, ()).destroy();
    manager.get_xdg_dialog(&dialog.toplevel, &handle, ());
    world.settle();
    assert!(!world.client(client).is_disconnected(), "the first dialog object was destroyed");
    manager.get_xdg_dialog(&dialog.toplevel, &handle, ());
    world.settle();
    assert_eq!(world.client(client).error, Some(("xdg_wm_dialog_v1".to_owned(), 0)));
}

#[test]
fn kde_server_decoration_defaults_to_client_side() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 100, 100);
    let handle = world.client(client).handle();
    let manager = world.client(client).bind::<OrgKdeKwinServerDecorationManager>();
    let decoration = manager.create(&window.surface, &handle, ());
    world.settle();
    decoration.request_mode(org_kde_kwin_server_decoration::Mode::Server);
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    let heard: Vec<String> = world.client(client).take_events().into_iter().filter_map(told).collect();
    assert_eq!(heard, ["default Value(Client)", "Value(Client)", "Value(Server)"]);
    let rules = toml::from_str::<upbeat::config::Config>("[[window]]\ndecoration = 'client'").unwrap().windows;
    world.state.outputs.rules_mut().set_windows(rules);
    upbeat::shell::window_rules::apply_rules_to_all(&mut world.state);
    world.settle();
    let heard: Vec<String> = world.client(client).take_events().into_iter().filter_map(told).collect();
    assert_eq!(heard, ["Value(Client)"], "a rule wins over the requested mode");
}

#[test]
fn decoration_of_a_surface_without_a_toplevel_is_client_side() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("a", 100, 100);
    let surface = world.client(client).surface();
    let handle = world.client(client).handle();
    let manager = world.client(client).bind::<OrgKdeKwinServerDecorationManager>();
    let decoration = manager.create(&surface, &handle, ());
    decoration.request_mode(org_kde_kwin_server_decoration::Mode::Server);
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    let heard: Vec<String> = world.client(client).take_events().into_iter().filter_map(told).collect();
    assert_eq!(heard, ["default Value(Client)", "Value(Client)", "Value(Client)"]);
}

#[test]
fn registry_memory_is_freed() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("a", 100, 100);
    let fixes = world.client(client).bind::<WlFixes>();
    // In total more objects than a client may have at once.
    let most = upbeat::guard::Kind::Registries.most();
    for _ in 0..=most / 64 {
        for _ in 0..64 {
            let registry: WlRegistry = world.client(client).another_registry();
            fixes.destroy_registry(&registry);
        }
        world.settle();
    }
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
}
