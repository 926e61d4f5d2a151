// The row of controls: first, back, play, forward, last, place, timeline, stop at, speed.

const ICONS = {
  first: "M4 4h2v12H4zM16 4v12L7.5 10z",
  back: "M14 4v12L5.5 10z",
  play: "M6 3.5v13L16.5 10z",
  pause: "M5.5 4h3v12h-3zM11.5 4h3v12h-3z",
  forward: "M6 4v12L14.5 10z",
  last: "M14 4h2v12h-2zM4 4v12L12.5 10z",
};
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];

function iconButton(name, label, act) {
  const button = el(`button.icon.${name}`, { type: "button", "aria-label": label, title: label });
  button.append(svg(ICONS[name]));
  button.onclick = act;
  return button;
}

function choice(label, options, pick) {
  const select = el("select", { "aria-label": label });
  for (const [value, text] of options) select.append(el("option", { value }, text));
  select.onchange = () => pick(select.value);
  return select;
}

class Transport {
  // act: {first, back, toggle, forward, last, seek(step), release(), speed(x), stop(rule), grain(name)}
  constructor(act) {
    this.act = act;
    this.playButton = iconButton("play", "Play (Space)", act.toggle);
    this.scrubber = new Scrubber(act);
    this.place = el("output.place", { "aria-label": "Step" });
    this.speed = choice(
      "Speed",
      SPEEDS.map((x) => [x, `${x}×`]),
      (x) => act.speed(Number(x)),
    );
    this.speed.value = "1";
    this.stops = el("span");
    this.grains = el("span");
    this.options = el("div.options", {}, this.grains, this.stops, this.speed);
    this.root = el(
      "div.transport",
      {},
      el("div.buttons", {}, ...this.buttons()),
      this.place,
      this.scrubber.root,
      this.options,
    );
  }

  buttons() {
    return [
      iconButton("first", "First step (Home)", this.act.first),
      iconButton("back", "Back (←)", this.act.back),
      this.playButton,
      iconButton("forward", "Forward (→)", this.act.forward),
      iconButton("last", "Last step (End)", this.act.last),
    ];
  }

  load(stage) {
    this.last = stage.numSteps - 1;
    this.scrubber.load(stage.lanes(), stage.numSteps);
    const rules = stage.stops ? stage.stops() : [];
    const options = [["", "Stop: end"], ...rules.map((rule) => [rule, `Stop: ${rule}`])];
    const kept = rules.includes(this.stops.value) ? this.stops.value : "";
    this.swap("stops", choice("Stop at", options, this.act.stop), kept);
    const grains = stage.grains?.() ?? [];
    const grain = grains.find(({ name }) => name === this.grain) ?? firstGrain(grains);
    this.swap("grains", segmented("Grain", grains, (name) => this.pickGrain(name), grain?.name));
    this.pickGrain(grain?.name);
    this.stops.hidden = !rules.length;
    this.act.stop(kept);
  }

  pickGrain(name) {
    this.grain = name;
    this.act.grain(name);
  }

  // On a narrow screen grain and stop move to `tools`; null brings them back.
  fold(tools) {
    (tools ?? this.options).prepend(this.grains, this.stops);
  }

  swap(name, node, value) {
    this[name].replaceWith(node);
    this[name] = node;
    if (value !== undefined) node.value = value;
  }

  // inside: the place within the step in words, or null
  show(step, words, inside) {
    const rest = [el("span", {}, `of ${count(this.last)}`), inside ? el("span", {}, inside) : ""];
    this.place.replaceChildren(el("b", {}, count(step)), ...rest);
    this.scrubber.show(step, `${step} of ${this.last}${inside ? `, ${inside}` : ""}. ${words}`);
  }

  showPlaying(playing) {
    if (playing === this.playing) return;
    this.playing = playing;
    const label = playing ? "Pause (Space)" : "Play (Space)";
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
    this.playButton.replaceChildren(svg(playing ? ICONS.pause : ICONS.play, 22));
  }
}

const firstGrain = (grains) => grains.find((grain) => grain.first) ?? grains[0];

// Buttons of which one is on: options [{name, label}]; at first it is `on`, else the first.
function segmented(label, options, pick, on = options[0]?.name) {
  const group = el("div.segmented", { role: "group", "aria-label": label });
  group.hidden = options.length < 2;
  for (const { name, label: text } of options) {
    const button = el("button", { type: "button", "aria-pressed": String(name === on) });
    button.append(text);
    button.onclick = () => {
      for (const other of group.children) other.setAttribute("aria-pressed", other === button);
      pick(name);
    };
    group.append(button);
  }
  return group;
}
