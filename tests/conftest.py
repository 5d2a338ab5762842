"""Started in the background, a shell has Ctrl-C ignored, and whoever is started here would too."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
