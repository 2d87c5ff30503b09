//! The state of the connection to the parent, which its events change.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use wayland_client::globals::GlobalList;
use wayland_client::protocol::{wl_compositor::WlCompositor, wl_output::WlOutput, wl_seat::WlSeat, wl_shm::WlShm};
use wayland_client::{Dispatch, Proxy, QueueHandle};
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1;
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::viewporter::client::wp_viewporter::WpViewporter;
use wayland_protocols::xdg::decoration::zv1::client::{
    zxdg_decoration_manager_v1::ZxdgDecorationManagerV1, zxdg_toplevel_decoration_v1::Mode as Decoration,
};
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;

use super::NestedError;
use super::clock::ParentClock;
use super::event::{ParentEvent, WindowId};
use super::input::ParentDevices;
use super::parent_formats::ParentFormats;
use super::window::{ParentToplevel, ToplevelObjects};

/// The assumed rate if the parent states none, in millihertz.
const USUAL_REFRESH: u32 = 60_000;

/// The first version of `zwp_linux_dmabuf_v1` with modifiers.
const FIRST_DMABUF: u32 = 3;
/// The first version of it with feedback, which names the device.
const FIRST_FEEDBACK: u32 = 4;

/// The bound globals of the parent.
pub(super) struct ParentGlobals {
    compositor: WlCompositor,
    shm: WlShm,
    wm_base: XdgWmBase,
    viewporter: Option<WpViewporter>,
    fractional_scale: Option<WpFractionalScaleManagerV1>,
    decoration: Option<ZxdgDecorationManagerV1>,
    presentation: Option<WpPresentation>,
    dmabuf: Option<ZwpLinuxDmabufV1>,
    sync: Option<WpLinuxDrmSyncobjManagerV1>,
    _feedback: Option<ZwpLinuxDmabufFeedbackV1>,
    _seat: Option<WlSeat>,
}

/// One output of the parent.
#[derive(Debug)]
pub(super) struct ParentScreen {
    pub output: WlOutput,
    /// Refresh rate in millihertz; 0 if unknown.
    pub refresh: u32,
    /// Physical pixels per logical pixel, rounded up.
    pub scale: u32,
}

/// All state that the parent's events change.
pub(super) struct ParentState {
    pub globals: ParentGlobals,
    /// The clock of its presentation times; `None` if it has none, or one that cannot be read here.
    pub clock: Option<ParentClock>,
    /// Its device, and the buffers that it reads there.
    pub formats: ParentFormats,
    /// Whether it took the buffer that was offered to it as a test.
    pub tested: Option<bool>,
    pub screens: Vec<ParentScreen>,
    pub windows: Vec<Rc<RefCell<ParentToplevel>>>,
    pub devices: ParentDevices,
    pub events: VecDeque<ParentEvent>,
}

impl ParentState {
    /// Binds the required globals, and the optional globals that exist.
    pub(super) fn bind(list: &GlobalList, handle: &QueueHandle<ParentState>) -> Result<Self, NestedError> {
        let dmabuf: Option<ZwpLinuxDmabufV1> = list.bind(handle, FIRST_DMABUF..=5, ()).ok();
        let with_feedback = dmabuf.as_ref().filter(|dmabuf| dmabuf.version() >= FIRST_FEEDBACK);
        let globals = ParentGlobals {
            compositor: require(list, handle, 4..=6)?,
            shm: require(list, handle, 1..=1)?,
            wm_base: require(list, handle, 1..=6)?,
            viewporter: list.bind(handle, 1..=1, ()).ok(),
            fractional_scale: list.bind(handle, 1..=1, ()).ok(),
            decoration: list.bind(handle, 1..=1, ()).ok(),
            presentation: list.bind(handle, 1..=1, ()).ok(),
            _feedback: with_feedback.map(|dmabuf| dmabuf.get_default_feedback(handle, ())),
            dmabuf,
            sync: list.bind(handle, 1..=1, ()).ok(),
            // Below version 5 there is no `wl_pointer.frame` to group pointer events.
            _seat: list.bind(handle, 5..=9, ()).ok(),
        };
        let outputs = list.contents().clone_list().into_iter();
        let outputs = outputs.filter(|global| global.interface == WlOutput::interface().name);
        let screens = outputs
            .map(|global| ParentScreen {
                output: list.registry().bind(global.name, global.version.min(4), handle, ()),
                refresh: 0,
                scale: 1,
            })
            .collect();
        Ok(ParentState {
            globals,
            clock: None,
            formats: ParentFormats::default(),
            tested: None,
            screens,
            windows: Vec::new(),
            devices: ParentDevices::default(),
            events: VecDeque::new(),
        })
    }

    /// Creates the objects of a window with this title.
    pub(super) fn make_window(&self, id: WindowId, title: &str, handle: &QueueHandle<ParentState>) -> ToplevelObjects {
        let globals = &self.globals;
        let surface = globals.compositor.create_surface(handle, id);
        let xdg_surface = globals.wm_base.get_xdg_surface(&surface, handle, id);
        let toplevel = xdg_surface.get_toplevel(handle, id);
        toplevel.set_app_id("upbeat".to_owned());
        toplevel.set_title(title.to_owned());
        let decoration = globals.decoration.as_ref().map(|manager| {
            let decoration = manager.get_toplevel_decoration(&toplevel, handle, ());
            decoration.set_mode(Decoration::ServerSide);
            decoration
        });
        let viewport = globals.viewporter.as_ref().map(|manager| manager.get_viewport(&surface, handle, ()));
        // Without a viewport we cannot draw at a fractional scale, so do not ask for it.
        let fractional = globals.fractional_scale.as_ref().filter(|_| viewport.is_some());
        let fractional = fractional.map(|manager| manager.get_fractional_scale(&surface, handle, id));
        ToplevelObjects {
            surface,
            xdg_surface,
            toplevel,
            decoration,
            viewport,
            fractional,
            presentation: globals.presentation.clone().filter(|_| self.clock.is_some()),
            shm: globals.shm.clone(),
        }
    }

    /// Its objects for buffers in the memory of its device, and for explicit synchronisation.
    pub(super) fn device_objects(&self) -> (Option<ZwpLinuxDmabufV1>, Option<WpLinuxDrmSyncobjManagerV1>) {
        (self.globals.dmabuf.clone(), self.globals.sync.clone())
    }

    /// The window with this id.
    pub(super) fn window(&self, id: WindowId) -> Option<&Rc<RefCell<ParentToplevel>>> {
        self.windows.iter().find(|window| window.borrow().id() == id)
    }

    /// Calls `say` with the window of this id, if it exists.
    pub(super) fn with_window(&self, id: WindowId, say: impl FnOnce(&mut ParentToplevel)) {
        if let Some(window) = self.window(id) {
            say(&mut window.borrow_mut());
        }
    }

    /// The refresh rate of the output on which a new window is likely to open.
    pub(super) fn refresh(&self) -> u32 {
        self.screens.iter().map(|screen| screen.refresh).find(|refresh| *refresh > 0).unwrap_or(USUAL_REFRESH)
    }
}

fn require<I>(
    list: &GlobalList,
    handle: &QueueHandle<ParentState>,
    versions: std::ops::RangeInclusive<u32>,
) -> Result<I, NestedError>
where
    I: Proxy + 'static,
    ParentState: Dispatch<I, ()>,
{
    let least = *versions.start();
    list.bind(handle, versions, ()).map_err(|_| NestedError::Missing { interface: I::interface().name, least })
}
