//! Textures of pictures that the compositor drew. A picture never changes, so it is imported once. Its texture is
//! dropped after the last reference to the picture.

use std::sync::{Arc, Weak};

use smithay::backend::allocator::Fourcc;
use smithay::backend::renderer::{ImportMem, Renderer};
use smithay::utils::{Physical, Rectangle, Size};

use crate::backend::PixelBuffer;
use crate::scene::EffectPicture;

#[derive(Debug)]
pub(super) struct PictureCache<T>(Vec<(usize, Weak<PixelBuffer>, T)>);

impl<T> Default for PictureCache<T> {
    fn default() -> Self {
        PictureCache(Vec::new())
    }
}

impl<T: Clone> PictureCache<T> {
    pub(super) fn forget_gone(&mut self) {
        self.0.retain(|(_, image, _)| image.strong_count() > 0);
    }

    /// The picture's texture and its rectangle; empty if it cannot be imported.
    pub(super) fn part<R>(&mut self, renderer: &mut R, picture: &EffectPicture) -> Vec<(T, Rectangle<i32, Physical>)>
    where
        R: Renderer<TextureId = T> + ImportMem,
    {
        let image = picture.image();
        let area = Rectangle::from_size(Size::from((image.width, image.height)));
        if let Some((_, _, texture)) = self.0.iter().find(|(number, _, _)| *number == picture.number()) {
            return vec![(texture.clone(), area)];
        }
        let bytes: Vec<u8> = image.pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
        let texture = renderer.import_memory(&bytes, Fourcc::Argb8888, (image.width, image.height).into(), false);
        match texture {
            Ok(texture) => {
                self.0.push((picture.number(), Arc::downgrade(image), texture.clone()));
                vec![(texture, area)]
            }
            Err(error) => {
                tracing::warn!(?error, "a picture cannot be drawn");
                Vec::new()
            }
        }
    }
}
