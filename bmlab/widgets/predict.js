// A prediction: three buttons; the choice locks, what the cell says appears, the answer in the text below opens, and
// what it says of the choice is marked.
// First guesses are kept by the browser: name -> { chosen, right }.
(() => {
  const STORE = "bmlab-predictions", LETTERS = ["A", "B", "C"];
  const kept = globalThis[STORE] ??= {};                             // for a browser that keeps nothing
  const guesses = () => { try { return JSON.parse(localStorage[STORE] ?? "{}"); } catch { return kept; } };
  const keep = (name, guess) => {
    kept[name] = guess;
    try { localStorage[STORE] = JSON.stringify({ ...guesses(), [name]: guess }); } catch { /* kept above */ }
    document.querySelectorAll(".bmlab-predict").forEach(show);
  };

  const notebookOf = (root) => root.closest(".jp-Notebook") ?? document.body;
  const parts = (root, name) =>
    [...notebookOf(root).querySelectorAll(".bmlab-predict")].filter((part) => !name || part.dataset.name === name);

  // The answer below: the first folded text that begins with a bold letter.
  const answerTo = (root) => {
    for (const fold of notebookOf(root).querySelectorAll("details")) {
      const below = root.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING;
      const right = below && !fold.closest(".bmlab-predict") &&
        fold.querySelector("strong")?.textContent.match(/^[ABC]\b/)?.[0];
      if (right) return { fold, right };
    }
  };
  // Mark what a paragraph says of an option: from a sentence that names it to one that names others, or (an aside).
  // (The article A is no option: before a verb, "and" or a stop it is one.)
  const NAMED = /\b[BC]\b|\bA\b(?=[,.:;?!)]| (?:\w+s|and|or|because|would|could|might|may|can|did|had)\b)/g;
  const markIn = (paragraph, letter) => {
    const parts = [], pieces = [];
    let text = "", said = false, start = 0;
    for (const part of paragraph.childNodes) {
      parts.push([text.length, part]);
      text += part.nodeName === "MJX-CONTAINER" || part.classList?.contains("math") ? "x" : part.textContent;
    }
    text = text.replace(/\$[^$]+\$/g, (formula) => "x".repeat(formula.length));       // not typeset yet
    for (const [sentence] of text.matchAll(/.+?(?:[.?!][)"”]*\s+|$)/gs)) {
      const named = sentence.match(NAMED), end = start + sentence.length;
      if (named || sentence.startsWith("(")) said = Boolean(named?.includes(letter));
      if (said && pieces.at(-1)?.[1] === start) pieces.at(-1)[1] = end;
      else if (said) pieces.push([start, end]);
      start = end;
    }
    for (const [from, to] of pieces.reverse()) {
      const range = document.createRange();
      const [first, head] = parts.findLast(([at]) => at <= from), [last, tail] = parts.findLast(([at]) => at < to);
      if (head.nodeType === Node.TEXT_NODE) range.setStart(head, from - first);
      else range.setStartBefore(head);
      if (tail.nodeType === Node.TEXT_NODE) range.setEnd(tail, to - last);
      else range.setEndAfter(tail);
      range.surroundContents(make("mark", {}));
    }
  };

  // Open the answer, once in a page, and learn which letter is right.
  const tell = (root, { chosen, right }) => {
    const answer = answerTo(root);
    if (!answer) return false;
    const { fold } = answer;
    if (!fold.dataset.chosen) {
      [fold.dataset.chosen, fold.open] = [chosen, true];
      fold.querySelectorAll("p, li:not(:has(p))").forEach((paragraph) => markIn(paragraph, chosen));
    }
    if (!right) keep(root.dataset.name, { chosen, right: answer.right });
    return true;
  };
  // A text that was not in sight may not have been made yet.
  const wait = (root) => {
    const over = () => !root.isConnected || tell(root, guesses()[root.dataset.name]);
    if (root.dataset.waiting || over()) return;
    root.dataset.waiting = "true";
    new MutationObserver((_, watch) => {
      if (!over()) return;
      watch.disconnect();
      delete root.dataset.waiting;
    }).observe(notebookOf(root), { childList: true, subtree: true });
  };
  const choose = ({ dataset: { name } }, chosen) => guesses()[name] || keep(name, { chosen });

  const story = (root, guess) => {
    if (!guess) return "Choose, and what the cell says appears.";
    if (!guess.right) return `You chose ${guess.chosen}. The answer is folded below.`;
    const all = guesses(), names = new Set(parts(root).map((part) => part.dataset.name));
    const settled = [...names].map((name) => all[name]).filter((one) => one?.right);
    const hits = settled.filter((one) => one.chosen === one.right).length;
    return (guess.chosen === guess.right ? `You chose ${guess.chosen}, and so it is. `
      : `You chose ${guess.chosen}; it is ${guess.right}. `)
      + `First guesses in this notebook: ${hits} of ${settled.length} right.`;
  };

  const make = (name, attributes, ...children) => {
    const el = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
    el.append(...children);
    return el;
  };
  const buttons = (root) => LETTERS.map((letter) => {
    const button = make("button", { type: "button" }, letter);
    button.addEventListener("click", () => choose(root, letter));
    return button;
  });

  // Only the first cell of a prediction asks; all of them wait.
  function show(root) {
    const { name } = root.dataset, guess = guesses()[name], fold = root.querySelector("details");
    const first = parts(root, name)[0] === root;
    let row = root.querySelector("[role=group]");
    if (!row) {
      row = make("div", { role: "group", "aria-label": "Your prediction", "data-lm-suppress-shortcuts": "true" },
        make("b", {}, "Your prediction"), ...buttons(root), make("span", { role: "status" }));
      row.addEventListener("keydown", (event) => event.stopPropagation());
      root.prepend(row);
    }
    for (const button of row.querySelectorAll("button")) {
      button.hidden = !first;
      button.setAttribute("aria-pressed", guess?.chosen === button.textContent);
      button.setAttribute("aria-disabled", Boolean(guess));
    }
    row.querySelector("b").hidden = !first;
    const words = first ? story(root, guess) : guess ? "" : "This appears with your prediction above.";
    const said = row.querySelector("[role=status]");
    if (said.textContent !== words) said.textContent = words;
    if (fold.hidden !== !guess || !root.dataset.alive) fold.open = Boolean(guess);
    fold.hidden = !guess;
    fold.querySelector("summary").textContent = "What the cell says";
    root.dataset.alive = "true";
    if (first && guess) wait(root);
  }

  const STYLE = `
    .bmlab-predict [role=group] { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 4px 0;
      font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif); }
    .bmlab-predict button { font: inherit; font-weight: 600; min-width: 44px; min-height: 32px; border-radius: 6px;
      color: var(--jp-ui-font-color1, CanvasText); background: var(--jp-layout-color0, Canvas); cursor: pointer;
      border: 1px solid var(--jp-border-color1, #999); }
    .bmlab-predict button[hidden], .bmlab-predict b[hidden] { display: none; }
    .bmlab-predict button[aria-disabled=true] { cursor: default; opacity: 0.55; }
    .bmlab-predict button[aria-pressed=true] { opacity: 1; color: var(--jp-layout-color0, Canvas);
      background: var(--jp-ui-font-color1, CanvasText); }
    .bmlab-predict button:focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 2px; }
    .bmlab-predict summary { cursor: pointer; }
    .bmlab-predict img { max-width: 100%; }
    details[data-chosen] mark { color: inherit; text-decoration: underline 2px var(--jp-brand-color1, #1976d2);
      text-underline-offset: 3px; background: color-mix(in srgb, var(--jp-brand-color1, #1976d2) 12%, transparent); }
    .bmlab-predict pre { font-family: var(--jp-code-font-family, monospace); }
    @media (forced-colors: active) {
      .bmlab-predict button[aria-pressed=true] { forced-color-adjust: none; background: Highlight;
        color: HighlightText; }
    }`;
  if (!document.getElementById("bmlab-predict")) document.head.append(make("style", { id: "bmlab-predict" }, STYLE));
  document.querySelectorAll(".bmlab-predict").forEach(show);
})();
