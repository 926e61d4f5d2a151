// Which of the two themes Streamlit shows now, and its tokens as CSS variables.
// THEMES comes from pages/figures/palette.py.

function luminance(colour) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = colour;
  const [r, g, b] = probe.fillStyle.match(/\w\w/g).map((pair) => parseInt(pair, 16));
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}

function currentTheme(node) {
  const background = getComputedStyle(node).getPropertyValue("--st-background-color").trim();
  return background && luminance(background) < 0.4 ? THEMES.dark : THEMES.light;
}

function applyTheme(node, theme) {
  for (const [name, value] of Object.entries(theme)) {
    if (typeof value === "string") node.style.setProperty(`--${name}`, value);
  }
  for (const [state, tone] of Object.entries(theme.mosaic)) {
    node.style.setProperty(`--tone-${state}`, tone);
  }
  node.style.setProperty("--first-tint", theme.owners[0].tint);
  node.style.setProperty("--first-edge", theme.owners[0].edge);
  node.style.setProperty("--rest-fill", theme.rest.fill);
  node.style.setProperty("--rest-edge", theme.rest.edge);
  node.dataset.theme = theme.name;
}

// The colours of a palette index; anything outside 0…6 is "the rest".
function ownerColours(theme, index) {
  return theme.owners[index] || theme.rest;
}
