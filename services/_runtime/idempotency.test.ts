import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { jsonBody, routesOf } from "./define-route.ts";
import { defineService } from "./define-service.ts";
import type { Database } from "./postgres.ts";
import { json } from "./reply.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";
import { startTestService, type TestService, testPrincipal } from "./testing/test-service.ts";

/** Held up by tests that need a request to take its time. */
let gate: Promise<void> = Promise.resolve();

const bodySchema = z.object({ name: z.string(), fails: z.boolean().default(false) });

const shelf = defineService<z.ZodObject, { db: Database }>({
  name: "accounts",
  module: import.meta.url,
  config: z.object({}),
  open: ({ db }) => ({ services: { db } }),
  routes: [
    routesOf<{ db: Database }>()({
      method: "post",
      path: "/v1/things/",
      operationId: "createThing",
      tag: "Things",
      audience: "public",
      scope: "tills:write",
      summary: "",
      description: "",
      request: { body: jsonBody(bodySchema) },
      responses: {},
      errors: [],
      async handle({ body, services: { db } }) {
        const id = randomUUID();
        await db.transaction(async (tx) => {
          await tx`insert into things ${tx({ id, name: body.name })}`;
        });
        await gate;
        if (body.fails) throw new ApiError("overloaded");
        return json(201, { id }, { location: `/v1/things/${id}` });
      },
    }),
  ],
});

let environment: TestEnvironment;
let service: TestService;
beforeAll(async () => {
  environment = await createTestEnvironment();
  service = await startTestService(shelf, environment);
  await service.db.sql`create table things (id uuid primary key, name text not null)`;
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

const principal = testPrincipal();

function create(key: string, body: object, as = principal): Promise<Response> {
  return service.ask("POST", "/v1/things/", { principal: as, body, headers: { "idempotency-key": key } });
}

async function things(name: string): Promise<number> {
  return (await service.db.sql`select 1 from things where name = ${name}`).length;
}

describe("a POST with an Idempotency-Key", () => {
  it("has its effect once, and is answered the same again, headers included", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await create(key, { name });
    const again = await create(key, { name });
    expect(await things(name)).toBe(1);
    expect(again.status).toBe(201);
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect([first, again].map((answer) => answer.headers.get("idempotency-replayed"))).toEqual([null, "true"]);
  });

  it("is refused with another body", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await create(key, { name });
    const other = await create(key, { name: `${name}, changed` });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: "idempotency_key_reused" });
    expect(await things(`${name}, changed`)).toBe(0);
  });

  it("is told to wait while the first is being answered, and has its effect once", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const first = create(key, { name });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const second = await create(key, { name });
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ code: "idempotency_key_in_use" });
    open();
    expect((await first).status).toBe(201);
    expect((await create(key, { name })).status).toBe(201);
    expect(await things(name)).toBe(1);
  });

  it("keeps nothing of one that failed: it may be tried again", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    expect((await create(key, { name, fails: true })).status).toBe(503);
    expect(await things(name)).toBe(0);
    expect((await create(key, { name })).status).toBe(201);
    expect(await things(name)).toBe(1);
  });

  it("is another key for another location", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await create(key, { name });
    expect((await create(key, { name }, testPrincipal())).headers.get("idempotency-replayed")).toBeNull();
    expect(await things(name)).toBe(2);
  });

  it("is answered anew after a day", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    await create(key, { name });
    await service.db.sql`update idempotency_keys set answered_at = now() - interval '25 hours' where key = ${key}`;
    await create(key, { name });
    expect(await things(name)).toBe(2);
  });

  it("is kept encrypted", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const { id } = (await (await create(key, { name })).json()) as { id: string };
    const [row] = await service.db.sql`select sealed_reply from idempotency_keys where key = ${key}`;
    expect(row?.sealed_reply).not.toContain(id);
  });

  it.each([
    ["with a space", "a b"],
    ["too long", "x".repeat(256)],
  ])("refuses a key %s", async (_, key) => {
    const answer = await create(key, { name: "x" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ in: "header", path: "idempotency-key" }] });
  });

  it("leaves connections for others, however many come at once", async () => {
    const names = Array.from({ length: 40 }, () => randomUUID());
    const answers = await Promise.all(names.map((name) => create(randomUUID(), { name })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  });
});
