import { expect, it } from "vitest";
import { abortableDelay, createRetryingFetch } from "./retrying-fetch.ts";

type Outcome = Response | Error;

const createResponse = (status: number, retryAfter?: string) =>
  new Response("text", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });

const createPost = (signal?: AbortSignal) =>
  new Request("http://localhost/things", { method: "POST", body: "payload", ...(signal && { signal }) });

/**
 * Returns a retrying fetch function whose attempts have these outcomes, one after the other, and the lists in which it
 * records the body of each attempt and the length of each wait.
 */
function createTestFetch(outcomes: Outcome[], retries = 5) {
  const bodies: string[] = [];
  const waits: number[] = [];
  const send = createRetryingFetch(
    async (request) => {
      bodies.push(await request.text());
      const outcome = outcomes.shift();
      if (outcome instanceof Response) return outcome;
      throw outcome;
    },
    { retries, wait: async (milliseconds) => waits.push(milliseconds) },
  );
  return { send, bodies, waits };
}

it.each([408, 429, 502, 503, 504])("retries the same request after a %i", async (status) => {
  const { send, bodies } = createTestFetch([createResponse(status), new Error("reset"), createResponse(201)]);
  expect((await send(createPost())).status).toBe(201);
  expect(bodies).toEqual(["payload", "payload", "payload"]);
});

it.each([200, 304, 400, 401, 404, 409, 500])(
  "does not retry a POST without an Idempotency-Key after a %i",
  async (status) => {
    const body = status === 304 ? null : "text";
    const { send, bodies } = createTestFetch([new Response(body, { status })]);
    expect((await send(createPost())).status).toBe(status);
    expect(bodies).toHaveLength(1);
  },
);

it.each([
  ["GET", {}],
  ["PUT", {}],
  ["PATCH", {}],
  ["DELETE", {}],
  ["POST", { "idempotency-key": "one" }],
])("retries a %s request after a 500 if it takes effect only once (%o)", async (method, headers) => {
  const { send, bodies } = createTestFetch([createResponse(500), createResponse(200)]);
  expect((await send(new Request("http://localhost/things", { method, headers }))).status).toBe(200);
  expect(bodies).toHaveLength(2);
});

it("retries after a 409 with Retry-After", async () => {
  const { send, waits } = createTestFetch([createResponse(409, "1"), createResponse(201)]);
  expect((await send(createPost())).status).toBe(201);
  expect(waits[0]).toBeGreaterThanOrEqual(1000);
});

it("backs off exponentially with jitter", async () => {
  const { send, waits } = createTestFetch(
    [...Array.from({ length: 7 }, () => new Error("reset")), createResponse(200)],
    7,
  );
  await send(createPost());
  const maxWaits = [500, 1000, 2000, 4000, 8000, 10_000, 10_000];
  expect(waits).toHaveLength(maxWaits.length);
  for (const [index, maxWait] of maxWaits.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(maxWait / 2);
    expect(waits[index]).toBeLessThanOrEqual(maxWait);
  }
});

it.each([
  ["seconds", "8", 8000],
  ["a date", new Date(Date.now() + 20_000).toUTCString(), 18_000],
])("does not retry before the time in Retry-After (%s)", async (_, retryAfter, minWait) => {
  const { send, waits } = createTestFetch([createResponse(503, retryAfter), createResponse(200)]);
  await send(createPost());
  expect(waits[0]).toBeGreaterThanOrEqual(minWait);
  expect(waits[0]).toBeLessThanOrEqual(minWait * 1.5);
});

it("returns the response when the required wait exceeds one minute", async () => {
  const { send, waits } = createTestFetch([createResponse(503, "3600")]);
  expect((await send(createPost())).status).toBe(503);
  expect(waits).toEqual([]);
});

it("returns the last response or throws the last error when all attempts fail", async () => {
  const lastResponse = await createTestFetch([createResponse(503), createResponse(503), createResponse(503)], 2).send(
    createPost(),
  );
  expect([lastResponse.status, await lastResponse.text()]).toEqual([503, "text"]);
  const { send, bodies } = createTestFetch([new Error("first"), new Error("last")], 1);
  await expect(send(createPost())).rejects.toThrow("last");
  expect(bodies).toHaveLength(2);
});

it("stops waiting when the caller aborts", async () => {
  const aborter = new AbortController();
  const send = createRetryingFetch(async () => createResponse(503, "50"), { retries: 3, wait: abortableDelay });
  const pending = send(createPost(aborter.signal));
  aborter.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
});
