import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of a server. */
export interface TcpProxy {
  /** The URL of the server, with the port of the proxy. */
  url: string;
  /** The number of connections of clients. */
  readonly connectionCount: number;
  /** Closes all connections, of clients and to the server. */
  destroyConnections(): void;
  /** Resets (RST instead of FIN) up to `maxCount` connections of clients, the oldest first. Returns their number. */
  resetConnections(maxCount?: number): number;
  /** Closes the proxy with all its connections. */
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of the server of a URL. If one side of a connection is closed, so is the other. `forward` is
 * called for each connection, and must write to each side what it receives from the other. By default, it forwards all.
 */
export async function startTcpProxy(
  serverUrl: string,
  forward: (client: Socket, upstream: Socket) => void = (client, upstream) => client.pipe(upstream).pipe(client),
): Promise<TcpProxy> {
  const url = new URL(serverUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    clients.add(client);
    client.on("close", () => clients.delete(client));
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
    get connectionCount() {
      return clients.size;
    },
    destroyConnections,
    resetConnections(maxCount = clients.size) {
      const chosen = [...clients].slice(0, maxCount);
      for (const client of chosen) client.resetAndDestroy();
      return chosen.length;
    },
    async close() {
      server.close();
      destroyConnections();
      await once(server, "close");
    },
  };
}
