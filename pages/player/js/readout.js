// What a player shows, for tests and the console: window.__player[key].

function exposePlayer(player) {
  const read = () => ({
    step: player.step,
    event: player.event,
    playing: player.playback.playing,
    loads: player.loads,
    frames: player.frames,
    theme: player.theme.name,
    sentence: plainSentence(player.stage.sentence()),
    ...player.stage.readback(),
  });
  window.__player = window.__player ?? {};
  player.readout = window.__player[player.name] = {
    read,
    seek: (step, event) => player.go(step, event),
    step: () => player.step,
    frames: () => player.frames,
  };
}
