"""The Allocation page as a script, and how to look at it."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from sim.columns import unpack

PAGE = Path(__file__).parents[2] / "pages" / "allocation.py"


def opened(**address):
    app = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app):
    assert not app.exception
    return app


def control(widgets, label):
    (widget,) = [widget for widget in widgets if widget.label == label]
    return widget


def address(app):
    return {k: v if isinstance(v, str) else v[0] for k, v in app.query_params.items()}


def text(app):
    return "\n".join(str(element.value) for element in (*app.markdown, *app.caption, *app.code))


def complaints(app):
    return [m.value for m in app.markdown if m.value.startswith("**:material/error:")]


def shown(app):
    """Header and columns of what the player got."""
    data = app.get("bidi_component")[0].proto.bytes
    return unpack(data)
