import type { Server } from "node:http";
import type { Socket } from "node:net";
import { PlainConnection } from "./plain-connection.ts";
import type { ClientListener } from "./serve.ts";

/** The connections of a server that have brought nothing but plain requests yet. */
export interface PlainConnections {
  /** Whether a plain request of this connection is being answered. */
  isBusy(socket: Socket): boolean;
}

/** How often connections are looked for that nobody uses, in milliseconds. */
const sweepTime = 5_000;

/** Answers a server's plain requests beside it; it takes over each connection that brings something else. */
export function answerPlainRequests(server: Server, listener: ClientListener): PlainConnections {
  const connections = new Map<Socket, PlainConnection>();
  const [takeOver] = server.listeners("connection") as ((socket: Socket) => void)[];
  if (!takeOver) throw new Error("This version of node:http takes connections in a way that is not known here.");
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    const handOn = () => {
      connections.delete(socket);
      takeOver.call(server, socket);
    };
    connections.set(socket, new PlainConnection(socket, { onRequest: listener, handOn }));
    socket.once("close", () => connections.delete(socket));
  });
  const sweep = setInterval(() => {
    for (const connection of connections.values()) connection.closeIfUnused();
  }, sweepTime).unref();
  server.once("close", () => clearInterval(sweep));
  return { isBusy: (socket) => connections.get(socket)?.isBusy ?? false };
}
