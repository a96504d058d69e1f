import { setImmediate as nextTurn } from "node:timers/promises";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { describe, expect, it } from "vitest";
import type { GatewayRequestState } from "../server/gateway-request.ts";
import { createLargeResponseTurn, createSubrequestSender, maxSubrequestResponseBytes } from "./subrequests.ts";

const largeText = JSON.stringify({ text: "x".repeat(300 * 1024) });

/** A response whose body counts how many of its chunks were read. */
function createChunkedResponse(text: string, onChunk: () => void = () => {}): Response {
  const bytes = Buffer.from(text);
  let offset = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (offset >= bytes.length) return controller.close();
        onChunk();
        controller.enqueue(bytes.subarray(offset, offset + 64 * 1024));
        offset += 64 * 1024;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body);
}

/** Creates a sender for services that respond as `respond` returns. */
function createSender(respond: () => Response) {
  const statuses: number[] = [];
  const sendSubrequest = createSubrequestSender({
    authenticate: async () => ({ principal: { keyId: "1" } }) as never,
    rateLimiter: { acquire: () => ({ isAllowed: true, headers: {} }) } as never,
    forwarder: { get: async () => respond() },
    addToLog: (_, { status }) => statuses.push(status),
  });
  const request = {
    incoming: { headers: {} },
    outgoing: { setHeader: () => {}, destroyed: false },
  } as unknown as GatewayRequestState;
  return {
    statuses,
    send: (options: object) => sendSubrequest(request, { target: "/v1/orders/", ...options } as never),
  };
}

const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
};

describe("large responses to subrequests", () => {
  it("at most two are read and parsed at a time, one per location, and locations take turns", async () => {
    const responses = new Admission(locationLimits.toolResponses);
    const { signal } = new AbortController();
    const { send } = createSender(() => createChunkedResponse(largeText));
    const parsed: string[] = [];
    const turns = ["a", "a", "a", "b", "b", "c"].map((location) => ({
      location,
      turn: createLargeResponseTurn(responses, location, signal),
    }));
    const finished = Promise.all(
      turns.map(async ({ location, turn }) => {
        await send({ signal, turn });
        parsed.push(location);
      }),
    );
    const endTurnOf = async (location: string) => {
      turns
        .splice(
          turns.findIndex((each) => each.location === location),
          1,
        )[0]
        ?.turn.release();
      await settle();
    };
    await settle();
    expect(parsed).toEqual(["a", "b"]);
    await endTurnOf("a");
    expect(parsed).toEqual(["a", "b", "c"]);
    await endTurnOf("b");
    expect(parsed).toEqual(["a", "b", "c", "a"]);
    await endTurnOf("c");
    expect(parsed).toEqual(["a", "b", "c", "a", "b"]);
    await endTurnOf("b");
    expect(parsed).toHaveLength(5);
    await endTurnOf("a");
    await finished;
    expect(parsed).toEqual(["a", "b", "c", "a", "b", "a"]);
  });

  it("a waiting response is not read any further, and stops to wait when its request ends", async () => {
    const responses = new Admission({ perProcess: 1 });
    const first = createLargeResponseTurn(responses, "a", new AbortController().signal);
    await first.take();
    const abort = new AbortController();
    let chunks = 0;
    const { send, statuses } = createSender(() => createChunkedResponse(largeText, () => (chunks += 1)));
    const turn = createLargeResponseTurn(responses, "b", abort.signal);
    const waiting = send({ signal: abort.signal, turn });
    waiting.catch(() => {});
    await settle();
    expect(chunks).toBe(3);
    abort.abort(new Error("ended"));
    await expect(waiting).rejects.toThrow("ended");
    expect(statuses).toEqual([500]);
    turn.release();
    await expect(turn.take()).rejects.toThrow("ended");
    first.release();
    const next = createLargeResponseTurn(responses, "c", new AbortController().signal);
    await next.take();
  });

  it("small responses need no turn, and too large ones are rejected", async () => {
    const responses = new Admission({ perProcess: 1 });
    const { signal } = new AbortController();
    await createLargeResponseTurn(responses, "a", signal).take();
    const small = createSender(() => createChunkedResponse('{"a":1}'));
    const response = await small.send({ signal, turn: createLargeResponseTurn(responses, "b", signal) });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ a: 1 });
    const tooLarge = createSender(() => createChunkedResponse("x".repeat(maxSubrequestResponseBytes + 1)));
    const turn = { take: async () => {}, release: () => {} };
    await expect(tooLarge.send({ signal, turn })).rejects.toThrow("more than 6 MB");
  });
});
