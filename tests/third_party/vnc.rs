//! A VNC client (RFB 3.8, RFC 6143) that reads the screen, moves the pointer and clicks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Security type: no authentication.
const SECURITY_NONE: u8 = 1;
const ENCODING_RAW: i32 = 0;
const BYTES_PER_PIXEL: usize = 4;
const LEFT_BUTTON: u8 = 1;
/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Vnc {
    stream: TcpStream,
    /// Width and height of the desktop, in pixels.
    pub size: (u16, u16),
}

impl Vnc {
    /// Connects to the server on this local port; `None` while there is no server.
    pub fn connect(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut vnc = Vnc { stream, size: (0, 0) };
        assert_eq!(&vnc.read::<8>(), b"RFB 003.");
        vnc.read::<4>();
        vnc.send(b"RFB 003.008\n");
        let [kinds] = vnc.read();
        let kinds = vnc.read_many(usize::from(kinds));
        assert!(kinds.contains(&SECURITY_NONE), "{kinds:?}");
        vnc.send(&[SECURITY_NONE]);
        assert_eq!(vnc.read(), [0; 4], "refused");
        // Shared access: do not disconnect other clients.
        vnc.send(&[1]);
        vnc.size = (u16::from_be_bytes(vnc.read()), u16::from_be_bytes(vnc.read()));
        vnc.read::<16>();
        let name = u32::from_be_bytes(vnc.read());
        vnc.read_many(name as usize);
        vnc.set_pixel_format();
        Some(vnc)
    }

    /// Sets the pixel format and encoding: little-endian `XRGB8888`, uncompressed.
    fn set_pixel_format(&mut self) {
        let (depth, is_big_endian, is_true_colour) = (24, 0, 1);
        let format = [32, depth, is_big_endian, is_true_colour, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
        self.send(&[&[0, 0, 0, 0], format.as_slice()].concat());
        self.send(&[&[2, 0, 0, 1], ENCODING_RAW.to_be_bytes().as_slice()].concat());
    }

    /// The pixels of the whole desktop (`XRGB8888`, row by row).
    pub fn picture(&mut self) -> Vec<u32> {
        let (width, height) = (usize::from(self.size.0), usize::from(self.size.1));
        let is_incremental = 0;
        let size = [self.size.0.to_be_bytes(), self.size.1.to_be_bytes()].concat();
        self.send(&[&[3, is_incremental, 0, 0, 0, 0], size.as_slice()].concat());
        let mut pixels = vec![0; width * height];
        let mut missing = width * height;
        while missing > 0 {
            assert_eq!(self.read::<2>()[0], 0, "a message other than a framebuffer update");
            for _ in 0..u16::from_be_bytes(self.read()) {
                let [x, y, columns, rows] = [(); 4].map(|()| usize::from(u16::from_be_bytes(self.read())));
                assert_eq!(i32::from_be_bytes(self.read()), ENCODING_RAW);
                let bytes = self.read_many(columns * rows * BYTES_PER_PIXEL);
                for (row, bytes) in (y..).zip(bytes.chunks_exact(columns * BYTES_PER_PIXEL)) {
                    for (pixel, bytes) in pixels[row * width + x..].iter_mut().zip(bytes.chunks_exact(BYTES_PER_PIXEL))
                    {
                        *pixel = u32::from_le_bytes(bytes.try_into().unwrap()) & 0x00ff_ffff;
                    }
                }
                missing = missing.saturating_sub(columns * rows);
            }
        }
        pixels
    }

    /// Moves to a place and clicks.
    pub fn click(&mut self, x: u16, y: u16) {
        for buttons in [0, LEFT_BUTTON, 0] {
            self.send(&[&[5, buttons], x.to_be_bytes().as_slice(), &y.to_be_bytes()].concat());
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn read<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn read_many(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}
