import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that a client may have sent on a connection before it has its responses; more close the connection. */
const maxOutstanding = 8;

interface Connection {
  /** The response that was begun last, until it is over: one that is kept longer outlives the collection of young memory. */
  latest: ServerResponse | undefined;
  outstanding: number;
}

/**
 * Returns a function that resolves when a request may begin: the requests of a connection are handled one after the
 * other, however many come at once. False when the connection has ended, or was closed since too many came.
 */
export function createConnectionQueue(): (socket: Socket, response: ServerResponse) => true | Promise<boolean> {
  const connections = new WeakMap<Socket, Connection>();
  return (socket, response) => {
    const known = connections.get(socket);
    if (!known || known.outstanding === 0) {
      const connection = known ?? { latest: undefined, outstanding: 0 };
      connections.set(socket, connection);
      begin(connection, response);
      return true;
    }
    if (known.outstanding >= maxOutstanding) {
      socket.destroy();
      return Promise.resolve(false);
    }
    const previous = known.latest;
    begin(known, response);
    return new Promise((resolve) => {
      previous?.once("close", () => resolve(!socket.destroyed));
    });
  };
}

function begin(connection: Connection, response: ServerResponse): void {
  connection.latest = response;
  connection.outstanding += 1;
  response.once("close", () => {
    connection.outstanding -= 1;
    if (connection.latest === response) connection.latest = undefined;
  });
}
