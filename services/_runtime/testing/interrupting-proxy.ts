import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy in front of a server, such as PostgreSQL, that interrupts connections in the middle of a response. */
export interface InterruptingProxy {
  /** The URL of the server, with the port of the proxy. */
  url: string;
  /**
   * Closes one connection whose client sends `marker` from now on, after the server has sent `maxBytes` bytes since on
   * such connections. With the action "pause", receives no more from the server until `end` is called. Replaces the
   * previous interruption.
   */
  interrupt(marker: string, maxBytes: number, action?: "close" | "pause"): Interruption;
  close(): Promise<void>;
}

export interface Interruption {
  /** The number of bytes that the server has sent on the connections since the client sent the marker. */
  readonly byteCount: number;
  /** Whether a connection was closed or paused. */
  readonly isInterrupted: boolean;
  /** Forwards all bytes from now on. */
  end(): void;
}

interface CurrentInterruption {
  marker: string;
  action: "close" | "pause";
  bytesLeft: number;
  byteCount: number;
  /** The connections whose client has sent the marker. */
  clients: Set<Socket>;
  resume(): void;
}

export async function startInterruptingProxy(serverUrl: string): Promise<InterruptingProxy> {
  const url = new URL(serverUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let current: CurrentInterruption | undefined;

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
    client.on("data", (data) => {
      if (current && data.includes(current.marker)) current.clients.add(client);
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!current?.clients.has(client)) return client.write(data);
      current.byteCount += data.length;
      const forwarded = data.subarray(0, current.bytesLeft);
      current.bytesLeft -= forwarded.length;
      if (forwarded.length === data.length) return client.write(data);
      if (current.action === "pause") {
        upstream.pause();
        current.resume = () => {
          client.write(data.subarray(forwarded.length));
          upstream.resume();
        };
        return client.write(forwarded);
      }
      current = undefined;
      // Ends the connection after these bytes have been sent. Later bytes of the server are dropped.
      upstream.removeAllListeners("data").resume();
      return client.end(forwarded, () => client.destroy());
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    interrupt(marker, maxBytes, action = "close") {
      const interruption: CurrentInterruption = {
        ...{ marker, action, bytesLeft: maxBytes, byteCount: 0 },
        clients: new Set(),
        resume() {},
      };
      current = interruption;
      return {
        get byteCount() {
          return interruption.byteCount;
        },
        get isInterrupted() {
          return interruption.byteCount > maxBytes;
        },
        end() {
          if (current === interruption) current = undefined;
          interruption.resume();
        },
      };
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
