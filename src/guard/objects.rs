//! Counts each client's objects where libwayland creates and destroys them.
//!
//! Smithay creates most objects, in dozens of request handlers; libwayland's listeners report each of them, and its
//! end.

#![expect(unsafe_code, reason = "libwayland's listeners are C structs in lists")]

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_void};
use std::sync::Arc;

use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_offer_v1::ExtDataControlOfferV1;
use smithay::reexports::wayland_protocols::wp::primary_selection::zv1::server::zwp_primary_selection_offer_v1::ZwpPrimarySelectionOfferV1;
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_offer_v1::ZwlrDataControlOfferV1;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::backend::protocol::Interface;
use smithay::reexports::wayland_server::protocol::wl_data_offer::WlDataOffer;
use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use wayland_sys::common::wl_list;
use wayland_sys::server::{wl_client, wl_listener, wl_notify_func_t, wl_resource};
use wayland_sys::{ffi_dispatch, server::*};

use super::client_errors;
use super::ended_clients;
use super::resource_account::{CountedResource, ResourceAccount};
use super::resource_kinds::Kind;

#[link(name = "wayland-server")]
unsafe extern "C" {
    fn wl_client_add_resource_created_listener(client: *mut wl_client, listener: *mut wl_listener);
}

/// libwayland listeners of a client, registered while it is connected.
#[repr(C)]
struct ClientListeners {
    /// The first field, so that a pointer to it is a pointer to the whole.
    made: wl_listener,
    gone: wl_listener,
    client: Client,
    account: Arc<ResourceAccount>,
}

/// A destroy listener of an object, and its count. The listener is the first field.
#[repr(C)]
struct CountedObject {
    gone: wl_listener,
    account: Arc<ResourceAccount>,
    kind: Kind,
    /// The object's protocol id.
    number: u32,
    /// Resources that count for the client as long as this object, or another that shares them, is alive.
    shares: SharedResources,
}

/// Resources that are no objects and that several objects of a client share: released with the last of the objects.
pub type SharedResources = Vec<Arc<CountedResource>>;

