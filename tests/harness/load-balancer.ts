import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";

/** Somewhere that connections can be passed on to. */
export interface LoadBalancerTarget {
  port: number;
  /** Whether it takes connections. */
  isReady(): Promise<boolean>;
}

/** What stands before the instances of a part: gives each new connection to one that is ready, in turns. */
export interface LoadBalancer {
  port: number;
  /** Resolves once new connections are given to a target. */
  waitUntilUsed(target: LoadBalancerTarget): Promise<void>;
  close(): void;
}

/** How long an instance is left alone after it was asked whether it is ready, in milliseconds. */
const probePauseMs = 250;

export async function startLoadBalancer(targets: LoadBalancerTarget[]): Promise<LoadBalancer> {
  const unready = new Set<LoadBalancerTarget>();
  const over = new AbortController();
  let connectionCount = 0;
  const open = new Set<Socket>();
  // Each by itself, and once the answer before is there: one that is slow must not put off, nor undo, what others say.
  for (const target of targets) {
    void (async () => {
      for (; !over.signal.aborted; await sleep(probePauseMs, over.signal)) {
        if (await target.isReady().catch(() => false)) unready.delete(target);
        else unready.add(target);
      }
    })();
  }

  const server: Server = createServer((incoming) => {
    connectionCount += 1;
    const ready = targets.filter((each) => !unready.has(each));
    const target = ready[connectionCount % Math.max(1, ready.length)];
    if (!target) return incoming.destroy();
    const outgoing = connect({ port: target.port, host: "127.0.0.1", noDelay: true });
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    return outgoing;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async waitUntilUsed(target) {
      while (unready.has(target)) await sleep(20);
    },
    close() {
      over.abort();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
