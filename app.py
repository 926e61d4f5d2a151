"""The router: which pages there are. Each page says the rest itself."""

from pages.ui.router import route

route().run()
