import type { Socket } from "node:net";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** A TCP proxy in front of a server, such as PostgreSQL, that interrupts connections in the middle of a response. */
export interface InterruptingProxy extends Pick<TcpProxy, "url" | "close"> {
  /**
   * Closes one connection whose client sends `marker` from now on, after the server has sent `maxBytes` bytes since on
   * such connections. With the action "pause", receives no more from the server until `end` is called. Replaces the
   * previous interruption.
   */
  interrupt(marker: string, maxBytes: number, action?: "close" | "pause"): Interruption;
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
  let current: CurrentInterruption | undefined;

  const proxy = await startTcpProxy(serverUrl, (client, upstream) => {
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
  return {
    url: proxy.url,
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
    close: proxy.close,
  };
}
