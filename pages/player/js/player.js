// The core: owns the stage, the playback and the card; knows nothing of what a stage draws.

const STAGES = {};
const WORDS_MS = 90; // in fast play the words change no faster than this

class Player {
  constructor(mount) {
    this.mount = mount;
    this.step = this.loads = this.frames = this.width = this.toldAt = 0;
    this.committer = new Committer();
    this.playback = new Playback({
      step: () => this.forward(),
      frame: () => this.paint(),
      times: () => this.stage,
    });
    this.places = new PlaceEvents((step) => this.go(step));
    this.transport = new Transport(this.controls());
    this.card = new Card(this.transport);
    this.card.root.onkeydown = (event) => pressKey(this, event);
    mount.append(this.card.root);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.card.root);
    document.fonts.ready.then(() => this.stage && this.repaint());
  }

  controls() {
    return {
      first: () => this.go(0),
      back: () => this.go(this.neighbour(-1)),
      toggle: () => this.toggle(),
      forward: () => this.go(this.neighbour(1)),
      last: () => this.go(Infinity),
      seek: (step) => this.scrub(step),
      release: () => this.settle(),
      speed: (speed) => (this.playback.speed = speed),
      stop: (rule) => (this.rule = rule),
      grain: (name) => (this.grain = name),
    };
  }

  // --- a log --------------------------------------------------------------------------------------

  load(data) {
    const { header, columns, note } = decode(data);
    const start = this.loads ? { step: this.step } : note;
    this.loads += 1;
    this.playback.stop();
    this.stage?.destroy();
    this.card.figure.replaceChildren();
    this.readTheme();
    this.stageName = header.stage;
    this.name = note.key ?? header.stage;
    this.stage = new STAGES[header.stage](this.host(), { header, columns, note: start });
    this.grain = this.stage.grains?.()[0]?.name;
    this.transport.load(this.stage);
    this.card.offerFinder(this.stage.find && ((name) => this.stage.find(name)));
    this.card.offerViews(this.stage.views?.() ?? [], (name) => this.stage.setView(name));
    exposePlayer(this);
    this.begin(start);
  }

  // Python knows the place that it sent with the first log; later logs keep the step, no selection.
  begin({ step = 0, request = null, block = null }) {
    const place = { step, request, block };
    if (this.loads === 1) this.committer.known(place);
    this.seek(step);
    this.width = 0;
    this.resize();
    for (const [name, value] of Object.entries({ ...place, step: this.step })) {
      this.committer.put(name, value);
    }
    this.committer.hurry();
  }

  // What a stage may use of the core.
  host() {
    const player = this;
    return {
      root: this.card.figure,
      get theme() {
        return player.theme;
      },
      get speed() {
        return player.playback.speed;
      },
      get calm() {
        return player.playback.cuts;
      },
      refresh: () => player.retell(),
      commit: (name, value) => player.commit(name, value),
      goTo: (step) => player.go(step),
    };
  }

  // --- moving -------------------------------------------------------------------------------------

  seek(step) {
    const last = this.stage.numSteps - 1;
    this.step = Math.max(0, Math.min(last, step === Infinity ? last : Math.round(step) || 0));
    this.stage.seek(this.step);
    this.playback.rest();
  }

  // The next step moves; every other one cuts.
  go(step) {
    const next = step === this.step + 1;
    this.seek(step);
    if (next && this.step === step) this.playback.move();
    this.paint();
    this.settle(false);
  }

  scrub(step) {
    if (step !== this.step) this.seek(step);
    this.playback.rest();
    this.paint();
  }

  // The next position in the chosen grain, in direction +1 or -1.
  neighbour(direction, by = 1) {
    const last = this.stage.numSteps - 1;
    let step = this.step;
    while (by-- > 0) {
      do step += direction;
      while (step > 0 && step < last && this.stage.starts && !this.stage.starts(this.grain, step));
    }
    return Math.max(0, Math.min(last, step));
  }

  toggle() {
    if (this.playback.playing) {
      this.playback.rest();
      this.paint();
      this.settle();
      return;
    }
    if (this.step >= this.stage.numSteps - 1) this.seek(0);
    this.card.live.textContent = "";
    this.playback.play();
    this.paint();
  }

  // One step of play; true when play stops there.
  forward() {
    this.step += 1;
    this.stage.seek(this.step);
    if (!this.mustStop()) return false;
    this.playback.rest();
    this.paint();
    this.settle();
    return true;
  }

  mustStop() {
    const broken = this.stage.invariants?.().some((check) => !check.holds);
    const end = this.step >= this.stage.numSteps - 1;
    return end || broken || (this.rule && this.stage.stopsHere(this.rule));
  }

  // The place is final for now: say it and send it; soon = false waits for more steps.
  settle(soon = true) {
    this.card.live.textContent = this.words ?? "";
    this.committer.put("step", this.step);
    if (soon) this.committer.hurry();
  }

  commit(name, value) {
    this.committer.put(name, value);
    this.settle();
  }

  // --- showing ------------------------------------------------------------------------------------

  readTheme() {
    this.theme = currentTheme(this.card.root);
    applyTheme(this.card.root, this.theme);
  }

  paint() {
    if (!this.stage || !this.width) return;
    this.frames += 1;
    this.stage.draw(this.playback.progress);
    this.transport.showPlaying(this.playback.playing);
    const early = this.playback.playing && performance.now() < this.toldAt + WORDS_MS;
    if (this.told !== this.step && !early) this.tell();
    this.transport.scrubber.place(this.step);
    this.places.tell(this.name, this.step);
    const { stageName: stage, step } = this;
    Object.assign(this.card.root.dataset, { stage, step, ready: "true" });
  }

  // Words change with the step, not with every frame.
  tell() {
    this.told = this.step;
    this.toldAt = performance.now();
    this.words = this.card.tell(this.stage, this.theme);
    this.transport.show(this.step, this.words);
  }

  retell() {
    this.told = NaN;
    this.toldAt = 0;
    this.paint();
  }

  // Called for any change of size; only another width asks for another layout.
  resize() {
    const width = this.stage ? this.card.root.clientWidth : 0;
    if (!width || width === this.width) return;
    this.width = width;
    this.card.forgetHeights();
    this.repaint();
  }

  repaint() {
    this.readTheme();
    this.stage.resize(this.card.fit());
    this.transport.scrubber.draw(this.theme);
    this.retell();
  }

  destroy() {
    this.playback.stop();
    this.observer.disconnect();
    this.committer.destroy();
    this.places.destroy();
    this.stage?.destroy();
    this.stage = null;
    this.card.destroy();
    delete window.__player?.[this.name];
  }
}
