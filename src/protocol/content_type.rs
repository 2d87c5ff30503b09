//! `wp_content_type_manager_v1` 1: whether a surface shows a photo, a video or a game. Only `upbeat msg windows` prints
//! it: pacing depends on a client's behaviour, not on its claims.

use smithay::reexports::wayland_protocols::wp::content_type::v1::server::wp_content_type_manager_v1::WpContentTypeManagerV1;
use smithay::reexports::wayland_protocols::wp::content_type::v1::server::wp_content_type_v1::WpContentTypeV1;
use smithay::wayland::content_type::{ContentTypeState, ContentTypeUserData};

use super::dispatch_guard::delegate;

delegate!(global WpContentTypeManagerV1: () => ContentTypeState);
delegate!(WpContentTypeManagerV1: () => ContentTypeState);
delegate!(WpContentTypeV1: ContentTypeUserData => ContentTypeState);
