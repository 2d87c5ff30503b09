//! Windows of a toolkit that no other program here uses: Qt 6.

use super::session::{ThirdPartySession, installed};
use super::{OUTPUT, TEXT};

/// The Qt plugin for Wayland.
const QT_WAYLAND: &str = "/usr/lib/x86_64-linux-gnu/qt6/plugins/platforms/libqwayland-generic.so";
/// A text field that writes its text to a file.
const FIELD: &str = r"
import sys
from PyQt6.QtWidgets import QApplication, QLineEdit
application = QApplication([])
field = QLineEdit()
field.textChanged.connect(lambda text: open(sys.argv[1], 'w').write(text))
field.resize(400, 100)
field.show()
sys.exit(application.exec())
";

#[test]
fn qt_6_field_receives_typed_text() {
    let needed = [
        ("/usr/bin/python3", "python3"),
        ("/usr/lib/python3/dist-packages/PyQt6/QtWidgets.abi3.so", "python3-pyqt6"),
        (QT_WAYLAND, "qt6-wayland"),
        ("wtype", "wtype"),
        ("grim", "grim"),
    ];
    if !needed.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("qt6", OUTPUT, None);
    let (script, written) = (session.path("field.py"), session.path("written"));
    std::fs::write(&script, FIELD).unwrap();
    let words = ["/usr/bin/python3", script.to_str().unwrap(), written.to_str().unwrap()];
    session.spawn_in(&words, &[("QT_QPA_PLATFORM", "wayland")]);
    let first = session.wait_for_picture("first", |picture| picture.content() > 400 * 100 / 2);
    session.click(OUTPUT.0 / 2, OUTPUT.1 / 2);
    session.type_text(TEXT);
    session.wait("the text", || (std::fs::read_to_string(&written).ok()? == TEXT).then_some(()));
    session.wait_for_picture("typed", |picture| picture.differs(&first) > 60);
    session.assert_all_running();
    session.end();
}
