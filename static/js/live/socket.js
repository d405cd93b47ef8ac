/**
 * The socket of a session only reports that something changed; what changed is fetched. While it is
 * down, a page polls every few seconds, and whenever it is shown again.
 */
export const POLL_MS = 5000;
const MAX_RETRY_MS = 30000;

/**
 * Follow a session: `hear` receives the socket's messages, `ask` is called when something may have
 * been missed, and `show` whenever the socket opens or closes.
 */
export function followSession(id, { hear, ask, show = () => {} }) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  let socket = null;
  let retries = 0;
  let poll = 0;

  function connect() {
    socket = new WebSocket(`${scheme}://${location.host}/ws/sessions/${id}/`);
    socket.addEventListener("message", ({ data }) => hear(JSON.parse(data)));
    socket.addEventListener("open", () => {
      if (retries) ask();
      retries = 0;
      clearInterval(poll);
      poll = 0;
      show(true);
    });
    socket.addEventListener("close", () => {
      if (!poll) poll = setInterval(ask, POLL_MS);
      show(false);
      const wait = Math.min(1000 * 2 ** retries, MAX_RETRY_MS);
      retries += 1;
      setTimeout(connect, wait * (0.5 + Math.random() / 2));
    });
  }

  connect();
  addEventListener("pageshow", (event) => { if (event.persisted) ask(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  addEventListener("online", ask);
  return { isOpen: () => socket.readyState === WebSocket.OPEN, isPolling: () => poll > 0 };
}
