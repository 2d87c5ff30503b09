//! Pixels, and a few shapes with soft edges.

/// A colour: red, green and blue from 0 to 255, and its opacity from 0 to 1.
#[derive(Clone, Copy)]
pub struct Paint {
    pub rgb: [f32; 3],
    pub cover: f32,
}

impl Paint {
    pub const fn new(red: u8, green: u8, blue: u8, cover: f32) -> Self {
        Paint { rgb: [red as f32, green as f32, blue as f32], cover }
    }

    pub fn faded(self, factor: f32) -> Self {
        Paint { cover: self.cover * factor.clamp(0.0, 1.0), ..self }
    }
}

/// An image in the byte order of `wl_shm`'s `xrgb8888`: blue, green, red, unused.
pub struct Canvas {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Canvas { width, height, pixels: vec![[0; 4]; width * height] }
    }

    /// All bytes, row by row without gaps.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Fills the image with a vertical gradient.
    pub fn gradient(&mut self, top: [f32; 3], bottom: [f32; 3]) {
        let height = self.height.max(1) as f32;
        for (y, row) in self.pixels.chunks_exact_mut(self.width.max(1)).enumerate() {
            let at = y as f32 / height;
            let mix = |part: usize| (top[part] + (bottom[part] - top[part]) * at) as u8;
            row.fill([mix(2), mix(1), mix(0), 0xff]);
        }
    }

    /// Blends paint over a pixel.
    fn blend(&mut self, x: usize, y: usize, paint: Paint) {
        let pixel = &mut self.pixels[y * self.width + x];
        for (byte, part) in pixel.iter_mut().zip([paint.rgb[2], paint.rgb[1], paint.rgb[0]]) {
            let below = f32::from(*byte);
            *byte = (below + (part - below) * paint.cover) as u8;
        }
    }

    /// Blends paint within a box around a point; `cover` is the coverage of each pixel, from 0 to 1.
    fn shape(&mut self, centre: (f32, f32), reach: f32, paint: Paint, cover: impl Fn(f32, f32) -> f32) {
        let range = |middle: f32, end: usize| {
            let low = (middle - reach).floor().clamp(0.0, end as f32) as usize;
            let high = (middle + reach).ceil().clamp(0.0, end as f32) as usize;
            low..high
        };
        for y in range(centre.1, self.height) {
            for x in range(centre.0, self.width) {
                let part = cover(x as f32 + 0.5, y as f32 + 0.5);
                if part > 0.0 {
                    self.blend(x, y, paint.faded(part));
                }
            }
        }
    }

    /// A disc with an edge one pixel wide.
    pub fn disc(&mut self, centre: (f32, f32), radius: f32, paint: Paint) {
        self.shape(centre, radius + 1.0, paint, |x, y| radius + 0.5 - (x - centre.0).hypot(y - centre.1));
    }

    /// A light that fades towards its edge.
    pub fn glow(&mut self, centre: (f32, f32), radius: f32, paint: Paint) {
        self.shape(centre, radius, paint, |x, y| {
            let far = (x - centre.0).hypot(y - centre.1) / radius;
            (1.0 - far).max(0.0).powi(2)
        });
    }

    /// A circle with a line of the given width.
    pub fn ring(&mut self, centre: (f32, f32), radius: f32, width: f32, paint: Paint) {
        self.shape(centre, radius + width, paint, |x, y| {
            let off = ((x - centre.0).hypot(y - centre.1) - radius).abs();
            width / 2.0 + 0.5 - off
        });
    }

    /// A straight line with round ends.
    pub fn line(&mut self, from: (f32, f32), to: (f32, f32), width: f32, paint: Paint) {
        let along = (to.0 - from.0, to.1 - from.1);
        let length = along.0.hypot(along.1).max(f32::EPSILON);
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        self.shape(middle, length / 2.0 + width, paint, |x, y| {
            let at = ((x - from.0) * along.0 + (y - from.1) * along.1) / (length * length);
            let at = at.clamp(0.0, 1.0);
            width / 2.0 + 0.5 - (x - from.0 - at * along.0).hypot(y - from.1 - at * along.1)
        });
    }

    /// A ribbon from edge to edge around `curve(x)`; it fades upwards and downwards.
    pub fn ribbon(&mut self, curve: impl Fn(f32) -> f32, reach: f32, paint: Paint) {
        for x in 0..self.width {
            let middle = curve(x as f32);
            let low = (middle - reach).clamp(0.0, self.height as f32) as usize;
            let high = (middle + reach).clamp(0.0, self.height as f32) as usize;
            for y in low..high {
                let far = (y as f32 + 0.5 - middle).abs() / reach;
                self.blend(x, y, paint.faded((1.0 - far) * (1.0 - far)));
            }
        }
    }
}
