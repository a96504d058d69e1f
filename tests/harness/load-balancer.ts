import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";

/** A server to which the load balancer forwards connections while the server is ready. */
export interface TestLoadBalancerTarget {
  port: number;
  isReady(): Promise<boolean>;
}

/** A TCP load balancer. It forwards each new connection to the next target that is ready. */
export interface TestLoadBalancer {
  port: number;
  /** Resolves when the load balancer forwards new connections to this target. */
  waitUntilUsed(target: TestLoadBalancerTarget): Promise<void>;
  close(): void;
}

/** Pause between two readiness checks of the same target, in milliseconds. */
const probePauseMs = 250;

export async function startTestLoadBalancer(targets: TestLoadBalancerTarget[]): Promise<TestLoadBalancer> {
  const unready = new Set<TestLoadBalancerTarget>();
  const stopController = new AbortController();
  let connectionCount = 0;
  const open = new Set<Socket>();
  // Each target is checked in its own loop, so that a slow target does not delay the checks of other targets.
  for (const target of targets) {
    void (async () => {
      for (; !stopController.signal.aborted; await sleep(probePauseMs, stopController.signal)) {
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
      stopController.abort();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
