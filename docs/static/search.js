// What the search shows of a page is its words: formulas are left out, and an entry of the index has none of its own.
if (typeof Search !== "undefined") {
  const text = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const plain = html.replace(/<(span|div) class="math[^>]*>[^]*?<\/\1>/g, "\u2026");
    return (text(plain, anchor).trim() || text(plain)).replace(/\s+/g, " ");
  };
}
