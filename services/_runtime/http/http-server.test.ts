import { once } from "node:events";
import { Agent, get, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { startHttpServer } from "./http-server.ts";
import { createBodyStream } from "./read-body.ts";

describe("an HTTP server", () => {
  it("says when its port is taken", async () => {
    const first = await startHttpServer(() => new Response("here"), { port: 0 });
    await expect(startHttpServer(() => new Response(), { port: first.port })).rejects.toThrow(
      `Port ${first.port} is taken`,
    );
    await first.stop();
  });

  it("lets a running request finish when it stops, and does not wait for its connection to time out", async () => {
    const agent = new Agent({ keepAlive: true });
    const running = await startHttpServer(() => sleep(300).then(() => new Response("done")), { port: 0 });
    const reply = new Promise<string>((resolve, reject) => {
      get({ port: running.port, agent }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
      }).on("error", reject);
    });
    await sleep(100);
    const began = Date.now();
    await running.stop();
    expect(await reply).toBe("done");
    expect(Date.now() - began).toBeLessThan(2_000);
    agent.destroy();
  });

  it("does not wait for a connection that has asked for nothing", async () => {
    const running = await startHttpServer(() => new Response("here"), { port: 0 });
    const silent = connect(running.port);
    await once(silent, "connect");
    const began = Date.now();
    await Promise.all([running.stop(), once(silent, "close")]);
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  it("answers the next request on a connection whose last body it did not read to its end", async () => {
    const running = await startHttpServer(
      async (_, { incoming }) => {
        const body = createBodyStream(incoming);
        await once(body, "readable");
        body.destroy();
        return new Response("enough");
      },
      { port: 0 },
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sendRequest = (size: number) =>
      new Promise<boolean>((resolve, reject) => {
        const asking = request({ port: running.port, agent, method: "POST" }, (response) => {
          response.resume().on("end", () => resolve(asking.reusedSocket));
        });
        asking.on("error", reject).end(Buffer.alloc(size));
      });
    await sendRequest(1_000_000);
    await sleep(50);
    expect(await sendRequest(1_000_000)).toBe(true);
    // Long enough for whatever the first left behind to have its effect.
    await sleep(600);
    expect(await sendRequest(1)).toBe(true);
    agent.destroy();
    await running.stop();
  });
});
