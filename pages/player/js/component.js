// The door to Streamlit: one Player for each mounted element, fed again only when the data changes.

const PLAYERS = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let player = PLAYERS.get(parentElement);
  if (!player) PLAYERS.set(parentElement, (player = new Player(parentElement)));
  player.committer.send = setStateValue;
  if (data !== player.data) {
    player.data = data;
    player.load(data);
  } else {
    player.repaint();
  }
  return () => {
    player.destroy();
    PLAYERS.delete(parentElement);
  };
}
