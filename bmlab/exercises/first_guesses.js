// Beside the points of each notebook: how many first guesses were right, as predict.js keeps them in the browser.
(() => {
  let guesses = {};
  try { guesses = JSON.parse(localStorage["bmlab-predictions"] ?? "{}"); } catch { /* a browser that keeps nothing */ }
  for (const place of document.querySelectorAll("[data-first-guesses]")) {
    const settled = Object.entries(guesses).filter(([name, { right }]) =>
      right && name.startsWith(place.dataset.firstGuesses));
    const hits = settled.filter(([, { chosen, right }]) => chosen === right).length;
    place.textContent = settled.length ? ` First guesses: ${hits} of ${settled.length} right` : "";
  }
})();
