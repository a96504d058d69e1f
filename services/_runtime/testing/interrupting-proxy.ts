import type { Socket } from "node:net";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** A TCP proxy in front of a server, such as PostgreSQL, that interrupts connections in the middle of an exchange. */
export interface InterruptingProxy extends TcpProxy {
  /**
   * Interrupts one connection whose client sends `marker` from now on, after the server has sent `maxBytes` bytes since
   * on such connections; with "request" instead of a number, before the server receives the marker. Replaces the previous
   * interruption.
   */
  interrupt(marker: string, maxBytes: number | "request", action?: InterruptionAction): Interruption;
}

/**
 * - `close`: ends the connection (FIN).
 * - `reset`: resets the connection (RST).
 * - `pause`: forwards nothing more until `end` is called. The connection stays open.
 */
type InterruptionAction = "close" | "reset" | "pause";

export interface Interruption {
  /** The number of bytes that the server has sent on the connections since the client sent the marker. */
  readonly byteCount: number;
  /** Whether a connection was closed, reset or paused. */
  readonly isInterrupted: boolean;
  /** Forwards all bytes from now on. */
  end(): void;
}

interface CurrentInterruption {
  marker: string;
  action: InterruptionAction;
  /** The bytes of the server that are still forwarded; undefined if the marker is not forwarded. */
  bytesLeft: number | undefined;
  byteCount: number;
  isInterrupted: boolean;
  /** The connections whose client has sent the marker. */
  clients: Set<Socket>;
  resume(): void;
}

export async function startInterruptingProxy(serverUrl: string): Promise<InterruptingProxy> {
  let current: CurrentInterruption | undefined;

  /** Interrupts the connection after it has sent `last` to its client. `resume` forwards what was held back. */
  function interruptConnection(
    { action }: CurrentInterruption,
    { client, upstream }: { client: Socket; upstream: Socket },
    { last, resume }: { last: Buffer; resume(): void },
  ): void {
    if (!current) return;
    current.isInterrupted = true;
    if (action === "pause") {
      client.write(last);
      upstream.pause();
      current.resume = () => {
        resume();
        upstream.resume();
      };
      return;
    }
    current = undefined;
    // Later bytes of the server are dropped.
    upstream.removeAllListeners("data").resume();
    if (action === "close") client.end(last, () => client.destroy());
    else client.write(last, () => client.resetAndDestroy());
  }

  const proxy = await startTcpProxy(serverUrl, (client, upstream) => {
    client.on("data", (data) => {
      if (!current || current.isInterrupted || !data.includes(current.marker)) return upstream.write(data);
      current.clients.add(client);
      if (current.bytesLeft !== undefined) return upstream.write(data);
      interruptConnection(current, { client, upstream }, { last: Buffer.alloc(0), resume: () => upstream.write(data) });
    });
    upstream.on("data", (data) => {
      if (!current?.clients.has(client) || current.bytesLeft === undefined) return client.write(data);
      current.byteCount += data.length;
      const forwarded = data.subarray(0, current.bytesLeft);
      current.bytesLeft -= forwarded.length;
      if (forwarded.length === data.length) return client.write(data);
      interruptConnection(
        current,
        { client, upstream },
        { last: forwarded, resume: () => client.write(data.subarray(forwarded.length)) },
      );
    });
  });
  return Object.assign(proxy, {
    interrupt(marker: string, maxBytes: number | "request", action: InterruptionAction = "close"): Interruption {
      const interruption: CurrentInterruption = {
        ...{ marker, action, byteCount: 0, isInterrupted: false, clients: new Set() },
        bytesLeft: maxBytes === "request" ? undefined : maxBytes,
        resume() {},
      };
      current = interruption;
      return {
        get byteCount() {
          return interruption.byteCount;
        },
        get isInterrupted() {
          return interruption.isInterrupted;
        },
        end() {
          if (current === interruption) current = undefined;
          interruption.resume();
        },
      };
    },
  });
}
