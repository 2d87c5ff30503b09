// An animated Qt Quick window. Last argument: windowed, maximised or fullscreen.
import QtQuick
import QtQuick.Window

Window {
    readonly property string shape: Qt.application.arguments[Qt.application.arguments.length - 1]
    title: "moving"
    width: 400
    height: 300
    color: "#203040"
    visible: true
    visibility: shape === "maximised" ? Window.Maximized : shape === "fullscreen" ? Window.FullScreen : Window.Windowed

    Rectangle {
        y: 100
        width: 80
        height: 80
        color: "orange"
        NumberAnimation on x { from: 0; to: 300; duration: 2000; loops: Animation.Infinite }
    }
}
