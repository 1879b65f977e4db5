// What is written in a place to think is kept by the browser, and grows with its text.
(() => {
  const STORE = "bmlab-thoughts";
  const thoughts = () => { try { return JSON.parse(localStorage[STORE] ?? "{}"); } catch { return {}; } };
  for (const place of document.querySelectorAll(".bmlab-think textarea")) {
    const fit = () => { place.style.height = ""; place.style.height = place.scrollHeight + 2 + "px"; };
    place.value = thoughts()[place.dataset.name] ?? "";
    if (place.value) fit();
    place.addEventListener("input", () => {
      fit();
      try { localStorage[STORE] = JSON.stringify({ ...thoughts(), [place.dataset.name]: place.value }); } catch { /* private */ }
    });
  }
})();
