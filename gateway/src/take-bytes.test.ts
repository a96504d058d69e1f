import { type AddressInfo, createServer, type Socket } from "node:net";
import { sleep } from "@pragma/runtime/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { takeBytes } from "./take-bytes.ts";
import { openConnection } from "./testing/raw-client.ts";

const server = createServer();
let client: Socket;

async function accept(): Promise<Socket> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  client = await openConnection((server.address() as AddressInfo).port);
  return accepted;
}

afterEach(() => {
  client.destroy();
  server.close();
});

/** Node as it may become. */
function withoutItsPart(socket: Socket): Socket {
  Object.defineProperty((socket as Socket & { _handle: object })._handle, "useUserBuffer", { value: undefined });
  return socket;
}

describe.each([
  ["as node is", (socket: Socket) => socket],
  ["if node had changed", withoutItsPart],
])("what comes on a connection, %s", (_, prepared) => {
  it("is taken as it comes, then read from the stream, and nothing is lost in between", async () => {
    const socket = prepared(await accept());
    let [taken, read, hasEnded] = ["", "", false];
    const stop = takeBytes(socket, (bytes) => (taken += bytes.toString("latin1")));
    socket.on("end", () => (hasEnded = true));
    client.write("one");
    await eventually("the first", () => taken === "one");
    socket.pause();
    client.write("two");
    await sleep(50);
    expect(taken).toBe("one");
    socket.resume();
    await eventually("the second", () => taken === "onetwo");
    stop();
    socket.on("data", (bytes: Buffer) => (read += bytes.toString("latin1")));
    client.end("x".repeat(200_000));
    await eventually("the rest", () => hasEnded);
    expect([taken, read.length]).toEqual(["onetwo", 200_000]);
  });
});

it("passes by the stream in this version of node: the same room is used again", async () => {
  const socket = await accept();
  const taken: Buffer[] = [];
  takeBytes(socket, (bytes) => void taken.push(bytes));
  client.write("one");
  await eventually("the first", () => taken.length === 1);
  client.write("two");
  await eventually("the second", () => taken.length === 2);
  expect(taken.map(String)).toEqual(["two", "two"]);
});
