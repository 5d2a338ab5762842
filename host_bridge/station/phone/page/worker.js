// It does nothing: that it may be registered shows that the certificate is trusted.
self.addEventListener("install", () => self.skipWaiting());
