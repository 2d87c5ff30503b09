// Several animated windows of one Qt Quick program. Last argument: their number.
import QtQuick
import QtQuick.Window

Window {
    title: "first"
    width: 300
    height: 200
    visible: true

    Instantiator {
        model: Number(Qt.application.arguments[Qt.application.arguments.length - 1])
        delegate: Window {
            title: "window " + index
            width: 240
            height: 160
            color: "#203040"
            visible: true

            Rectangle {
                width: 60
                height: 60
                color: "orange"
                NumberAnimation on x { from: 0; to: 180; duration: 2000; loops: Animation.Infinite }
            }
        }
    }
}