/// A data offer that was created: its client, interface and protocol id.
pub type CreatedOffer = (ClientId, &'static Interface, u32);

thread_local! {
    static OFFERS: RefCell<Vec<CreatedOffer>> = const { RefCell::new(Vec::new()) };
    /// The object that was created last, null once it is destroyed.
    static NEWEST: Cell<*mut CountedObject> = const { Cell::new(std::ptr::null_mut()) };
    /// A client or an object has ended since the last `take_ended`.
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

/// Adds `shares` to the object of `kind` that the current request creates. libwayland creates it right before it calls
/// the handler, so that it is the newest object.
pub fn share_newest(kind: Kind, shares: &SharedResources) {
    // SAFETY: the pointer is cleared when the object is destroyed, on this thread, which does nothing else with it
    // meanwhile.
    let newest = unsafe { NEWEST.get().as_mut() };
    if let Some(newest) = newest.filter(|newest| newest.kind == kind) {
        newest.shares.extend_from_slice(shares);
    }
}

/// Protocol id of the object of `kind` that the current request creates.
pub fn newest_object_id(kind: Kind) -> Option<u32> {
    // SAFETY: the pointer is cleared when the object is destroyed, on this thread, which does nothing else with it
    // meanwhile.
    let newest = unsafe { NEWEST.get().as_ref() };
    newest.filter(|newest| newest.kind == kind).map(|newest| newest.number)
}

/// The resources that `object` shares.
pub fn shares_of(object: &impl Resource) -> SharedResources {
    with_counted(object, |counted| counted.shares.clone())
}

/// Keeps `shares` counted until `object` is destroyed, too.
pub fn share(object: &impl Resource, shares: &SharedResources) {
    with_counted(object, |counted| counted.shares.extend_from_slice(shares));
}

fn with_counted<T: Default>(object: &impl Resource, act: impl FnOnce(&mut CountedObject) -> T) -> T {
    let resource = object.id().as_ptr();
    if resource.is_null() || !object.is_alive() {
        return T::default();
    }
    // SAFETY: the object is alive. A listener with this function is the first field of a `CountedObject`, which no
    // other code uses meanwhile.
    unsafe {
        let gone = ffi_dispatch!(wayland_server_handle(), wl_resource_get_destroy_listener, resource, object_gone);
        if gone.is_null() { T::default() } else { act(&mut *gone.cast::<CountedObject>()) }
    }
}

/// Whether a client or one of its objects has ended since the last call, on this thread. Objects that end with an event
/// of ours do not count: there are several in each frame, and only their client uses them.
pub(super) fn take_ended() -> bool {
    ENDED.take()
}

/// Data offers that were created on this thread since the last call. Some may be destroyed already.
pub fn take_offers() -> Vec<CreatedOffer> {
    OFFERS.take()
}

fn note_offer(client: &Client, class: &str, number: u32) {
    let known = [
        WlDataOffer::interface(),
        ZwpPrimarySelectionOfferV1::interface(),
        ZwlrDataControlOfferV1::interface(),
        ExtDataControlOfferV1::interface(),
    ];
    if let Some(interface) = known.into_iter().find(|interface| interface.name == class) {
        OFFERS.with_borrow_mut(|offers| offers.push((client.id(), interface, number)));
    }
}

const fn listener(notify: wl_notify_func_t) -> wl_listener {
    wl_listener { link: wl_list { prev: std::ptr::null_mut(), next: std::ptr::null_mut() }, notify }
}

/// Counts the objects of `client`, which has just connected.
pub(super) fn watch(display: &DisplayHandle, client: &Client, account: &Arc<ResourceAccount>) {
    let Some(resource) = client_errors::display_of(display, &client.id()) else { return };
    let resource = resource.as_ptr();
    if resource.is_null() {
        return;
    }
    let (client, account) = (client.clone(), account.clone());
    let watch = ClientListeners { made: listener(object_created), gone: listener(client_gone), client, account };
    let watch = Box::into_raw(Box::new(watch));
    // SAFETY: the client was just created, so its display object is alive. The listeners do not move until
    // `client_gone` removes them.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, resource);
        wl_client_add_resource_created_listener(client, &raw mut (*watch).made);
        ffi_dispatch!(wayland_server_handle(), wl_client_add_destroy_listener, client, &raw mut (*watch).gone);
    }
}

/// All connected clients and their accounts.
///
/// (`Handle::with_all_clients` of wayland-backend 0.3 takes the list's head for a client and never ends.)
pub(super) fn clients(display: &DisplayHandle) -> Vec<(Client, Arc<ResourceAccount>)> {
    let mut clients = Vec::new();
    // SAFETY: the display lives as long as its handle, and no client connects or disconnects meanwhile.
    unsafe {
        let display = display.backend_handle().display_ptr();
        let head = ffi_dispatch!(wayland_server_handle(), wl_display_get_client_list, display);
        let mut link = (*head).next;
        while link != head {
            let client = ffi_dispatch!(wayland_server_handle(), wl_client_from_link, link);
            if let Some(watch) = watch_in(client) {
                clients.push((watch.client.clone(), watch.account.clone()));
            }
            link = (*link).next;
        }
    }
    clients
}

/// The account of a connected client.
///
/// # Safety
/// `client` is one of libwayland's. The caller uses neither it nor the account after the client is gone.
pub(super) unsafe fn account_of<'a>(client: *mut wl_client) -> Option<&'a Arc<ResourceAccount>> {
    // SAFETY: as the caller promises.
    unsafe { watch_in(client).map(|watch| &watch.account) }
}

/// A connected client and its account.
///
/// # Safety
/// As for [`account_of`].
pub(super) unsafe fn client_and_account<'a>(client: *mut wl_client) -> Option<(&'a Client, &'a ResourceAccount)> {
    // SAFETY: as the caller promises.
    unsafe { watch_in(client).map(|watch| (&watch.client, &*watch.account)) }
}

