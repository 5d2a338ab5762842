// A browser registers no service worker over a certificate that a person only waved through.
const key = new URLSearchParams(location.hash.slice(1)).get("key") || "";
const put = (id, text) => { document.getElementById(id).textContent = text; };
try {
  await navigator.serviceWorker.register("/worker.js");
  const told = await (await fetch(`/trusted?key=${encodeURIComponent(key)}`)).json();
  put("head", "The certificate is installed");
  put("code", told.code);
  put("then", "Was there no warning? Type this number where the station runs, and scan the code that it shows then. It counts for two minutes.");
} catch (error) {
  put("head", "The certificate is not installed");
  put("then", `This phone can watch and stop, and cannot drive: ${error.message}`);
}
