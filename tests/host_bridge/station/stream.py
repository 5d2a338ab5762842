"""An MJPEG server on loopback that sends pictures, and may hang."""

from __future__ import annotations

import http.server
import io
import threading
import time

from PIL import Image


class Stream(http.server.ThreadingHTTPServer):
    """Pictures of one colour, ten a second; while it ``hangs`` it keeps its connections open."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pictures)
        self.hangs = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/stream.mjpg"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Pictures(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = io.BytesIO()
        Image.new("RGB", (320, 240), (200, 30, 40)).save(file, "JPEG")
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=it")
        self.end_headers()
        head = f"--it\r\nContent-Type: image/jpeg\r\nContent-Length: {file.tell()}\r\n\r\n"
        try:
            while True:
                if not self.server.hangs.is_set():
                    self.wfile.write(head.encode() + file.getvalue() + b"\r\n")
                time.sleep(0.1)
        except OSError:
            return

    def log_message(self, *words):
        pass
