import { connect } from "node:net";

/**
 * Sends the greeting, if any, on a new connection, and reads until the text matches the pattern. Returns the text, or
 * undefined if the connection fails, closes, or is idle for two seconds before the text matches.
 */
export function readFromPortUntilMatch(port: number, pattern: RegExp, greeting?: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1" });
    const finish = (result: string | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(2_000, () => finish(undefined));
    socket.once("connect", () => greeting !== undefined && socket.write(greeting));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (pattern.test(received)) finish(received);
    });
    socket.once("error", () => finish(undefined));
    socket.once("close", () => finish(undefined));
  });
}
