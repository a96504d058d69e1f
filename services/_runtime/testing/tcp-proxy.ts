import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of a server. */
export interface TcpProxy {
  /** The URL of the server, with the port of the proxy. */
  url: string;
  /** Closes all connections, of clients and to the server. */
  destroyConnections(): void;
  /** Closes the proxy with all its connections. */
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of the server of a URL. If one side of a connection is closed, so is the other. `forward` is
 * called for each connection, and must write to each side what it receives from the other.
 */
export async function startTcpProxy(
  serverUrl: string,
  forward: (client: Socket, upstream: Socket) => void,
): Promise<TcpProxy> {
  const url = new URL(serverUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    forward(client, upstream);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url.port = String((server.address() as AddressInfo).port);
  const destroyConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    destroyConnections,
    async close() {
      server.close();
      destroyConnections();
      await once(server, "close");
    },
  };
}
