// The keys of a player: Space, arrows (with Shift ten steps), Home, End. Controls keep their own.

const KEYS = {
  " ": (player) => player.toggle(),
  ArrowLeft: (player, by) => player.move(-1, by),
  ArrowRight: (player, by) => player.move(1, by),
  Home: (player) => player.go(0),
  End: (player) => player.go(Infinity),
};

function pressKey(player, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !KEYS[event.key]) return;
  const { tagName } = event.composedPath()[0];
  if (tagName === "SELECT" || (event.key === " " && tagName === "BUTTON")) return;
  event.preventDefault();
  KEYS[event.key](player, event.shiftKey ? 10 : 1);
}
