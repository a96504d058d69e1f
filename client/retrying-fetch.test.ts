import { expect, it } from "vitest";
import { abortableDelay, createRetryingFetch } from "./retrying-fetch.ts";

type Outcome = Response | Error;

const createResponse = (status: number, retryAfter?: string) =>
  new Response("said", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });

const createPost = (signal?: AbortSignal) =>
  new Request("http://localhost/things", { method: "POST", body: "what is sent", ...(signal && { signal }) });

/** Sends a request that gets these outcomes in turn. */
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

it.each([408, 429, 502, 503, 504])("sends the same again after a %i", async (status) => {
  const { send, bodies } = createTestFetch([createResponse(status), new Error("reset"), createResponse(201)]);
  expect((await send(createPost())).status).toBe(201);
  expect(bodies).toEqual(["what is sent", "what is sent", "what is sent"]);
});

it.each([200, 304, 400, 401, 404, 409, 500])("takes a %i as the answer", async (status) => {
  const body = status === 304 ? null : "said";
  const { send, bodies } = createTestFetch([new Response(body, { status })]);
  expect((await send(createPost())).status).toBe(status);
  expect(bodies).toHaveLength(1);
});

it("asks again when a conflict says when to come back", async () => {
  const { send, waits } = createTestFetch([createResponse(409, "1"), createResponse(201)]);
  expect((await send(createPost())).status).toBe(201);
  expect(waits[0]).toBeGreaterThanOrEqual(1000);
});

it("waits longer each time, and a random part less than it could", async () => {
  const { send, waits } = createTestFetch(
    [...Array.from({ length: 7 }, () => new Error("reset")), createResponse(200)],
    7,
  );
  await send(createPost());
  const longest = [500, 1000, 2000, 4000, 8000, 10_000, 10_000];
  expect(waits).toHaveLength(longest.length);
  for (const [index, most] of longest.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(most / 2);
    expect(waits[index]).toBeLessThanOrEqual(most);
  }
});

it.each([
  ["seconds", "8", 8000],
  ["a date", new Date(Date.now() + 20_000).toUTCString(), 18_000],
])("does not come back before the time that Retry-After gives as %s", async (_, retryAfter, least) => {
  const { send, waits } = createTestFetch([createResponse(503, retryAfter), createResponse(200)]);
  await send(createPost());
  expect(waits[0]).toBeGreaterThanOrEqual(least);
  expect(waits[0]).toBeLessThanOrEqual(least * 1.5);
});

it("gives the reply rather than wait for more than a minute", async () => {
  const { send, waits } = createTestFetch([createResponse(503, "3600")]);
  expect((await send(createPost())).status).toBe(503);
  expect(waits).toEqual([]);
});

it("gives the last reply, to be read, or throws the last error, when nothing else comes", async () => {
  const busy = await createTestFetch([createResponse(503), createResponse(503), createResponse(503)], 2).send(
    createPost(),
  );
  expect([busy.status, await busy.text()]).toEqual([503, "said"]);
  const { send, bodies } = createTestFetch([new Error("first"), new Error("last")], 1);
  await expect(send(createPost())).rejects.toThrow("last");
  expect(bodies).toHaveLength(2);
});

it("stops waiting when the caller gives up", async () => {
  const giveUp = new AbortController();
  const send = createRetryingFetch(async () => createResponse(503, "50"), { retries: 3, wait: abortableDelay });
  const answer = send(createPost(giveUp.signal));
  giveUp.abort(new Error("enough"));
  await expect(answer).rejects.toThrow("enough");
});
