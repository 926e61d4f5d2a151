// A field that finds what is named in it; what cannot be found is answered beside it.

class Finder {
  // find(name) → null, or a sentence that says what would do
  constructor(placeholder, find) {
    const label = { "aria-label": placeholder, placeholder, type: "text", enterkeyhint: "search" };
    this.field = el("input", { ...label, autocomplete: "off", spellcheck: "false" });
    this.answer = el("p", { role: "alert", hidden: "" });
    this.root = el("form.finder", {}, this.field, this.answer);
    this.root.onsubmit = (event) => {
      event.preventDefault();
      const name = this.field.value.trim();
      this.say(name ? find(name) : null);
    };
    this.field.oninput = () => this.say(null);
    // Letters typed here are no shortcuts: neither ours nor Streamlit's.
    this.field.onkeydown = (event) => event.stopPropagation();
  }

  say(sentence) {
    this.answer.textContent = sentence ?? "";
    this.answer.hidden = !sentence;
    this.field.setAttribute("aria-invalid", String(Boolean(sentence)));
  }
}
