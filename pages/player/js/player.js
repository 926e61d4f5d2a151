// The core: owns the stage, the playback and the card; knows nothing of what a stage draws.

const STAGES = {};
const WORDS_MS = 90; // in fast play the words change no faster than this

class Player {
  constructor(mount) {
    this.mount = mount;
    this.event = null; // of the step's events the last that has happened; null for the whole step
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
    this.card.picture.onclick = () => savePicture(this);
    this.card.root.onkeydown = (event) => pressKey(this, event);
    mount.append(this.card.root);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.card.root);
    document.fonts.ready.then(() => this.stage && this.repaint());
  }

  controls() {
    return {
      first: () => this.go(0),
      back: () => this.move(-1),
      toggle: () => this.toggle(),
      forward: () => this.move(1),
      last: () => this.go(Infinity),
      seek: (step) => this.scrub(step),
      release: () => this.settle(),
      speed: (speed) => (this.playback.speed = speed),
      stop: (rule) => (this.rule = rule),
      grain: (name) => this.chooseGrain(name),
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
    this.event = null;
    this.stageName = header.stage;
    this.name = note.key ?? header.stage;
    this.stage = new STAGES[header.stage](this.host(), { header, columns, note: start });
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
      scrub: (step) => player.scrub(step),
      release: () => player.settle(),
      mark: (place) => player.card.link.mark(place),
    };
  }

  // --- moving -------------------------------------------------------------------------------------

  seek(step, event = null) {
    const last = this.stage.numSteps - 1;
    const near = Math.max(0, Math.min(last, step === Infinity ? last : Math.round(step) || 0));
    this.stand({ step: near, event });
    this.playback.rest();
  }

  stand({ step, event }) {
    Object.assign(this, { step, event });
    if (event === null) this.stage.seek(step);
    else this.stage.seekEvent(step, event);
  }

  // The next step, and the next event, move; all else cuts.
  go(step, event = null) {
    const later = step > this.step || (event ?? 0) > (this.event ?? Infinity);
    const next = step === this.step + 1 || (event !== null && later);
    this.seek(step, event);
    if (next && this.step === step) this.playback.move();
    this.paint();
    this.settle(false);
  }

  // By so many places of the chosen grain, in direction +1 or -1.
  move(direction, by = 1) {
    const { step, event } = placeAfter(this.stage, this.grain, this, direction, by);
    this.go(step, event);
  }

  chooseGrain(name) {
    this.grain = name;
    if (this.event !== null) this.go(this.step);
  }

  scrub(step) {
    if (step !== this.step || this.event !== null) this.seek(step);
    this.playback.rest();
    this.paint();
  }

  toggle() {
    if (this.playback.playing) {
      this.playback.rest();
      this.paint();
      this.settle();
      return;
    }
    if (isLastPlace(this.stage, this)) this.seek(0);
    this.card.live.textContent = "";
    this.playback.play();
    this.paint();
  }

  // One place of play; true when play stops there.
  forward() {
    this.stand(placeAfter(this.stage, this.grain, this, 1));
    if (!this.mustStop()) return false;
    this.playback.rest();
    this.paint();
    this.settle();
    return true;
  }

  mustStop() {
    const broken = this.stage.invariants?.().some((check) => !check.holds);
    const asked = this.rule && this.stage.stopsHere(this.rule);
    return isLastPlace(this.stage, this) || broken || asked;
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
    if (this.told !== this.spot && !early) this.tell();
    this.transport.scrubber.place(this.step);
    this.places.tell(this.name, this.step);
    const { stageName: stage, step } = this;
    Object.assign(this.card.root.dataset, { stage, step, ready: "true" });
  }

  // The place as a name.
  get spot() {
    return this.event === null ? this.step : `${this.step} ${this.event}`;
  }

  // Words change with the place, not with every frame.
  tell() {
    this.told = this.spot;
    this.toldAt = performance.now();
    this.words = this.card.tell(this.stage, this.theme);
    const inside = this.event && `event ${this.event}/${this.stage.eventsOf(this.step)}`;
    this.transport.show(this.step, this.words, inside);
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
    if (window.__player?.[this.name] === this.readout) delete window.__player?.[this.name];
  }
}
