import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";

/**
 * What a server says on a new connection, until it has said something that matches.
 * @param {object} probe
 * @param {number} probe.port
 * @param {string} [probe.host]
 * @param {string | Buffer | undefined} [probe.greeting] sent first
 * @param {boolean} [probe.secure] speaks TLS from the first byte, whatever the certificate: nothing secret is sent
 * @param {RegExp} probe.until
 * @param {number} [probe.withinMs]
 * @returns {Promise<string | undefined>} undefined when nothing listens or the answer is another
 */
export function hearFrom({ port, host = "127.0.0.1", greeting, secure = false, until, withinMs = 2_000 }) {
  return new Promise((resolve) => {
    let heard = "";
    const socket = secure ? connectSecurely({ port, host, rejectUnauthorized: false }) : connect({ port, host });
    /** @param {string | undefined} answer */
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(withinMs, () => finish(undefined));
    socket.once(secure ? "secureConnect" : "connect", () => greeting !== undefined && socket.write(greeting));
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      if (until.test(heard)) finish(heard);
    });
    socket.once("error", () => finish(undefined));
    socket.once("close", () => finish(undefined));
  });
}
