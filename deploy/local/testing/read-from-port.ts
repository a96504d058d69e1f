import { connect } from "node:net";

/** What a server says on a new connection, after a greeting, until it has said something that matches; else undefined. */
export function readFromPort(port: number, pattern: RegExp, greeting?: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1" });
    const finish = (answer: string | undefined) => {
      socket.destroy();
      resolve(answer);
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