/// The listeners of a connected client.
unsafe fn watch_in<'a>(client: *mut wl_client) -> Option<&'a ClientListeners> {
    // SAFETY: a listener with this function is the second field of a `ClientListeners`.
    unsafe {
        let gone = ffi_dispatch!(wayland_server_handle(), wl_client_get_destroy_listener, client, client_gone);
        (!gone.is_null()).then(|| &*watch_of(gone))
    }
}

/// The `ClientListeners` that contains the listener `gone`.
unsafe fn watch_of(gone: *mut wl_listener) -> *mut ClientListeners {
    // SAFETY: as the caller promises.
    unsafe { gone.byte_sub(std::mem::offset_of!(ClientListeners, gone)).cast() }
}

/// Called by libwayland for each new object of the client.
unsafe extern "C" fn object_created(listener: *mut wl_listener, object: *mut c_void) {
    let object = object.cast::<wl_resource>();
    // SAFETY: the listener is the first field of a `ClientListeners` that lives until `client_gone`. The object was
    // just created, and the name of its class is a static string.
    unsafe {
        let ClientListeners { account, client, .. } = &*listener.cast::<ClientListeners>();
        let class = CStr::from_ptr(ffi_dispatch!(wayland_server_handle(), wl_resource_get_class, object));
        let class = class.to_str().unwrap_or_default();
        let kind = Kind::of_interface(class);
        let number = ffi_dispatch!(wayland_server_handle(), wl_resource_get_id, object);
        if kind == Kind::Offers {
            note_offer(client, class, number);
        }
        let (gone, account) = (self::listener(object_gone), account.clone());
        let counted = Box::new(CountedObject { gone, account, kind, number, shares: SharedResources::new() });
        let counted = Box::into_raw(counted);
        NEWEST.set(counted);
        ffi_dispatch!(wayland_server_handle(), wl_resource_add_destroy_listener, object, &raw mut (*counted).gone);
        if (*counted).account.take(kind, 1) && (*counted).account.begin_disconnect() {
            let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, object);
            let display = ffi_dispatch!(wayland_server_handle(), wl_client_get_object, client, client_errors::DISPLAY);
            let reason = client_errors::limit_error_text(kind, (*counted).account.limit(kind));
            let text = CString::new(reason.as_str()).unwrap_or_default();
            ended_clients::note(ended_clients::process_of(client), reason);
            ffi_dispatch!(
                wayland_server_handle(),
                wl_resource_post_error,
                display,
                client_errors::NO_MEMORY,
                c"%s".as_ptr(),
                text.as_ptr()
            );
        }
    }
}

unsafe extern "C" fn object_gone(listener: *mut wl_listener, _: *mut c_void) {
    // SAFETY: it is the first field of a `CountedObject` that `object_created` leaked. It is no longer in the list, and
    // nothing else uses it.
    let counted = unsafe {
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*listener).link);
        Box::from_raw(listener.cast::<CountedObject>())
    };
    if std::ptr::eq(NEWEST.get(), &raw const *counted) {
        NEWEST.set(std::ptr::null_mut());
    }
    if !matches!(counted.kind, Kind::Callbacks | Kind::Feedbacks) {
        ENDED.set(true);
    }
    counted.account.give_back(counted.kind, 1);
}

unsafe extern "C" fn client_gone(listener: *mut wl_listener, _: *mut c_void) {
    ENDED.set(true);
    // SAFETY: it is the second field of a `ClientListeners` that `watch` leaked; both of its listeners were in lists
    // until now.
    unsafe {
        let watch = watch_of(listener);
        // libwayland closes the socket right after this, so the number may then be another file's. (No other callback
        // reports this for a client with a protocol error: `ClientData::disconnected` is not called for it.)
        (*watch).account.note_disconnected();
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*watch).made.link);
        ffi_dispatch!(wayland_server_handle(), wl_list_remove, &raw mut (*watch).gone.link);
        drop(Box::from_raw(watch));
    }
}
