import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** A TCP server whose queue of connections is full, so that the kernel drops attempts to connect, as a busy server does. */
export interface SlowListener {
  port: number;
  /** Lets the server accept connections. Clients connect when their kernel tries again, after about a second. */
  startAccepting(): void;
  close(): Promise<void>;
}

/** The server runs in a thread that is blocked, because Node.js accepts connections whenever its event loop is free. */
const serverProgram = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { createServer } = require("node:http");
  const server = createServer((_, response) => response.writeHead(204).end());
  server.listen({ host: workerData.host, port: workerData.port, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(workerData.gate), 0, 0));
  });`;

export async function startSlowListener(host: string, port = 0): Promise<SlowListener> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(serverProgram, { eval: true, workerData: { host, port, gate: gate.buffer } });
  const [listeningPort] = (await once(worker, "message")) as [number];
  const fillers: Socket[] = [];
  // The queue of a backlog of 1 has two places. The further sockets wait, too.
  for (let count = 0; count < 4; count += 1) fillers.push(connect(listeningPort, host).on("error", () => {}));
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, "connect")));
  const startAccepting = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return {
    port: listeningPort,
    startAccepting,
    async close() {
      for (const socket of fillers) socket.destroy();
      startAccepting();
      await worker.terminate();
    },
  };
}
